package acpserver

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

func TestQuestionIsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client, method, reply, want string
		choices                     []string
	}{
		"form, a choice":   {formClient, "elicitation/create", `{"action":"accept","content":{"choice":"sqlite"}}`, "sqlite", []string{"postgres", "sqlite"}},
		"form, own words":  {formClient, "elicitation/create", `{"action":"accept","content":{"choice":"sqlite","text":"neither"}}`, "neither", []string{"postgres", "sqlite"}},
		"form, no choices": {formClient, "elicitation/create", `{"action":"accept","content":{"text":"a file"}}`, "a file", nil},
		"buttons":          {plainClient, "session/request_permission", `{"outcome":{"outcome":"selected","optionId":"choice-0"}}`, "postgres", []string{"postgres", "sqlite"}},
		"buttons, draft":   {draftClient, "session/request_permission", `{"outcome":{"outcome":"selected","optionId":"choice-1"}}`, "sqlite", []string{"postgres", "sqlite"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			client := w.client(c.client)
			if g := client.request("session/resume", `{"sessionId":"demo","cwd":"/"}`); g.Error != nil {
				t.Fatal(g.Error)
			}
			l.happen(event.QuestionAsked{Number: 3, Text: "Which one?", Choices: c.choices, Blocks: true})
			g := client.until(func(g got) bool { return g.Method != "session/update" })
			if g.Method != c.method {
				t.Fatalf("the request is %s", g.Method)
			}
			client.write(`{"id":` + string(g.ID) + `,"result":` + c.reply + `}`)
			client.write(`{"id":` + string(g.ID) + `,"result":` + c.reply + `}`) // twice changes nothing
			client.settle("demo")
			if sent := l.commands(); len(sent) != 1 || sent[0].Kind != inbox.Answer || sent[0].Question != 3 || sent[0].Text != c.want {
				t.Errorf("the inbox has %+v, want %q", sent, c.want)
			}
		})
	}
}

func TestFirstOptionAnswersNothing(t *testing.T) {
	t.Parallel()
	options := optionsOf(projector.Question{Choices: []string{"a", "b"}})
	if len(options) != 3 || options[0]["optionId"] != laterID || options[1]["name"] != "a" {
		t.Errorf("the options are %v", options)
	}
	for _, o := range options {
		if o["kind"] != "allow_once" { // else one of the choices is preferred by what a client allows
			t.Errorf("the option is %v", o)
		}
	}
}

func TestQuestionLeftOpenIsWords(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"later":     `"result":{"outcome":{"outcome":"selected","optionId":"later"}}`,
		"cancelled": `"result":{"outcome":{"outcome":"cancelled"}}`,
		"lie":       `"result":{"outcome":{"outcome":"selected","optionId":"choice-99"}}`,
		"unable":    `"error":{"code":-32601,"message":"no"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			client := w.client(plainClient)
			client.load(demoID)
			l.happen(event.QuestionAsked{Number: 1, Text: "Which one?", Choices: []string{"a"}})
			g := client.until(func(g got) bool { return g.Method == "session/request_permission" })
			client.write(`{"id":` + string(g.ID) + `,` + reply + `}`)
			client.until(func(g got) bool { return strings.Contains(g.text(), "`/answer 1 TEXT`") })
			if sent := l.commands(); len(sent) != 0 {
				t.Errorf("the inbox has %+v", sent)
			}
		})
	}
}

func TestAnswerElsewhereTakesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	client := w.client(plainClient)
	client.load(demoID)
	l.happen(event.QuestionAsked{Number: 1, Text: "Which one?", Choices: []string{"a"}})
	g := client.until(func(g got) bool { return g.Method == "session/request_permission" })
	l.happen(event.QuestionAnswered{Number: 1, Text: "a", From: "cli:ada@mill", Command: "x"})
	back := client.until(func(g got) bool { return g.Method == "$/cancel_request" })
	if `"`+back.Params.Request+`"` != string(g.ID) {
		t.Errorf("%q was taken back, %s was asked", back.Params.Request, g.ID)
	}
	client.write(`{"id":` + string(g.ID) + `,"result":{"outcome":{"outcome":"selected","optionId":"choice-0"}}}`)
	if g := client.request("session/list", `{}`); g.Error != nil || len(l.commands()) != 0 {
		t.Error("a late answer was sent on")
	}
}

func TestPromptAnswersQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]inbox.Command{
		"SQLite":           {Kind: inbox.Answer, Question: 1, Text: "SQLite"},
		"/answer 1 mine":   {Kind: inbox.Answer, Question: 1, Text: "mine"},
		"/answer mine too": {Kind: inbox.Answer, Question: 1, Text: "mine too"},
		"use tabs":         {Kind: inbox.Steer, Text: "use tabs"},
		"/steer sqlite":    {Kind: inbox.Steer, Text: "sqlite"},
		"/compact now":     {Kind: inbox.Steer, Text: "/compact now"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			l.happen(event.QuestionAsked{Number: 1, Text: "Which one?", Choices: []string{"postgres", "sqlite"}})
			client := w.client(plainClient)
			client.load(demoID)
			client.prompt(demoID, text)
			got := awaitCommands(l, 1)[0]
			if got.Kind != want.Kind || got.Text != want.Text || got.Question != want.Question {
				t.Errorf("the inbox has %+v, want %+v", got, want)
			}
		})
	}
}
