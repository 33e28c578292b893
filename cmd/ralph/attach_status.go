package main

import (
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// pulse knows what the status line of an attach says: it folds the events that attach shows. The events come from one
// goroutine and the clock from another.
type pulse struct {
	mu      sync.Mutex
	state   projector.State
	running render.Running
	unknown bool // an event could not be folded, or no runner is there any more
}

func newPulse(state projector.State) *pulse {
	return &pulse{state: state, running: render.Running{Project: state.Life.Project}}
}

// event takes in one that is shown. Those that the state has taken in before may come again.
func (p *pulse) event(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running.Event(e)
	if e.Seq > p.state.Seq && !p.unknown {
		p.unknown = p.state.Fold(e) != nil
	}
}

// end says that nothing goes on any more.
func (p *pulse) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unknown = true
}

// tailLines is how much is shown of what a tool prints while it runs.
const tailLines = 3

// line says where the loop stands now, in so many columns, with the last lines of the tool that runs.
func (p *pulse) line(now time.Time, columns int) (status string, tail []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unknown || p.state.Life.Ended != nil || !p.state.Begun() {
		return "", nil
	}
	return statusLine(&p.state, &p.running, now, columns), p.running.Tail(tailLines)
}

// short is how many columns have no room for words that go without saying.
const short = 60

// statusLine is a loop in one line: "iteration 3 of 10 · 1h2m · $0.42 · bash  make test, 14s". Where there is no room for all of
// it, the name of what goes on is cut, and not for how long that has been.
func statusLine(s *projector.State, running *render.Running, now time.Time, columns int) string {
	var parts []string
	switch count := s.Budget.Count(); {
	case count.Begun > 0 && columns < short:
		parts = append(parts, count.Short())
	case count.Begun > 0:
		parts = append(parts, "iteration "+count.Number())
	}
	cost := "cost unknown"
	if usd := s.Budget.Used().USD; usd != nil {
		cost = render.Cost(usd)
	}
	parts = append(parts, elapsed(s.Life.Started, now), cost)
	if pending := s.Pending(); pending != "" {
		parts = append(parts, pending)
	}
	head, since := strings.Join(parts, " · ")+" · ", ""
	what, at := going(s, running, now)
	if took := elapsed(at, now); !at.IsZero() && took != "0s" {
		since = ", " + took
	}
	what = render.Clean(what)
	if room := columns - render.Columns(head+since); room > 0 {
		what = render.Cut(what, room)
	}
	return render.Cut(head+what+since, columns)
}

// going says what goes on now, and since when if that is known.
func going(s *projector.State, running *render.Running, now time.Time) (what string, since time.Time) {
	switch s.Status() {
	case event.StatusPaused:
		return "paused", time.Time{}
	case event.StatusWaiting:
		return "waits for " + local(firstLine(s.Waiting()), now), time.Time{}
	}
	switch s.Life.Phase {
	case policy.Between:
		return "between two iterations", time.Time{}
	case policy.Starting, policy.Turning, policy.Checking, policy.Verifying:
		if what, since := running.Now(); what != "" {
			return what, since
		}
	}
	return phases[s.Life.Phase], time.Time{}
}

// elapsed is the time since a moment, in whole seconds of the clock: a line that tells several of them changes once a
// second at most.
func elapsed(since, now time.Time) string {
	d := max(now.Truncate(time.Second).Sub(since.Truncate(time.Second)), 0)
	if d < 10*time.Second {
		return d.String()
	}
	return render.Span(d)
}
