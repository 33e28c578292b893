package mcp

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// inputRequired is a call that is repeated once the client's person has filled in a form.
type inputRequired struct{ forms sdk.InputRequestMap }

func (inputRequired) Error() string { return "a person has to fill in a form" }

// declined are the questions that the person of this client did not want to answer. They stay open,
// and this client is not asked them again.
type declined struct {
	mu   sync.Mutex // guards what follows
	keys map[string]bool
}

// mostDeclined bounds declined; beyond it, a question may be asked again.
const mostDeclined = 1024

func (d *declined) add(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil || len(d.keys) >= mostDeclined {
		d.keys = map[string]bool{}
	}
	d.keys[key] = true
}

func (d *declined) has(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keys[key]
}

// form returns the form for the oldest open question that this client was not asked yet; nil
// without one.
func (s *Server) form(e *cli.Env, req *sdk.CallToolRequest, l registry.Status, open []projector.Question) error {
	can := req.ClientCapabilities()
	if s.readOnly || !l.Live.Alive || can == nil || can.Elicitation == nil || can.Elicitation.Form == nil && can.Elicitation.URL != nil {
		return nil
	}
	if sender(e, l, req.ClientInfo()) == event.FromAgent {
		return nil
	}
	for _, q := range open {
		if key := formKey(l.ID, q.Number); !s.declined.has(key) {
			return inputRequired{sdk.InputRequestMap{key: formOf(l.Name, q)}}
		}
	}
	return nil
}

const (
	answerField = "answer"
	otherField  = "other"
)

// formOf asks one question. Choices are what the agent expects; any text is an answer.
func formOf(loop string, q projector.Question) *sdk.ElicitParams {
	answer := map[string]any{"type": "string", "title": "Answer"}
	fields := map[string]any{answerField: answer}
	schema := map[string]any{"type": "object", "properties": fields}
	if len(q.Choices) > 0 {
		answer["enum"] = q.Choices
		fields[otherField] = map[string]any{"type": "string", "title": "Another answer"}
	} else {
		schema["required"] = []string{answerField}
	}
	return &sdk.ElicitParams{Mode: "form", Message: "Loop " + loop + " asks (question " + strconv.Itoa(q.Number) + "): " + q.Text, RequestedSchema: schema}
}

func formKey(id string, number int) string { return id + "/" + strconv.Itoa(number) }

// parseFormKey returns what formKey was made of.
func parseFormKey(key string) (id string, number int, ok bool) {
	id, text, _ := strings.Cut(key, "/")
	number, err := strconv.Atoi(text)
	return id, number, err == nil && number > 0 && isID(id)
}

// takeForms sends the answers in the forms that come with a repeated call, as ralph_answer does. It
// returns the id of the loop that asked; empty without a form.
func (s *Server) takeForms(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest) (loop string, err error) {
	if err := checkForms(req.Params.InputResponses); err != nil {
		return "", err
	}
	for key, filled := range req.Params.InputResponses {
		if key == noForm {
			continue
		}
		id, number, ok := parseFormKey(key)
		if !ok {
			return "", cli.Refuse("call the tool again without it", "%q is no form of this server", short(key))
		}
		if s.readOnly {
			return "", onlyReads()
		}
		loop = id
		text := answerIn(filled)
		if text == "" {
			s.declined.add(key)
			continue
		}
		if _, err := s.give(ctx, e, req, id, inbox.Command{Kind: inbox.Answer, Question: number, Text: text}); err != nil {
			return loop, err
		}
	}
	return loop, nil
}

// checkForms refuses more answers than a loop can have open questions: each would be an event.
func checkForms(filled sdk.InputResponseMap) error {
	if len(filled) > event.MaxQuestions {
		return cli.Refuse("send those that were asked for", "%d forms are filled in: at most %d are possible", len(filled), event.MaxQuestions)
	}
	return nil
}

// onlyReads refuses what would change a loop.
func onlyReads() error {
	return cli.Refuse("a person starts it without --read-only", "this server only reads")
}

// answerIn returns the answer in a form; empty if the person gave none.
func answerIn(filled sdk.InputResponse) string {
	form, ok := filled.(*sdk.ElicitResult)
	if !ok || form.Action != "accept" {
		return ""
	}
	for _, field := range []string{otherField, answerField} {
		if text, _ := form.Content[field].(string); strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// withoutForms answers a call whose form the client could not show as if its person had declined.
func (s *Server) withoutForms(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		call, ok := req.(*sdk.CallToolRequest)
		if err == nil || !ok || ctx.Err() != nil || len(call.Params.InputResponses) > 0 || !strings.HasPrefix(err.Error(), "multi-round-trip: ") {
			return result, err
		}
		again := *call.Params
		again.InputResponses = sdk.InputResponseMap{noForm: &sdk.ElicitResult{Action: "decline"}}
		return next(ctx, method, &sdk.CallToolRequest{Session: call.Session, Params: &again, Extra: call.Extra})
	}
}

// noForm is the key of an answer to no form.
const noForm = "none"

// formsOf returns the forms that a call waits for; nil if it failed otherwise.
func formsOf(err error) sdk.InputRequestMap {
	if wants, ok := errors.AsType[inputRequired](err); ok {
		return wants.forms
	}
	return nil
}
