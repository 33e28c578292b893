package acpserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// takeAway moves the folder of a loop that has ended to another place.
func (l *testLoop) takeAway() {
	l.t.Helper()
	must(l.t, l.writer.Close())
	must(l.t, l.lock.Close())
	must(l.t, os.Rename(l.dir, filepath.Join(filepath.Dir(l.dir), "archived")))
}

// losses are how a loop may be lost, by what is said then.
var losses = map[string]func(*testLoop){
	"died":                func(l *testLoop) { _ = l.lock.Close() },
	"archived or removed": (*testLoop).takeAway,
}

// A thread is about one loop, also when another one has taken its name and its folder.
func TestFolderOfAnotherLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.loop("demo", demoID)
	c, canceller := w.client(plainClient), w.client(plainClient)
	c.load(demoID)
	canceller.load(demoID)
	first.takeAway()
	other := w.loopIn(first.project, "demo", otherID)
	other.happen(event.AgentSaid{Block: "1", Text: event.Plain("of the other"), Final: true})
	canceller.write(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + demoID + `"}}`)
	canceller.until(func(g got) bool { return strings.Contains(g.text(), "archived or removed") })
	for _, text := range []string{"use tabs", "/stop", "/answer 1 x", "/resume"} {
		g := c.answer(c.prompt(demoID, text))
		if g.Error == nil || !strings.Contains(g.Error.Message, "archived or removed") && !strings.Contains(g.Error.Message, "no session") {
			t.Errorf("%s: %s %+v", text, g.Result, g.Error)
		}
	}
	if sent := other.commands(); len(sent) != 0 {
		t.Errorf("the other loop got %+v", sent)
	}
	if strings.Contains(c.words(), "of the other") {
		t.Errorf("the words are %q", c.words())
	}
	if g := c.load(otherID); g.Error != nil || !strings.Contains(c.words(), "of the other") {
		t.Errorf("the other loop: %+v, %q", g.Error, c.words())
	}
}

func TestDraftReportsLoss(t *testing.T) {
	t.Parallel()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			c := w.client(draftClient)
			if g := c.request("session/resume", `{"sessionId":"demo","cwd":"/"}`); g.Error != nil {
				t.Fatal(g.Error)
			}
			lose(l)
			c.until(func(g got) bool { return g.Params.Update.State == "idle" && g.Params.Update.StopReason == "error" })
		})
	}
}

// A script writes its lines and closes its output.
func TestLastLinesAreDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	c := w.client(draftClient)
	c.send("session/resume", `{"sessionId":"demo","cwd":"/","replayFrom":{"type":"start"}}`)
	id := c.prompt("demo", "use tabs")
	must(t, c.in.Close())
	if g := c.answer(id); g.Error != nil {
		t.Error(g.Error)
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if sent := l.commands(); len(sent) != 1 || sent[0].Text != "use tabs" {
		t.Errorf("the inbox has %+v", sent)
	}
}

func TestEachEntryIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	for range 2 * burst {
		l.happen(event.AgentSaid{Block: "1", Text: event.Plain("word"), Final: true})
	}
	c := w.client(plainClient)
	params := `{"sessionId":"demo","cwd":"/","mcpServers":[]}`
	waits, last := map[string]bool{}, ""
	for range 5 {
		last = c.send("session/load", params)
		waits[last] = true
	}
	for len(waits) > 0 {
		g := c.until(func(g got) bool { return g.Method == "" && waits[string(g.ID)] })
		delete(waits, string(g.ID))
		if string(g.ID) == last && g.Error != nil {
			t.Errorf("the last one: %+v", g.Error)
		}
	}
}

// A client that gets a question of a session that it does not have yet cannot show it.
func TestQuestionComesAfterEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	l.happen(event.QuestionAsked{Number: 1, Text: "Which one?", Choices: []string{"a"}})
	c := w.client(plainClient)
	id := c.send("session/resume", `{"sessionId":"demo","cwd":"/"}`)
	if g := c.until(func(g got) bool { return g.Method != "session/update" }); string(g.ID) != id {
		t.Errorf("before the answer came %+v", g)
	}
	c.until(func(g got) bool { return g.Method == "session/request_permission" })
}

// An agent that runs 'ralph acp' in its shell cannot speak for a person.
func TestOwnAgentIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	l.happen(event.QuestionAsked{Number: 1, Text: "Which one?"})
	c := w.client(plainClient, cli.LoopDirVariable+"="+l.dir)
	c.load(demoID)
	c.prompt(demoID, "/answer 1 mine")
	if sent := awaitCommands(l, 1); sent[0].Kind != inbox.Answer || sent[0].From != event.FromAgent {
		t.Errorf("the inbox has %+v", sent[0])
	}
}

func TestPromptsOfBegunLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	c := w.client(plainClient)
	c.load(demoID)
	for _, ended := range []bool{false, true} {
		if ended {
			l.happen(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "done"})
			must(t, l.lock.Close())
		}
		for text, want := range map[string]string{"/tasks": "first prompt", "/steer": "no text", "/follow-up ": "no text"} {
			if g := c.answer(c.prompt(demoID, text)); g.Error == nil || g.Error.Code != codeParams || !strings.Contains(g.Error.Message, want) {
				t.Errorf("%s, ended %v: %+v", text, ended, g.Error)
			}
		}
	}
}
