package mcp

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

const startTool = "ralph_start"

// loopInput names a loop.
type loopInput struct {
	Loop string `json:"loop,omitempty" jsonschema:"the loop: its id, NAME or PROJECT/NAME as ralph_list shows it, or HOST:NAME; without it the one that runs in this project, else its latest"`
}

// addTools offers the tools. Those that change anything are left out of a server that only reads.
func (s *Server) addTools() {
	add(s, &sdk.Tool{
		Name: "ralph_list", Title: "List loops", Annotations: reads("List loops"), OutputSchema: listSchema(),
		Description: "Lists the loops of this project, or with all of this machine: those that need a person first, then those that work, then those that ended.",
	}, s.list)
	add(s, &sdk.Tool{
		Name: "ralph_status", Title: "Show a loop", Annotations: reads("Show a loop"), OutputSchema: loopSchema(),
		Description: "Shows one loop: its status, what it does or waits for, its iterations and cost, what needs a person, and how it ended. Where the client has forms, its person is asked the open question.",
	}, s.status)
	add(s, &sdk.Tool{
		Name: "ralph_logs", Title: "Read a loop's events", Annotations: reads("Read a loop's events"),
		Description: "Reads events of a loop, one line each: what its agent said and did, what was checked and decided. Without a cursor it returns the last ones; with the cursor next of an earlier answer, those that came after it.",
	}, s.logs)
	add(s, &sdk.Tool{
		Name: "ralph_report", Title: "Report a loop", Annotations: reads("Report a loop"),
		Description: "Reports what a loop came to, as Markdown: outcome, cost, each iteration, what failed, what needs a person. A long report comes in pages.",
	}, s.report)
	if s.readOnly {
		return
	}
	add(s, &sdk.Tool{
		Name: startTool, Title: "Start a loop", Annotations: changes("Start a loop", false), OutputSchema: startSchema(),
		Description: "Starts a loop: an agent works on the prompt again and again, each time with a fresh context, until it is done or a limit is reached. " +
			"The loop runs detached and this returns once it runs. Set limits. With resume, a loop that has ended or died continues.",
	}, s.start)
	add(s, &sdk.Tool{
		Name: "ralph_steer", Title: "Send a loop's agent a message", Annotations: changes("Send a loop's agent a message", false),
		Description: "Sends the agent of a running loop a message: at once, in the middle of its turn where its protocol allows it, or with its next prompt.",
	}, s.steer)
	add(s, &sdk.Tool{
		Name: "ralph_answer", Title: "Answer a loop's question", Annotations: changes("Answer a loop's question", false),
		Description: "Answers a question that a loop's agent asked, by its number; ralph_status shows those that are open. A question is answered once. " +
			"Do not invent the answer: ask the person you work for.",
	}, s.answer)
	if s.inLoop() {
		add(s, &sdk.Tool{
			Name: "ralph_ask", Title: "Ask a person", Annotations: changes("Ask a person", false),
			Description: "Asks a person a question while you work on: you work in a loop, and no person reads what you say. The answer reaches you later as a message.",
		}, s.ask)
	}
	add(s, &sdk.Tool{
		Name: "ralph_stop", Title: "Stop a loop", Annotations: changes("Stop a loop", true),
		Description: "Stops a loop after its iteration, or now. It can be resumed with ralph_start.",
	}, s.stop)
}

func reads(title string) *sdk.ToolAnnotations {
	closed := false
	return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

// changes annotates a tool that is not read-only. An agent may reach anything.
func changes(title string, destroys bool) *sdk.ToolAnnotations {
	open := true
	return &sdk.ToolAnnotations{Title: title, DestructiveHint: &destroys, OpenWorldHint: &open}
}

// A tool carries out a call. Its error is the answer to the call.
type tool[In, Out any] func(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in In) (Out, error)

// add offers a tool. Its schemas are those of its types, unless it has its own.
func add[In, Out any](s *Server, about *sdk.Tool, do tool[In, Out]) {
	about.InputSchema = schemaOf[In]()
	sdk.AddTool(s.sdk, about, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		var none Out
		release, err := s.slot(ctx)
		if err != nil {
			return nil, none, err
		}
		defer release()
		out, err := do(ctx, s.view(), req, in)
		if forms := formsOf(err); forms != nil {
			return &sdk.CallToolResult{InputRequests: forms}, none, nil
		}
		if err != nil {
			return nil, none, problem(err)
		}
		return nil, out, nil
	})
}

// schemaOf is the schema of the arguments of a tool. A list may be left out and not be null: some
// model providers take no property of two types.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types are this package's
	}
	for _, property := range schema.Properties {
		if slices.Equal(property.Types, []string{"null", "array"}) {
			property.Type, property.Types = "array", nil
		}
	}
	return schema
}
