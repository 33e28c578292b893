package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestFormKeys(t *testing.T) {
	const id = "01M85WTJZCFA63JGP6Q33VW3TD"
	if got, number, ok := parseFormKey(formKey(id, 12)); !ok || got != id || number != 12 {
		t.Errorf("the key of a form became %s, %d, %v", got, number, ok)
	}
	for _, key := range []string{"", "none", id, id + "/", id + "/0", id + "/-1", id + "/x", "../../etc/1", "/1"} {
		if _, _, ok := parseFormKey(key); ok {
			t.Errorf("%q is taken for a form", key)
		}
	}
}

func TestAnswerInForm(t *testing.T) {
	form := func(action string, content map[string]any) sdk.InputResponse {
		return &sdk.ElicitResult{Action: action, Content: content}
	}
	for name, c := range map[string]struct {
		filled sdk.InputResponse
		want   string
	}{
		"a choice":             {form("accept", map[string]any{"answer": "a"}), "a"},
		"another answer":       {form("accept", map[string]any{"answer": "a", "other": " b "}), "b"},
		"nothing":              {form("accept", nil), ""},
		"blanks":               {form("accept", map[string]any{"answer": " \n"}), ""},
		"no text":              {form("accept", map[string]any{"answer": 1}), ""},
		"declined with a text": {form("decline", map[string]any{"answer": "a"}), ""},
		"cancelled":            {form("cancel", nil), ""},
		"no form":              {nil, ""},
	} {
		if got := answerIn(c.filled); got != c.want {
			t.Errorf("%s: the answer is %q, want %q", name, got, c.want)
		}
	}
}

func TestDeclinedIsBounded(t *testing.T) {
	var d declined
	for i := range 3 * mostDeclined {
		d.add(formKey("x", i))
	}
	if len(d.keys) > mostDeclined || !d.has(formKey("x", 3*mostDeclined-1)) {
		t.Errorf("%d are kept", len(d.keys))
	}
}

func TestPathsNameNoLoop(t *testing.T) {
	for name, want := range map[string]bool{
		"night": false, "shop/night": false, "night.2": false, "": false,
		"/night": true, "./night": true, "a/b/c": true, "a/../b": true, `a\b`: true, "..": true, "a\x00": true,
	} {
		if got := isPath(name); got != want {
			t.Errorf("isPath(%q) is %v", name, got)
		}
	}
}

// One message cannot flood a loop with answers.
func TestFormsAreBounded(t *testing.T) {
	filled := sdk.InputResponseMap{}
	for number := range event.MaxQuestions + 1 {
		filled[formKey("01M85WTJZCFA63JGP6Q33VW3TD", number+1)] = &sdk.ElicitResult{Action: "decline"}
	}
	_, err := new(Server).takeForms(t.Context(), nil, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{InputResponses: filled}})
	if err == nil || !strings.Contains(err.Error(), "at most 32") {
		t.Errorf("%d forms: %v", len(filled), err)
	}
}

// A message with a key of another loop answers nothing.
func TestWrongKeyRefusesAllAnswers(t *testing.T) {
	const task = "01M85WTJZCFA63JGP6Q33VW3TD"
	yes := &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "yes"}}
	filled := sdk.InputResponseMap{formKey(task, 1): yes, formKey(task, 2): &sdk.ElicitResult{Action: "decline"}}
	if answers, err := answersIn(filled, task); err != nil || len(answers) != 1 || answers[0].Question != 1 || answers[0].Text != "yes" {
		t.Errorf("the answers are %+v, %v", answers, err)
	}
	filled[formKey("01M860VVJTN8Q82MMH8A4VE4KB", 1)] = yes
	if answers, err := answersIn(filled, task); err == nil || len(answers) > 0 {
		t.Errorf("with a wrong key the answers are %+v, %v", answers, err)
	}
}
