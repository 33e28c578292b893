package render

import (
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// ahead knows when the next iteration may begin: no event says so, because the waiting follows
// from those that are there. It is the policies that the loop itself decides by.
type ahead struct {
	known    bool // they have seen the loop from a beginning on
	rules    event.Rules
	exitEnds bool
	limits   policy.Limits
	restart  policy.Restart
}

func (a *ahead) resume(s *projector.State) {
	*a = ahead{
		known: true, rules: s.Budget.Rules, exitEnds: s.Life.Process.ExitEnds, limits: s.Limits, restart: s.Restart,
	}
}

// apply folds one event. What cannot be read is told where it is shown.
func (a *ahead) apply(e event.Event) {
	switch e.Type {
	case event.TypeLoopStarted:
		if p, err := event.As[event.LoopStarted](e); err == nil {
			*a = ahead{known: true, rules: p.Rules}
		}
	case event.TypeLoopResumed:
		if p, err := event.As[event.LoopResumed](e); err == nil && p.Rules != nil {
			a.rules, a.known = *p.Rules, true
		}
	case event.TypeLoopConfigured:
		if p, err := event.As[event.LoopConfigured](e); err == nil {
			a.rules = p.Rules
		}
	case event.TypeAgentStarted:
		if p, err := event.As[event.AgentStarted](e); err == nil {
			a.exitEnds = p.ExitEnds
		}
	}
	if a.limits.Apply(e) != nil || a.restart.Apply(e, a.rules, a.exitEnds) != nil {
		a.known = false
	}
}

// pause is how long a wait has to be to be told.
const pause = 2 * time.Second

// next returns before which moment no iteration begins; false where that is as good as now. Of several
// agents another one may go on at once, which agent.replaced tells.
func (a *ahead) next(e event.Event) (time.Time, bool) {
	at := a.limits.NotUntil
	if a.restart.NotUntil.After(at) {
		at = a.restart.NotUntil
	}
	return at, a.known && len(a.rules.Agents) < 2 && at.Sub(e.At) >= pause
}
