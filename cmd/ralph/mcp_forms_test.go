//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// askingAgent asks two questions and works on.
const askingAgent = "iteration\n  run ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite\n  run ralph ask 'Which port?'\n  sleep 300s\n"

type openQuestions struct{ Questions []struct{ Number int } }

// A client that has forms asks its person; what the person declines stays open.
func TestMCPAsksWithForms(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, askingAgent)
	var forms []*sdk.ElicitParams
	s := p.client(&sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		forms = append(forms, r.Params)
		if strings.Contains(r.Params.Message, "port") {
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "sqlite"}}, nil
	}})
	begun := call[shownLoop](p, s, "ralph_start", map[string]any{"name": "night", "prompt": "ask"})
	p.until("both questions", func() bool {
		return strings.Count(p.fine("logs", "night", "--json", "--type", "question.asked"), "\n") == 2
	})
	status := func() openQuestions {
		return call[openQuestions](p, s, "ralph_status", map[string]any{"loop": begun.ID})
	}
	if open := status(); len(open.Questions) != 1 || open.Questions[0].Number != 2 {
		t.Errorf("after the first form: %+v", open)
	}
	status()
	if open := status(); len(open.Questions) != 1 || len(forms) != 2 {
		t.Errorf("after the second form: %+v, and %d forms", open, len(forms))
	}
	if form := fmt.Sprint(forms[0].Message, forms[0].RequestedSchema); !strings.Contains(form, "Postgres or SQLite?") || !strings.Contains(form, "[postgres sqlite]") {
		t.Errorf("the form is %s", form)
	}
	if answered := p.fine("logs", "night", "--json", "--type", "question.answered"); strings.Count(answered, "\n") != 1 || !strings.Contains(answered, `"text":"sqlite"`) || !strings.Contains(answered, `"from":"mcp:tester"`) {
		t.Errorf("the answers are %s", answered)
	}
	p.fine("stop", "night", "--now")
}

// A client of an earlier version is sent the form as a call of its own; one that cannot show it
// gets the status.
func TestMCPAsksEarlierClients(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, askingAgent)
	call[shownLoop](p, p.client(nil), "ralph_start", map[string]any{"name": "night", "prompt": "ask"})
	p.until("both questions", func() bool {
		return strings.Count(p.fine("logs", "night", "--json", "--type", "question.asked"), "\n") == 2
	})
	r := p.rawClientWith(`{"elicitation":{}}`)
	const status = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ralph_status","arguments":{"loop":"night"}}}`
	answer := func(outcome string) {
		t.Helper()
		asked := r.hears(`"elicitation/create"`)
		_, id, _ := strings.Cut(asked, `"id":`)
		id, _, _ = strings.Cut(id, ",")
		r.say(`{"jsonrpc":"2.0","id":` + id + `,` + outcome + `}`)
	}
	r.say(fmt.Sprintf(status, 7))
	answer(`"error":{"code":-32601,"message":"no forms here"}`)
	if shown := r.hears(`"id":7`); !strings.Contains(shown, "Postgres or SQLite?") {
		t.Errorf("without the form, the status is %s", shown)
	}
	r.say(fmt.Sprintf(status, 8))
	answer(`"result":{"action":"accept","content":{"other":"mysql"}}`)
	if shown := r.hears(`"id":8`); strings.Contains(shown, `"number":1`) {
		t.Errorf("after the answer, the status is %s", shown)
	}
	if answered := p.fine("logs", "night", "--json", "--type", "question.answered"); !strings.Contains(answered, `"text":"mysql"`) {
		t.Errorf("the answers are %s", answered)
	}
	p.fine("stop", "night", "--now")
}

// A form reaches no loop through a server that only reads.
func TestMCPReadOnlyRefusesForms(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, askingAgent)
	begun := call[shownLoop](p, p.client(nil), "ralph_start", map[string]any{"name": "night", "prompt": "ask"})
	p.until("a question", func() bool { return p.fine("logs", "night", "--json", "--type", "question.asked") != "" })
	result, err := p.client(nil, "--read-only").CallTool(t.Context(), &sdk.CallToolParams{
		Name: "ralph_status", Arguments: map[string]any{"loop": begun.ID},
		InputResponses: sdk.InputResponseMap{begun.ID + "/1": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "sqlite"}}},
	})
	p.must(err)
	if text := textOf(result); !result.IsError || !strings.Contains(text, "this server only reads") {
		t.Errorf("the answer is %s", text)
	}
	if received := p.fine("logs", "night", "--json", "--type", "command.received"); strings.Contains(received, `"kind":"answer"`) {
		t.Errorf("the loop has received %s", received)
	}
	p.fine("stop", "night", "--now")
}
