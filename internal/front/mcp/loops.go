package mcp

import (
	"cmp"
	"context"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Limits of what is shown, in characters and in numbers of things.
const (
	mostText  = 2000
	mostShort = 300
	mostItems = 20

	listUsual = 50
	listMost  = 200
)

// Loop is what is true of a loop, in the words of this server's tools.
type Loop struct {
	*projector.View
	Resources []string `json:"resources,omitempty"` // URIs of its state and its report
}

// loopOf describes a loop: with the open questions, and without the settings. A client names no
// paths.
func loopOf(v *projector.View) Loop {
	v.Questions, v.Rules = v.OpenQuestions(), nil
	if v.NextStep = asTools(v.NextStep); v.Remote == "" && (v.Call == "" || isPath(v.Call)) {
		v.Call = v.ID
	}
	return Loop{View: v}
}

// aboutLoop describes the properties of a loop that a model asks for first. docs/guide/list.md has
// all.
var aboutLoop = map[string]string{
	"id":               "names the loop for good",
	"call":             "what to call it in the argument loop",
	"state":            "the status in words, died where its runner is gone, or gone where its folder is",
	"group":            "needs you, working or ended",
	"alive":            "it has a runner now",
	"reason":           "why it ended; empty if it has not",
	"ended":            "how and why it ended, in words, and its result",
	"waiting":          "for what, and until when",
	"pending":          "a pause or stop that is still to come",
	"exitCode":         "0 completed, 1 a limit, 3 failed, 4 needs a person, 130 stopped; null if it has not ended",
	"counted":          "how many iterations are used",
	"cost":             "USD; null where it is not known",
	"nextStep":         "what a person or a client may do now",
	"questions":        "what the agent asks a person while it works on; ralph_answer answers",
	"edited":           "files of guardrails and settings that the agent changed; a person has to accept that",
	"commands":         "received, and without effect so far",
	"lastIteration":    "what the last iteration that ended came to",
	"resources":        "URIs of its state and its report",
	"editedGuardrails": "what was done about changed files of guardrails",
}

// loopSchema is the schema of a loop. Not all properties are described: a client that knows more of
// them than this one is no mistake.
func loopSchema() *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for name, about := range aboutLoop {
		schema.Properties[name] = &jsonschema.Schema{Description: about}
	}
	return schema
}

func short(text string) string { return units.Cut(cli.Clean(text), mostShort) }

type listInput struct {
	All     bool   `json:"all,omitempty" jsonschema:"of this machine, not only of this project"`
	Running bool   `json:"running,omitempty" jsonschema:"only those that have a runner"`
	Others  bool   `json:"otherMachines,omitempty" jsonschema:"also those of other machines: of the setting hosts, and of the pool that this machine is in; implies all"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most so many, from 1 to 200; 50 without it"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"the next of an earlier answer"`
}

type listOutput struct {
	Loops []Loop `json:"loops"`
	Total int    `json:"total"`
	Next  string `json:"next,omitempty"` // the cursor of the next page; none at the end
	// Silent says which other machines do not answer, and why.
	Silent []string `json:"silent,omitempty"`
}

// listSchema is the schema of a list.
func listSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: []string{"loops", "total"}, Properties: map[string]*jsonschema.Schema{
		"loops": {Type: "array", Items: loopSchema()},
		"total": {Type: "integer"},
		"next":  {Type: "string", Description: "the cursor of the next page; none at the end"},
		"silent": {Type: "array", Items: &jsonschema.Schema{Type: "string"},
			Description: "other machines that do not answer, and why: their loops are as they were last"},
	}}
}

func (s *Server) list(ctx context.Context, e *cli.Env, _ *sdk.CallToolRequest, in listInput) (listOutput, error) {
	limit, err := within("limit", in.Limit, listUsual, listMost)
	if err != nil {
		return listOutput{}, err
	}
	from, err := place(in.Cursor)
	if err != nil {
		return listOutput{}, err
	}
	found, err := listing.Find(e, listing.Options{All: in.All || in.Others, Running: in.Running})
	if err != nil {
		return listOutput{}, err
	}
	out := listOutput{Loops: []Loop{}}
	if in.Others {
		var distant []*projector.View
		distant, out.Silent = s.others(ctx, in.Running)
		found = append(found, distant...)
	}
	out.Total = len(found)
	from = min(from, len(found))
	to := min(from+limit, len(found))
	for _, v := range found[from:to] {
		out.Loops = append(out.Loops, loopOf(v))
	}
	if to < len(found) {
		out.Next = strconv.Itoa(to)
	}
	return out, nil
}

// within returns a number that a client gave, or the usual one.
func within(name string, given, usual, most int) (int, error) {
	if given < 0 || given > most {
		return 0, cli.Refuse("give a number from 1 to "+strconv.Itoa(most)+", or leave it out", "%s is %d", name, given)
	}
	return cmp.Or(given, usual), nil
}

// place returns the number in a cursor.
func place(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	at, err := strconv.Atoi(cursor)
	if err != nil || at < 0 {
		return 0, cli.Refuse("take next of an earlier answer, or leave it out", "%q is no cursor", short(cursor))
	}
	return at, nil
}

func (s *Server) status(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in loopInput) (Loop, error) {
	asked, err := s.takeForms(ctx, e, req)
	if err != nil {
		return Loop{}, err
	}
	if there, distant, err := s.elsewhere(ctx, in.Loop); err != nil || there != nil {
		if err == nil {
			there, err = distant.Read(ctx, e, there)
		}
		if err != nil {
			return Loop{}, err
		}
		return loopOf(there), nil
	}
	l, err := find(e, cmp.Or(asked, in.Loop))
	if err != nil {
		return Loop{}, err
	}
	shown, err := show(l)
	if err == nil && len(req.Params.InputResponses) == 0 {
		err = s.form(e, req, l, shown.Questions)
	}
	return shown, err
}

// show describes one loop.
func show(l registry.Status) (Loop, error) {
	v, err := projector.Read(l)
	if err != nil {
		return Loop{}, err
	}
	shown := loopOf(v)
	shown.Resources = []string{uriOf(l.ID, stateResource), uriOf(l.ID, reportResource)}
	return shown, nil
}
