package playground

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Line is one thing that happened: an event of the journal, a note on the world around the loop, or
// that the last lines are lost.
type Line struct {
	At   string      `json:"at"` // the time of day
	Tone phrase.Tone `json:"tone,omitempty"`
	Text string      `json:"text,omitempty"` // what it means; empty of what only programs read
	Note bool        `json:"note,omitempty"` // not in the journal

	Seq   event.Seq  `json:"seq,omitempty"`
	Type  event.Type `json:"type,omitempty"`
	Cause event.Seq  `json:"cause,omitempty"`
	Rule  string     `json:"rule,omitempty"` // of the core, that decided it
	JSON  string     `json:"json,omitempty"` // the line of the journal
	// Detail says that only programs, and people who look for a mistake, read such events.
	Detail bool `json:"detail,omitempty"`

	Lost event.Seq `json:"lost,omitempty"` // the first of the events that are lost
}

// jsonMost is how much of a line is shown: a checkpoint has some thousand bytes.
const jsonMost = 1500

func (w *Run) clock() string { return w.now.Format(time.TimeOnly) }

// note tells what happens around the loop.
func (w *Run) note(tone phrase.Tone, text string) {
	w.lines = append(w.lines, Line{At: w.clock(), Tone: tone, Text: text, Note: true})
}

// show adds an event that is in the journal. rule is the one that decided it; empty if it was not
// decided.
func (w *Run) show(e event.Event, rule string) {
	view := w.view.View()
	if err := w.view.Fold(e); err != nil {
		w.note(phrase.ToneFailure, err.Error())
		return
	}
	line := Line{At: e.At.Format(time.TimeOnly), Seq: e.Seq, Type: e.Type, Cause: e.Cause, JSON: units.Cut(string(e.Line()), jsonMost)}
	p, err := event.Decode(e)
	if err != nil {
		line.Text = err.Error()
	}
	said := phrase.Of(p, phrase.Known{At: e.At, Location: time.UTC, Loop: loopName, Running: view.Iteration, Maximum: view.MaximumIterations})
	switch e.Type {
	case event.TypeSegmentOpened, event.TypeSegmentSealed, event.TypeAgentUsed, event.TypeToolReturned, event.TypeFolderInspected,
		event.TypeRepoInspected, event.TypeGuardrailSnapshotted, event.TypeIterationChecked, event.TypeSCMEnded:
		line.Detail = true
	}
	line.Tone, line.Text = said.Tone, cmp.Or(said.Line(), line.Text)
	if e.Type != event.TypeSegmentOpened && e.Type != event.TypeSegmentSealed {
		line.Rule = rule
	}
	w.lines = append(w.lines, line)
}

// Fact is one thing that is true of the loop now.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Facts are what is true now: the view of the loop, and what the machine is at.
func (w *Run) Facts() []Fact {
	v := w.view.View()
	runner := "lives"
	if w.runner == nil {
		runner = "there is none"
	}
	disk := "has space"
	if w.full {
		disk = "is full"
	}
	facts := []Fact{
		{"state", cmp.Or(v.State, "starting")},
		{"iteration", iterationOf(&v)},
		{"spent", fmt.Sprintf("%s of $5, %s tokens", units.Cost(v.Spent.USD), units.Tokens(v.Spent.Tokens()))},
		{"in truth", w.project.truth()},
	}
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, Fact{name, text})
		}
	}
	add("pending", v.Pending)
	if v.Deadline != nil && w.runner != nil {
		add("next", fmt.Sprintf("%s, in %s", v.Deadline.What, units.Span(max(0, v.Deadline.At.Sub(w.now)))))
	}
	if v.Trouble.Stuck > 0 {
		add("no progress", fmt.Sprintf("%s in a row", units.Quantity(v.Trouble.Stuck, "iteration")))
	}
	add("last failure", v.Trouble.Failure)
	if v.Ended != nil {
		add("ended", v.Ended.Why)
		add("done", v.Done)
		add("next step", v.Ended.Hint)
	}
	return append(facts, Fact{"runner", runner}, Fact{"disk", disk})
}

func iterationOf(v *projector.View) string {
	text := fmt.Sprintf("%d of %d", v.Counted, v.MaximumIterations)
	if v.Open && v.Doing != "" {
		text += ": " + v.Doing
	}
	return text
}
