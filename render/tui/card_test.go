package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Before the journal is read, the screen has only the summary of state.json: which question the
// loop waits for, and not the question itself.
func TestQuestionIsKnownBeforeJournal(t *testing.T) {
	head := running3().Summary
	head.Status, head.Awaited, head.Waiting = event.StatusWaiting, 1, "a person: an answer to question 1: Tabs?"
	b := newBench(t, Options{Head: head})
	b.do(changesMsg{view: projector.View{Summary: head, Identity: projector.Identity{Name: "demo"}}})
	b.shows("needs you", "Tabs?")
	b.types("yes", "<enter>", "no")
	b.do(changesMsg{view: projector.View{Summary: head, Identity: projector.Identity{Name: "demo"}, Questions: []projector.Question{{Number: 1, Text: "Tabs?"}}}})
	b.types("<enter>")
	if len(b.sentTo) != 2 {
		t.Fatalf("sent %+v", b.sentTo)
	}
	for i, text := range []string{"yes", "no"} {
		if c := b.sentTo[i]; c.Kind != inbox.Answer || c.Question != 1 || c.Text != text {
			t.Errorf("%s was sent as %+v", text, c)
		}
	}
}

// A long question hides neither its choices nor how to answer.
func TestLongQuestionShowsChoices(t *testing.T) {
	b := newBench(t, Options{})
	v := running3()
	v.Questions = []projector.Question{{Number: 1, Text: strings.Repeat("A line.\n", 30), Choices: []string{"postgres", "sqlite"}}}
	b.do(changesMsg{view: v})
	b.shows("A line.", "…", "choices: postgres | sqlite", "/answer 1 TEXT")
	v.Questions = []projector.Question{{Number: 2, Text: "Which?", Choices: []string{strings.Repeat("long ", 200), "last"}}}
	b.do(changesMsg{view: v})
	b.shows("Which?", "choices: long", "/answer 2 TEXT")
	if n := len(b.card(80)); n > cardMost+2 {
		t.Errorf("the card has %d lines", n)
	}
}

// An answer that comes after the end does not resume the loop by itself.
func TestAnswerOutlivesLoop(t *testing.T) {
	b := newBench(t, Options{})
	v := running3()
	v.Questions = []projector.Question{{Number: 1, Text: "Tabs?"}}
	v.Status, v.Open, v.Awaited = event.StatusWaiting, false, 1
	b.do(changesMsg{view: v})
	b.types("yes")
	v = running3()
	v.Ended, v.More = &event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}, "up to 7 more iterations"
	b.do(changesMsg{view: v, over: true})
	b.types("<enter>")
	b.shows("Resume the loop? up to 7 more iterations with these words", "resume> yes")
	if got := b.outcome(); b.quits || got.Resume != "" {
		t.Errorf("outcome %+v", got)
	}
	b.do(tea.WindowSizeMsg{Width: 40, Height: 12})
	b.shows("Resume the loop? up to 7 more iterations\nwith these words", "enter resume", "esc back")
	b.types("<esc>", "<enter>", "<enter>")
	if got := b.outcome(); got.Resume != "yes" || len(b.sentTo) > 0 {
		t.Errorf("outcome %+v, sent %+v", got, b.sentTo)
	}

	b = newBench(t, Options{}) // a line that is begun after the end
	v.Questions = []projector.Question{{Number: 1, Text: "Tabs?"}}
	b.do(changesMsg{view: v, over: true})
	b.types("go on", "<enter>", "<enter>")
	if got := b.outcome(); got.Resume != "go on" {
		t.Errorf("outcome %+v", got)
	}
}
