package policy

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Schedule says whether the next iteration has to wait for its turn: for a time, another loop or a
// quota that the start named, or because its account has used what limits.window allows. What lies
// outside of the journal is observed before each iteration, when the moment of a hold has passed,
// and when it changes during a wait. The conditions of the start are met once. A person may let the
// loop go on all the same, for one iteration.
type Schedule struct {
	Observing bool `json:"observing,omitempty"` // schedule.observe was decided, and is not answered
	// Observed is nil if nothing is known for the next iteration.
	Observed *event.ScheduleObserved `json:"observed,omitempty"`
	At       time.Time               `json:"at,omitzero"` // when that was observed
	Passed   bool                    `json:"passed,omitempty"`
}

const (
	// observeAfter is how long the loop waits where the end of another one is not noticed.
	observeAfter = time.Minute

	accountsMost = 64 // accounts and spans of an observation that are kept
	windowsMost  = 16 // windows of an account that are kept
)

// Apply folds one event.
func (s *Schedule) Apply(at time.Time, p event.Payload) {
	switch p := p.(type) {
	case event.LoopStarted, event.LoopResumed:
		*s = Schedule{}
	case event.Decided:
		s.Observing = s.Observing || p.Do == event.DoObserve
	case event.ScheduleObserved:
		// What comes after its wait is about the iteration before.
		if !p.Changed && s.Observing || p.Changed && s.Observed != nil {
			s.Observing = s.Observing && p.Changed
			s.observed(at, p)
		}
	case event.EffectFailed:
		if p.Do == event.DoObserve && s.Observing {
			s.Observing = false
			s.observed(at, event.ScheduleObserved{})
		}
	case event.LoopWaiting:
		if p.For != event.WaitHeld { // it is observed again after this wait
			s.Observed = nil
		}
	case event.LoopWaited:
		if p.For == event.WaitPerson {
			s.Observed = nil
		}
	case event.LoopUnpaused:
		s.Observed = nil
	case event.LoopReleased:
		s.Passed = s.Passed || p.Person
	case event.IterationStarted:
		*s = Schedule{}
	}
}

func (s *Schedule) observed(at time.Time, p event.ScheduleObserved) {
	p.Accounts = append([]event.AccountObserved(nil), p.Accounts[:min(len(p.Accounts), accountsMost)]...)
	for i := range p.Accounts {
		p.Accounts[i].Windows = p.Accounts[i].Windows[:min(len(p.Accounts[i].Windows), windowsMost)]
	}
	if p.After != nil {
		p.After = &event.LoopObserved{Name: firstBytes(p.After.Name, nameMost), Ended: p.After.Ended, Died: p.After.Died}
	}
	p.Spent = p.Spent[:min(len(p.Spent), accountsMost)]
	s.Observed, s.At = &p, at
}

// Due reports whether the next iteration depends on what has to be observed now.
func (s *Schedule) Due(l *Lifecycle, f *Failover, now time.Time) bool {
	start := l.When
	switch {
	case start != nil && startsAt(start).After(now):
		return false
	case (len(l.Rules.Schedule.Windows) == 0 || s.Passed) && (start == nil || start.After == "" && start.Quota == 0):
		return false
	case s.Observed == nil, l.Hold != nil && s.expired(l.Hold.Until, now), s.expired(s.Again(l), now):
		return true
	}
	for i := range l.Rules.Agents {
		if held, _ := f.held(i); s.expired(held, now) {
			return true
		}
	}
	return false
}

// expired reports whether a moment has passed since the observation.
func (s *Schedule) expired(moment, now time.Time) bool {
	return moment.After(s.At) && !moment.After(now)
}

// Again returns when another loop has to be observed again, because its end is not noticed; zero if
// it is.
func (s *Schedule) Again(l *Lifecycle) time.Time {
	if s.Observed == nil || !s.Observed.Unwatched || l.Hold == nil || !l.Hold.Until.IsZero() {
		return time.Time{}
	}
	return s.At.Add(observeAfter)
}

// Hold returns what holds the loop; nil if nothing does.
func (s *Schedule) Hold(l *Lifecycle, now time.Time) *event.LoopHeld {
	if l.When != nil {
		if hold := s.startHold(l.When, now); hold != nil {
			return hold
		}
	}
	if s.Passed || s.Observed == nil {
		return nil
	}
	// With several agents those whose quota is used are held one by one.
	if until, why := s.quota(0, l.Rules.Schedule.Windows, now); len(l.Rules.Agents) < 2 && why != "" {
		return &event.LoopHeld{Until: until, Why: why}
	}
	for _, w := range l.Rules.Schedule.Windows {
		for _, spent := range s.Observed.Spent {
			until := spent.Since.Add(w.Span.Std())
			if spent.Window == w.Name && w.USD > 0 && spent.USD >= w.USD && until.After(now) {
				why := fmt.Sprintf("the loops of this account spent %s in %s, and limits.window allows %s", units.Cost(&spent.USD), w.Name, units.Cost(&w.USD))
				return &event.LoopHeld{Until: until, Why: why}
			}
		}
	}
	return nil
}

// startHold returns which condition of the start is not met.
func (s *Schedule) startHold(w *event.When, now time.Time) *event.LoopHeld {
	if at := startsAt(w); at.After(now) {
		return &event.LoopHeld{Until: at, Why: "it starts at " + at.Format("15:04 on Mon 2 Jan"), Start: true}
	}
	if s.Observed == nil {
		return nil
	}
	if other := s.Observed.After; w.After != "" && other != nil && !other.Ended {
		why := "loop " + other.Name + " has to end first"
		if other.Died {
			why += ", and its runner died: 'ralph start " + other.Name + " --resume' continues it"
		}
		return &event.LoopHeld{Why: why, Start: true}
	}
	if used, resets := s.used(0, 0, now); w.Quota > 0 && 100-used <= w.Quota {
		why := fmt.Sprintf("%.0f%% of the account's quota are left, and it starts with more than %g%%", 100-used, w.Quota)
		return &event.LoopHeld{Until: resets, Why: why, Start: true}
	}
	return nil
}

// startsAt returns the time of the start. The journal's clock counts microseconds: with a
// finer moment, the timer would fire again and again.
func startsAt(w *event.When) time.Time { return w.At.Truncate(time.Millisecond) }

// HeldAgents returns which of several agents are held, or no longer, other than before.
func (s *Schedule) HeldAgents(l *Lifecycle, f *Failover, now time.Time) (changes []event.AgentHeld) {
	if len(l.Rules.Agents) < 2 || s.Passed || s.Observed == nil {
		return nil
	}
	for i := range l.Rules.Agents {
		until, why := s.quota(i, l.Rules.Schedule.Windows, now)
		if before, _ := f.held(i); !before.Equal(until) {
			changes = append(changes, event.AgentHeld{Agent: i, Until: until, Why: why})
		}
	}
	return changes
}

// quota returns until when the account of an agent has used too much of what its vendor allows.
func (s *Schedule) quota(agent int, windows []event.Window, now time.Time) (until time.Time, why string) {
	for _, w := range windows {
		used, resets := s.used(agent, int(w.Span.Std()/time.Minute), now)
		if w.Percent > 0 && used >= w.Percent {
			return resets, fmt.Sprintf("%.0f%% of the account's quota of %s are used, and limits.window allows %g%%", used, w.Name, w.Percent)
		}
	}
	return time.Time{}, ""
}

// used returns how much of an account's windows of some length is used, in percent, and when the
// fullest of them begins again. minutes 0 means any length. A window that has begun again since is
// empty.
func (s *Schedule) used(agent, minutes int, now time.Time) (used float64, resets time.Time) {
	if agent >= len(s.Observed.Accounts) {
		return 0, time.Time{}
	}
	account := s.Observed.Accounts[agent]
	for _, w := range account.Windows {
		until, err := time.Parse(time.RFC3339, w.Resets)
		if err != nil {
			until = account.At.Add(time.Duration(w.Minutes) * time.Minute)
		}
		if (minutes == 0 || w.Minutes == minutes) && w.Used > used && until.After(now) {
			used, resets = w.Used, until
		}
	}
	return used, resets
}
