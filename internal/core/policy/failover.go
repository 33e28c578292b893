package policy

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Failover says which of the loop's agents works. The settings name them in order of preference,
// and each iteration is for the first of them that can work when it begins. An agent cannot work
// while it waits for a limit or an outage to pass: until the moment that was stated, else for its
// own growing delay. It is not tried again before a person resumes the loop if it is not logged in,
// its account has nothing left, it is not installed, it refuses its flags, or it failed often
// enough to end a loop without other agents. Each agent has its own counts of limits and failures.
// An outage is too long only if no agent worked during it. If no agent can work now, the loop waits
// for the one that can be tried earliest. When no agent is to be tried again, the loop ends for the
// preferred agent's reason.
type Failover struct {
	// index of the current agent in the list
	Agent       int           `json:"agent,omitempty"`
	AgentRecord               // of the current agent
	Aside       []AgentRecord `json:"aside,omitempty"` // of the other agents, by index
}

// AgentRecord holds the counts of one agent.
type AgentRecord struct {
	Limits  Limits       `json:"limits"`
	Restart Restart      `json:"restart"`
	Reason  event.Reason `json:"reason,omitempty"` // why it is not tried again
	Why     string       `json:"why,omitempty"`
	Hint    string       `json:"hint,omitempty"`
	// Held is until when its account may not be used, by limits.window; HeldWhy says why.
	Held    time.Time `json:"held,omitzero"`
	HeldWhy string    `json:"heldWhy,omitempty"`
}

// Availability says whether an agent can work.
type Availability struct {
	Until  time.Time    // it cannot work before this moment
	Reason event.Reason // why a loop without other agents would end; empty if it would not
	Why    string       // a sentence that explains Until or Reason
	Hint   string
	// Passes says that the reason may pass by itself: it ends the loop only if every other agent
	// has a reason too.
	Passes bool
}

// Gone reports that the agent is not to be tried again.
func (s Availability) Gone() bool { return s.Reason != "" && !s.Passes }

// Apply folds one event. was is the loop before it.
func (f *Failover) Apply(at time.Time, p event.Payload, was *Lifecycle) {
	f.Limits.Apply(at, p, was.ID)
	f.Restart.Apply(at, p, was)
	switch p := p.(type) {
	case event.LoopStarted, event.LoopResumed:
		*f = Failover{}
	case event.ClockJumped, event.LoopUnpaused, event.LoopWaited:
		f.Aside = slices.Clone(f.Aside)
		for i := range f.Aside {
			f.Aside[i].Limits.Apply(at, p, was.ID)
		}
	case event.IterationEnded:
		f.worked(p.Outcome, at)
	case event.AgentReplaced:
		f.replace(p, len(was.Rules.Agents))
	case event.AgentHeld:
		f.hold(p, len(was.Rules.Agents))
	case event.LoopReleased:
		if p.Person {
			f.Held, f.HeldWhy, f.Aside = time.Time{}, "", slices.Clone(f.Aside)
			for i := range f.Aside {
				f.Aside[i].Held, f.Aside[i].HeldWhy = time.Time{}, ""
			}
		}
	}
}

// hold keeps one agent from being chosen, or no longer.
func (f *Failover) hold(p event.AgentHeld, agents int) {
	why := firstBytes(p.Why, problemMost)
	switch {
	case p.Agent == f.Agent:
		f.Held, f.HeldWhy = p.Until, why
	case p.Agent >= 0 && p.Agent < agents:
		aside := make([]AgentRecord, max(agents, len(f.Aside)))
		copy(aside, f.Aside)
		aside[p.Agent].Held, aside[p.Agent].HeldWhy = p.Until, why
		f.Aside = aside
	}
}

// held returns until when an agent is held, and why; zero if it is not.
func (f *Failover) held(agent int) (until time.Time, why string) {
	switch {
	case agent == f.Agent:
		return f.Held, f.HeldWhy
	case agent < len(f.Aside):
		return f.Aside[agent].Held, f.Aside[agent].HeldWhy
	}
	return time.Time{}, ""
}

// worked restarts the outages of all others: the loop was not waiting.
func (f *Failover) worked(outcome event.Outcome, at time.Time) {
	switch outcome {
	case event.OutcomeLimited, event.OutcomeUnauthorized, event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeEmpty:
		return
	}
	f.Aside = slices.Clone(f.Aside)
	for i := range f.Aside {
		if l := &f.Aside[i].Limits; !l.Since.IsZero() {
			l.Since = at
		}
	}
}

func (f *Failover) replace(p event.AgentReplaced, agents int) {
	if p.To < 0 || p.To >= agents || p.To == f.Agent || f.Agent >= agents {
		return // the event is about another list of agents
	}
	aside := make([]AgentRecord, agents)
	copy(aside, f.Aside)
	f.Reason, f.Why, f.Hint = p.Reason, firstBytes(p.Why, problemMost), firstBytes(p.Hint, problemMost)
	aside[f.Agent] = f.AgentRecord
	next := AgentRecord{Limits: aside[p.To].Limits, Restart: aside[p.To].Restart, Held: aside[p.To].Held, HeldWhy: aside[p.To].HeldWhy}
	aside[p.To] = AgentRecord{}
	*f = Failover{Agent: p.To, AgentRecord: next, Aside: aside}
}

// Availability returns what follows from the agent's counts.
func (a *AgentRecord) Availability(r event.Rules) Availability {
	l, s := &a.Limits, &a.Restart
	over, why, hint := l.Over(r)
	passes := over == event.ReasonOutage
	if reason, why := s.Fatal(r); reason != "" && (over == "" || passes) { // an outage may pass, and this does not
		return Availability{Reason: reason, Why: why,
			Hint: "run the agent's command by hand; 'ralph logs --type agent.exited' has all that it printed at its end"}
	}
	if over != "" {
		return Availability{Until: l.NotUntil, Reason: over, Why: why, Hint: hint, Passes: passes}
	}
	if a.Held.After(l.NotUntil) {
		return Availability{Until: a.Held, Why: a.HeldWhy}
	}
	return Availability{Until: l.NotUntil, Why: l.Trouble()}
}

// Of returns the availability of any agent of the list. current is that of the current agent.
func (f *Failover) Of(agent int, current Availability, r event.Rules) Availability {
	if agent == f.Agent {
		return current
	}
	if agent >= len(f.Aside) {
		return Availability{} // it was never tried
	}
	a := &f.Aside[agent]
	if a.Reason != "" {
		return Availability{Reason: a.Reason, Why: a.Why, Hint: a.Hint}
	}
	return a.Availability(r)
}

// Choose returns the agent for the next iteration, of those at these places: the first that can
// work now, else the one that can be tried earliest. It reports false if none is to be tried again.
func (f *Failover) Choose(among []int, current Availability, now time.Time, r event.Rules) (agent int, ok bool) {
	var earliest time.Time
	agent = -1
	for _, i := range among {
		candidate := f.Of(i, current, r)
		if candidate.Gone() {
			continue
		}
		ok = ok || candidate.Reason == ""
		from := candidate.Until
		if from.Before(now) {
			from = now
		}
		if agent < 0 || from.Before(earliest) {
			agent, earliest = i, from
		}
	}
	return agent, ok
}
