package policy

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// ToolSpans are the times in which tools of a reviewer ran. While none runs, the reviewer changes
// no file, so what changes then is a person's. A change within a span counts as the reviewer's.
type ToolSpans struct {
	Review bool `json:"review,omitempty"` // the iteration reviews; of others nothing is kept
	// Shown says that the agent shows the tools it uses. Else nothing is known of its changes.
	Shown bool `json:"shown,omitempty"`
	// Spans are in order and do not overlap.
	Spans []ToolSpan `json:"spans,omitempty"`
	Open  int        `json:"open,omitempty"` // tools that run
	// Over says that there were more spans than are kept.
	Over bool `json:"over,omitempty"`
}

// A ToolSpan is a time in which a tool may have run.
type ToolSpan struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // of a tool that runs, From
}

// A span is wider than its events say: commits have whole seconds, the clock of a file system has
// steps, and a tool may have begun before its call was read.
const (
	beforeCall  = 3 * time.Second
	afterReturn = time.Second
	mostSpans   = 100
)

// Apply folds one event. was is the loop before it.
func (t *ToolSpans) Apply(at time.Time, p event.Payload, was *Lifecycle) {
	if read, ok := p.(event.StoriesRead); ok {
		*t = ToolSpans{Review: read.Mode == event.ModeReview}
		t.Shown = t.Review && was.Process.Tools // of a process that waits for its next prompt
		return
	}
	if !t.Review {
		return
	}
	switch p := p.(type) {
	case event.AgentStarted:
		t.Shown = p.Tools
	case event.ToolCalled:
		t.open(at.Add(-beforeCall))
	case event.ToolReturned:
		if t.Open > 0 {
			t.Open--
			t.extend(at)
		}
	case event.AgentFinished, event.AgentExited:
		if t.Open > 0 {
			t.Open = 0
			t.extend(at)
		}
	}
}

// open begins a span, or continues the last one.
func (t *ToolSpans) open(from time.Time) {
	switch last := len(t.Spans) - 1; {
	case t.Over:
		return
	case t.Open > 0 || last >= 0 && !from.After(t.Spans[last].To):
	case len(t.Spans) == mostSpans:
		t.Over = true
		return
	default:
		t.Spans = append(slices.Clone(t.Spans), ToolSpan{from, from}) // the state before the event may be in use
	}
	t.Open++
}

// extend moves the end of the last span.
func (t *ToolSpans) extend(at time.Time) {
	t.Spans = slices.Clone(t.Spans)
	t.Spans[len(t.Spans)-1].To = at.Add(afterReturn)
}

// covers reports whether a tool may have run at that time.
func (t *ToolSpans) covers(at time.Time) bool {
	for i, span := range t.Spans {
		running := t.Open > 0 && i == len(t.Spans)-1
		if !at.Before(span.From) && (running || !at.After(span.To)) {
			return true
		}
	}
	return false
}

// A TreeChange is a change of a file, on the disk or in a commit.
type TreeChange struct {
	Path    string
	At      time.Time
	Foreign bool // committed by another author
}

// ReviewChanges says whose the changes during a review are.
type ReviewChanges struct {
	Reviewer []string // the reviewer's
	Others   []string // that may be a person's
	// Doubt says that they cannot be separated: all of them stay, and the review gives no verdict.
	Doubt bool
}

// Sort separates the changes of the reviewer from those that may be a person's. They are undone
// only if all of them are the reviewer's.
func (t *ToolSpans) Sort(changes []TreeChange) (c ReviewChanges) {
	for _, change := range changes {
		to := &c.Others
		if t.Shown && !t.Over && !change.Foreign && t.covers(change.At) {
			to = &c.Reviewer
		}
		if !slices.Contains(*to, change.Path) {
			*to = append(*to, change.Path)
		}
	}
	c.Doubt = len(c.Others) > 0 && (len(c.Reviewer) > 0 || !t.Shown || t.Over)
	return c
}
