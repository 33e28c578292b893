package policy

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Failover says which of the loop's agents works. The settings name them in order of preference,
// and each iteration is for the first of them that can work when it begins. An agent cannot work
// while it waits for a limit or an outage to pass: until the moment that was stated, else for its own
// growing delay. It is not tried again at all, before a person resumes the loop, when it is not logged in, has nothing
// left, is not installed, refuses its flags, or failed as often as would have ended a loop that has
// no other. Each agent has its own counts of limits and failures, so that the outage of one says
// nothing against another, and an outage is too long only when nobody worked in it. Where no agent
// can work now, the loop waits for the one that can be tried first. When none is to be tried
// again, the loop ends for the reason of the one that it would rather have had.
type Failover struct {
	Agent int     `json:"agent,omitempty"` // the place of the one that works in the list; 0 is the first
	Aside []Aside `json:"aside,omitempty"` // what is kept of the others, by their places
}

// Aside is what is kept of an agent while another one works.
type Aside struct {
	Limits  Limits       `json:"limits"`
	Restart Restart      `json:"restart"`
	Reason  event.Reason `json:"reason,omitempty"` // why it is not tried again
	Why     string       `json:"why,omitempty"`
	Hint    string       `json:"hint,omitempty"`
}

// Standing says whether an agent can work.
type Standing struct {
	Until  time.Time    // it cannot before
	Reason event.Reason // why a loop that has no other agent would end; empty where it would not
	Why    string       // one sentence about either
	Hint   string
	// Passes says that the reason may pass by itself, so that it is an end only where all others have one.
	Passes bool
}

// Gone reports that the agent is not to be tried again.
func (s Standing) Gone() bool { return s.Reason != "" && !s.Passes }

// Apply folds one event, after the counts of the agent that works have taken it. They are
// exchanged when another one takes over.
func (f *Failover) Apply(e event.Event, r event.Rules, limits *Limits, restart *Restart) error {
	switch e.Type {
	case event.TypeLoopStarted, event.TypeLoopResumed:
		*f = Failover{}
	case event.TypeClockJumped, event.TypeLoopUnpaused:
		for i := range f.Aside {
			if err := f.Aside[i].Limits.Apply(e); err != nil {
				return err
			}
		}
	case event.TypeIterationEnded:
		if len(f.Aside) == 0 {
			return nil
		}
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		f.worked(p.Outcome, e.At)
	case event.TypeAgentReplaced:
		p, err := event.As[event.AgentReplaced](e)
		if err != nil {
			return err
		}
		f.replace(p, r, limits, restart)
	}
	return nil
}

// worked lets the waiting of all others begin anew: the loop was not waiting.
func (f *Failover) worked(outcome event.Outcome, at time.Time) {
	switch outcome {
	case event.OutcomeLimited, event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeEmpty:
		return
	}
	for i := range f.Aside {
		if l := &f.Aside[i].Limits; !l.Since.IsZero() {
			l.Since = at
		}
	}
}

func (f *Failover) replace(p event.AgentReplaced, r event.Rules, limits *Limits, restart *Restart) {
	if p.To < 0 || p.To >= len(r.Agents) || p.To == f.Agent || f.Agent >= len(r.Agents) {
		return // of a list that is not this one
	}
	aside := make([]Aside, len(r.Agents))
	copy(aside, f.Aside)
	aside[f.Agent] = Aside{
		Limits: *limits, Restart: *restart,
		Reason: p.Reason, Why: firstBytes(p.Why, problemMost), Hint: firstBytes(p.Hint, problemMost),
	}
	loop := limits.Loop
	*limits, *restart = aside[p.To].Limits, aside[p.To].Restart
	limits.Loop = loop
	aside[p.To] = Aside{}
	f.Agent, f.Aside = p.To, aside
}

// Stand says what the counts of an agent come to.
func Stand(l *Limits, s *Restart, r event.Rules) Standing {
	if reason, why, hint := l.Over(r); reason != "" {
		return Standing{Until: l.NotUntil, Reason: reason, Why: why, Hint: hint, Passes: reason == event.ReasonOutage}
	}
	if reason, why := s.Fatal(r); reason != "" {
		return Standing{Reason: reason, Why: why, Hint: "run the agent's command by hand; 'ralph logs --type agent.exited' has all that it printed at its end"}
	}
	return Standing{Until: l.NotUntil, Why: l.Trouble()}
}

// Standing returns that of any agent of the list. current is what is known of the one that works.
func (f *Failover) Standing(agent int, current Standing, r event.Rules) Standing {
	if agent == f.Agent {
		return current
	}
	if agent >= len(f.Aside) {
		return Standing{} // it was never tried
	}
	a := &f.Aside[agent]
	if a.Reason != "" {
		return Standing{Reason: a.Reason, Why: a.Why, Hint: a.Hint}
	}
	return Stand(&a.Limits, &a.Restart, r)
}

// Choose returns the agent for the next iteration: the first that can work now, else the one that
// can be tried first. It reports false where none is to be tried again.
func (f *Failover) Choose(current Standing, now time.Time, r event.Rules) (agent int, ok bool) {
	var earliest time.Time
	agent = -1
	for i := range r.Agents {
		standing := f.Standing(i, current, r)
		if standing.Gone() {
			continue
		}
		ok = ok || standing.Reason == ""
		from := standing.Until
		if from.Before(now) {
			from = now
		}
		if agent < 0 || from.Before(earliest) {
			agent, earliest = i, from
		}
	}
	return agent, ok
}
