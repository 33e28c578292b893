package projector

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Group says whether a loop needs a person, works, or has ended.
type Group string

// The groups.
const (
	// NeedsYou: a person has to act. A question of its agent has no answer, also while it works on
	// or after it ended; or it waits for a person or is paused; or it failed, or ended for a reason
	// that only a person can remove (exit code 4); or its runner died; or its files cannot be read.
	// Once it has no runner, a person can dismiss it until it works again.
	NeedsYou Group = "needs you"
	Working  Group = "working" // it has a runner, and continues by itself
	Over     Group = "ended"   // it has ended, or its folder is gone
)

// Groups are all groups in the order of a list.
var Groups = []Group{NeedsYou, Working, Over}

// Compare orders groups as a list has them.
func (g Group) Compare(other Group) int {
	return cmp.Compare(slices.Index(Groups, g), slices.Index(Groups, other))
}

func groupOf(s *registry.Status) Group {
	switch {
	case s.Gone, s.Head.ContinuesOn != "" && !s.Live.Alive && s.Err == nil:
		return Over
	case !s.Live.Alive && s.Err == nil && s.Dismissed > 0 && s.Head.Seq <= s.Dismissed:
		return Over
	case s.Err != nil, s.Died:
		return NeedsYou
	case s.Head.Questions > 0:
		return NeedsYou
	case s.Live.Alive && (s.Head.Status == event.StatusPaused || s.Head.Status == event.StatusWaiting && strings.HasPrefix(s.Head.Waiting, forPerson)):
		return NeedsYou
	case s.Live.Alive:
		return Working
	case s.Head.Status == event.StatusFailed, s.Head.Reason != "" && event.Reason(s.Head.Reason).ExitCode() == event.ExitPerson:
		return NeedsYou
	}
	return Over
}

// Brief returns what a list shows of a loop that [registry.Survey] found: what the first line of
// state.json says, and what the registry and the lock add. It reads the journal only of a loop
// whose state.json is missing or old, because it has just begun or was resumed, or its runner was
// killed soon. What follows from the end of a loop, or from a question, needs [Read].
func Brief(s registry.Status) *View {
	v := &View{Found: refreshed(s)}
	v.Summary = v.Found.Head
	v.Begun, v.Counted = v.Iteration, v.Iteration-v.Refunded
	v.found()
	return v
}

// Read returns all that is true of a loop that was found. The error says why its files cannot be
// read; the view is then that of [Brief].
func Read(s registry.Status) (*View, error) {
	loop, err := Load(s.Dir)
	if err != nil {
		return Brief(s), err
	}
	v := loop.ViewOf(s)
	v.Task.File = loop.state.PromptFile(s.Dir)
	return v, nil
}

// ViewOf is View with what the registry and the lock say of the loop. Before the loop has begun,
// the status is that of the registry.
func (l *Loop) ViewOf(s registry.Status) *View {
	v := l.View()
	if l.state.Begun() {
		s.Head = v.Summary
		s.Died = !s.Live.Alive && !v.Status.Ended()
	} else {
		v.Summary = s.Head
	}
	v.Found = s
	v.found()
	return &v
}

// refreshed takes from the journal what state.json does not contain yet: it is written a moment
// after the events.
func refreshed(s registry.Status) registry.Status {
	old := s.Head.Status == event.StatusStarting || s.Head.Status.Ended()
	if s.Err != nil || s.Gone || s.Head.Status != event.StatusUnknown && !(s.Live.Alive && old) {
		return s
	}
	loop, err := Load(s.Dir)
	if err != nil || !loop.state.Begun() {
		return s // status says what is wrong with it
	}
	s.Head = loop.state.Summary()
	s.Died = !s.Live.Alive && !s.Head.Status.Ended()
	return s
}

// found adds what Found says.
func (v *View) found() {
	s := &v.Found
	if work := v.Project; work != s.Project {
		v.WorkDir = work
	}
	v.ID, v.Parent, v.Name, v.Dir, v.Project, v.Host = cmp.Or(s.ID, v.ID), s.Parent, s.Name, s.Dir, s.Project, cmp.Or(s.Host, v.Host)
	if v.Started = v.Since; v.Started.IsZero() {
		v.Started = s.Started
	}
	v.Agent = cmp.Or(v.Agent, s.Agent)
	// An agent may have written state.json.
	for _, text := range []*string{(*string)(&v.Status), &v.Reason, &v.Agent, &v.Waiting, &v.Pending, &v.Host, &v.ContinuesOn} {
		*text = clean.Text(*text)
	}
	v.Alive, v.Died, v.Gone = s.Live.Alive, s.Died, s.Gone
	v.Group = groupOf(s)
	if s.Live.PID != 0 {
		v.Runner = &s.Live
	}
	if s.Err != nil {
		v.Error = clean.Text(s.Err.Error())
	}
	v.assess()
}
