package attach

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// liveStatus composes the status line from the events that attach shows. The events come from one
// goroutine and the clock from another.
type liveStatus struct {
	mu      sync.Mutex
	loop    *projector.Loop
	running render.Running
	unknown bool // an event could not be folded, or there is no runner any more
}

// NewLiveStatus returns the status of a loop, and folds what follows into it.
func NewLiveStatus(loop *projector.Loop) *liveStatus {
	return &liveStatus{loop: loop, running: render.Running{Project: loop.View().Project}}
}

// Event folds an event. It may be one that the loop has folded already.
func (p *liveStatus) Event(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running.Event(e)
	if !p.unknown && e.Seq > p.loop.Seq() {
		p.unknown = p.loop.Fold(e) != nil
	}
}

// end clears the status of a loop without a runner.
func (p *liveStatus) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unknown = true
}

// tailLines is how many lines are shown of the output of a running tool.
const tailLines = 3

// Line returns the status in so many columns, and the last lines of the running tool.
func (p *liveStatus) Line(now time.Time, columns int) (status string, tail []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.loop.View()
	if p.unknown || v.Ended != nil || v.Since.IsZero() {
		return "", nil
	}
	return statusLine(v, &p.running, now, columns), p.running.Tail(tailLines)
}

// short is the number of columns below which the status is abbreviated.
const short = 60

// statusLine describes a loop in one line: "iteration 3 of 10 · 1h2m · $0.42 · bash make test,
// 14s". If it is too long, the name of the activity is cut, but not its duration.
func statusLine(v projector.View, running *render.Running, now time.Time, columns int) string {
	var parts []string
	count := units.Count{Begun: v.Begun, Refunded: v.Refunded, Maximum: v.MaximumIterations}
	switch {
	case count.Begun > 0 && columns < short:
		parts = append(parts, count.Short())
	case count.Begun > 0:
		parts = append(parts, "iteration "+count.Number())
	}
	if v.Stories > 0 && columns >= short {
		parts = append(parts, fmt.Sprintf("stories %d/%d", v.StoriesDone, v.Stories))
	}
	parts = append(parts, elapsed(v.Since, now), cost(v.Cost))
	if v.Pending != "" {
		parts = append(parts, v.Pending)
	}
	head, since := strings.Join(parts, " · ")+" · ", ""
	what, at := activity(v, running, now)
	if took := elapsed(at, now); !at.IsZero() && took != "0s" {
		since = ", " + took
	}
	what = render.Clean(what)
	if room := columns - render.Columns(head+since); room > 0 {
		what = render.Cut(what, room)
	}
	return render.Cut(head+what+since, columns)
}

// activity returns what happens now, and since when if that is known.
func activity(v projector.View, running *render.Running, now time.Time) (what string, since time.Time) {
	switch v.Status {
	case event.StatusPaused:
		return "paused", time.Time{}
	case event.StatusWaiting:
		return "waits for " + cli.Local(units.FirstLine(v.Waiting), now), time.Time{}
	}
	if !v.Open {
		return "between two iterations", time.Time{}
	}
	if what, since := running.Now(); what != "" {
		return what, since
	}
	return v.Doing, time.Time{}
}

// elapsed is the time since a moment, in whole seconds of the clock: a line with several of them
// changes once a second at most.
func elapsed(since, now time.Time) string {
	d := max(now.Truncate(time.Second).Sub(since.Truncate(time.Second)), 0)
	if d < 10*time.Second {
		return d.String()
	}
	return units.Span(d)
}

func cost(usd *float64) string {
	if usd == nil {
		return "cost unknown"
	}
	return units.Cost(usd)
}
