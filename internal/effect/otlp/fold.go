package otlp

import (
	"cmp"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Mapping says what of a loop is in its trace.
type Mapping struct {
	// Content adds texts: prompts, answers, the input and output of tools, reasons.
	Content bool
	// Mask hides secrets in every text. The journal has none that its writer knew; nil changes
	// nothing.
	Mask func([]byte) []byte
}

// foldVersion changes when a Fold that was kept by an earlier ralph can no longer be used.
const foldVersion = 1

// Fold makes spans from the events of one loop, in their order. It belongs to one goroutine. Its
// exported fields are its state, as JSON keeps it.
type Fold struct {
	Version int       `json:"v"`
	Loop    string    `json:"loop"`            // ULID
	Began   string    `json:"began,omitempty"` // the TRACEPARENT of the program that began the loop
	Seq     event.Seq `json:"seq"`             // of the last event
	At      time.Time `json:"at"`              // of the last event
	Name    string    `json:"name"`
	Runs    int       `json:"runs"` // that began

	Agent      event.Agent `json:"agent"`
	Run        *Span       `json:"run,omitempty"`
	Cost       *float64    `json:"cost,omitempty"` // of the run
	Iteration  *Span       `json:"iteration,omitempty"`
	N          int         `json:"n,omitempty"`          // of the iteration
	Turn       turn        `json:"turn,omitzero"`        // of the iteration
	Tools      []call      `json:"tools,omitempty"`      // that run, in the order of their calls
	Guardrails []call      `json:"guardrails,omitempty"` // that run
	Wait       *Span       `json:"wait,omitempty"`

	mapping Mapping
}

// turn is what an iteration came to so far.
type turn struct {
	Session  string      `json:"session,omitempty"`
	Model    string      `json:"model,omitempty"`
	Usage    event.Usage `json:"usage,omitzero"`
	Used     bool        `json:"used,omitempty"`
	Unpriced bool        `json:"unpriced,omitempty"` // a part of the usage has no price
	Awaited  bool        `json:"awaited,omitempty"`  // the price of a part is yet to come
	Tools    int64       `json:"tools,omitempty"`
	Kind     string      `json:"kind,omitempty"`    // of the fault that ended the turn
	Message  string      `json:"message,omitempty"` // the name of the message that Said belongs to
	Said     string      `json:"said,omitempty"`    // the last message; only with Content
	Prompt   string      `json:"prompt,omitempty"`  // only with Content
}

// call is an open span that an id or a name ends.
type call struct {
	ID   string `json:"id"`
	Span Span   `json:"span"`
}

// NewFold returns a fold before the first event.
func NewFold(m Mapping) *Fold { return &Fold{Version: foldVersion, mapping: m} }

// Trace returns the id of the trace as 32 hexadecimal digits.
func (f *Fold) Trace() string { return traceID(f.Loop, f.Began) }

// Open returns how many spans have begun and not ended.
func (f *Fold) Open() int {
	n := len(f.Tools) + len(f.Guardrails)
	for _, s := range []*Span{f.Run, f.Iteration, f.Wait} {
		if s != nil {
			n++
		}
	}
	return n
}

// Event folds an event, and returns the spans that it ends, those within others first. The event
// need not stay valid. A payload that cannot be read changes nothing.
func (f *Fold) Event(e event.Event) []Span {
	var ended []Span
	if e.Type == event.TypeLoopResumed {
		ended = f.Cut() // at the last event of the run before
	}
	f.Seq, f.At = e.Seq, e.At
	switch e.Type {
	case event.TypeAgentThought, event.TypeAgentUnparsed, event.TypeToolProgressed, event.TypeSegmentSealed, event.TypeAgentNoticed:
		return ended // many, and in no span
	case event.TypeAgentSaid:
		if f.mapping.Content {
			f.said(e)
		}
		return ended
	case event.TypeToolReturned:
		return append(ended, f.toolReturned(e)...)
	case event.TypeToolCalled:
		return append(ended, f.toolCalled(e)...)
	}
	p, err := event.Decode(e)
	if err != nil {
		return ended
	}
	ended = append(ended, f.loop(e, p)...)
	ended = append(ended, f.iteration(e, p)...)
	f.marks(e, p)
	return ended
}

// Cut ends all open spans at the last event, because the runner died. What follows in the journal
// is a resume.
func (f *Fold) Cut() []Span {
	ended := f.cutIteration()
	if f.Wait != nil {
		ended = append(ended, f.cut(f.Wait))
		f.Wait = nil
	}
	if f.Run != nil {
		f.Run.money("ralph.loop.cost_usd", f.Cost)
		f.Run.fail("interrupted")
		ended = append(ended, f.cut(f.Run))
		f.Run = nil
	}
	return ended
}

// cut ends a span whose end is not in the journal.
func (f *Fold) cut(s *Span) Span {
	s.yes("ralph.incomplete", true)
	return s.end(f.At)
}

// cutIteration ends the iteration and what is open in it.
func (f *Fold) cutIteration() []Span {
	ended := f.cutCalls()
	if f.Iteration != nil {
		f.Turn.Kind = cmp.Or(f.Turn.Kind, string(event.OutcomeInterrupted))
		f.used()
		f.Iteration.text("ralph.iteration.outcome", string(event.OutcomeInterrupted))
		f.Iteration.fail(string(event.OutcomeInterrupted))
		ended = append(ended, f.cut(f.Iteration))
		f.Iteration = nil
	}
	return ended
}

// cutCalls ends the tools and guardrails that are open.
func (f *Fold) cutCalls() (ended []Span) {
	for i := range f.Tools {
		ended = append(ended, f.cut(&f.Tools[i].Span))
	}
	for i := range f.Guardrails {
		ended = append(ended, f.cut(&f.Guardrails[i].Span))
	}
	f.Tools, f.Guardrails = nil, nil
	return ended
}

// begin returns a span that begins with an event.
func (f *Fold) begin(e event.Event, id, parent, name string) *Span {
	return &Span{ID: id, Parent: parent, Name: f.short(name), Start: e.At}
}

// inner returns the id of the span that something happens in: the iteration, else the run.
func (f *Fold) inner() string {
	switch {
	case f.Iteration != nil:
		return f.Iteration.ID
	case f.Run != nil:
		return f.Run.ID
	}
	return ""
}

// short returns a text that is no content.
func (f *Fold) short(text string) string { return units.Cut(f.masked(text), nameMost) }

// content returns a text of a person, an agent or a tool; empty unless it is asked for.
func (f *Fold) content(text string) string {
	if !f.mapping.Content {
		return ""
	}
	return units.Prefix(f.masked(text), textMost)
}

func (f *Fold) masked(text string) string {
	if f.mapping.Mask == nil {
		return text
	}
	return string(f.mapping.Mask([]byte(text)))
}
