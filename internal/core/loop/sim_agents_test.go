package loop_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// member is one of several agents of a loop, and what is wrong with it.
type member struct {
	name     string
	limits   int               // percent of its turns that a limit ends
	kinds    []event.FaultKind // of limits
	outages  bool              // its model can be unreachable
	hopeless bool              // it fails at once, with the same error
	refuses  bool              // it does not know one of its flags
	absent   bool              // its program is missing
	clumsy   bool              // starting it fails now and then
	costs    bool              // it reports cost
}

// agentList draws the agents of a run of the third edition; in every second run there is one agent,
// as in earlier editions.
func agentList(r *rand.Rand, s *scenario) {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	names := []string{"one", "two", "three"}[:pick(0, 0, 2, 2, 3)]
	for _, name := range names {
		s.add(drawMember(r, name))
		s.droughts = max(s.droughts, pick(0, 2, 4))
	}
	if len(names) > 0 {
		s.refuses, s.hopeless = false, false
	}
}

// drawMember draws an agent and what is wrong with it.
func drawMember(r *rand.Rand, name string) member {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	kinds := []event.FaultKind{event.KindRate, event.KindOverload, event.KindNetwork, event.KindQuota, event.KindAuth}
	m := member{name: name, costs: r.IntN(2) == 0, outages: r.IntN(2) == 0}
	switch r.IntN(8) {
	case 0, 1, 2:
		m.limits, m.kinds = pick(20, 60, 100), kinds[:pick(1, 3, len(kinds))]
	case 3:
		m.hopeless = true
	case 4:
		m.refuses = true
	case 5:
		m.absent = true
	case 6:
		m.clumsy = true
	}
	return m
}

// add adds an agent to the list.
func (s *scenario) add(m member) {
	s.agents = append(s.agents, m)
	s.rules.Agents = append(s.rules.Agents, event.Agent{Protocol: "sim", Name: m.name})
}

// member returns the agent at a place of the list. The only agent of a loop follows the scenario.
func (s *scenario) member(place int) member {
	if place < len(s.agents) {
		return s.agents[place]
	}
	return member{
		name: "sim", limits: s.limits, kinds: s.kinds, outages: true, hopeless: s.hopeless, refuses: s.refuses, clumsy: true, costs: s.able.costs,
	}
}

// agentListModel holds the notes about an agent while another one works.
type agentListModel struct {
	limit              limit
	failures, instants int
	empties            int
	lastSaid           string
	gone               event.Reason // why it is not tried again
}

// others notes which agent works, and the counts of the others.
type others struct {
	at    int
	aside map[int]agentListModel
	used  map[string]int64 // tokens of the open iteration, by agent
	alive string           // the agent that has a process
	idle  string           // says that the loop waited for a limit although another agent could work
}

// replaced lets another agent work.
func (t *counts) replaced(p event.AgentReplaced) {
	if t.others.aside == nil {
		t.others.aside = map[int]agentListModel{}
	}
	t.others.aside[p.From] = agentListModel{t.limit, t.failures, t.instants, t.empties, t.lastSaid, p.Reason}
	n := t.others.aside[p.To]
	delete(t.others.aside, p.To)
	t.limit, t.failures, t.instants, t.empties, t.lastSaid = n.limit, n.failures, n.instants, n.empties, n.lastSaid
	t.progress.errors, t.progress.problem = 0, ""
	t.failed, t.process.refused = nil, false
	t.others.at = p.To
}

// readOthers notes events about the agents that do not work.
func (t *counts) readOthers(e event.Event) {
	for i, n := range t.others.aside {
		switch e.Type {
		case event.TypeClockJumped, event.TypeLoopUnpaused, event.TypeLoopWaited:
			n.limit.read(e)
		case event.TypeIterationEnded:
			switch as[event.IterationEnded](e).Outcome {
			case event.OutcomeLimited, event.OutcomeUnauthorized, event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeEmpty:
			default:
				if !n.limit.since.IsZero() {
					n.limit.since = e.At // no one waited
				}
			}
		}
		t.others.aside[i] = n
	}
	switch e.Type {
	case event.TypeLoopResumed:
		t.others.at, t.others.aside = 0, nil
	case event.TypeAgentReplaced:
		t.replaced(as[event.AgentReplaced](e))
	case event.TypeTimerFired:
		if as[event.TimerFired](e).Name != policy.TimerLimit || !t.several() {
			return
		}
		for _, place := range t.candidates() {
			if place != t.others.at && t.free(place, t.before) {
				t.others.idle = fmt.Sprintf("a limit of agent %d was waited for, and agent %d could have worked", t.others.at, place)
			}
		}
	case event.TypeAgentExited: // the end of the loop waited for this
		t.others.idle = ""
	case event.TypeIterationStarted:
		t.others.used = map[string]int64{}
	case event.TypeAgentStarted:
		t.others.alive = e.By()
	case event.TypeAgentUsed:
		if p := as[event.AgentUsed](e); t.others.used != nil {
			t.others.used[e.By()] += p.In + p.Out + p.CacheRead + p.CacheWrite
		}
	}
}

func (t *counts) several() bool { return len(t.rules.Agents) > 1 }

// unfit says that the agent could not be started and never can.
func (t *counts) unfit() bool {
	if t.process.refused {
		return true
	}
	if t.failed == nil || t.failed.Do != event.DoStart {
		return false
	}
	switch t.failed.Class {
	case event.ClassMissing, event.ClassPermission, event.ClassConfig:
		return true
	}
	return false
}

// longestWait is longer than any wait without a stated end.
const longestWait = 331 * time.Second

// free reports whether an agent that does not work could work at that moment.
func (t *counts) free(place int, at time.Time) bool {
	n := t.others.aside[place]
	switch {
	case n.gone != "", t.rules.Restart.Max > 0 && n.failures > t.rules.Restart.Max: // a person may have lowered it since
		return false
	case t.rules.Schedule != nil && !t.schedule.passed && t.schedule.overQuota(t.rules, place, at):
		return false
	case n.limit.last == "":
		return true
	case n.limit.stated:
		return !at.Before(n.limit.notBefore.Add(6 * time.Second))
	}
	return at.Sub(n.limit.at) > longestWait
}

// spent reports whether a loop with only that agent would end for that reason; for any reason if it
// is empty.
func (t *counts) spent(place int, reason event.Reason) bool {
	if place == t.others.at {
		for _, r := range reasonsOfAgents {
			if (reason == "" || r == reason) && t.alone(r) {
				return true
			}
		}
		return false
	}
	n, ok := t.others.aside[place]
	if !ok {
		return false
	}
	if n.gone != "" {
		return reason == "" || n.gone == reason
	}
	return (reason == "" || reason == event.ReasonOutage) && n.limit.bearsOut(event.ReasonOutage, t.rules)
}

// reasonsOfAgents are the reasons that end a loop with one agent, and replace one of several.
var reasonsOfAgents = []event.Reason{
	event.ReasonAuth, event.ReasonQuota, event.ReasonOutage, event.ReasonRestarts, event.ReasonEnvironment, event.ReasonAgent, event.ReasonConfig, event.ReasonBreaker,
}

// alone reports whether the current agent would end a loop without other agents, for a reason of
// its own.
func (t *counts) alone(r event.Reason) bool {
	switch r {
	case event.ReasonAuth, event.ReasonQuota, event.ReasonOutage:
		return t.limit.last != "" && t.limit.bearsOut(r, t.rules)
	case event.ReasonConfig:
		return t.process.refused
	case event.ReasonBreaker:
		return t.rules.Breaker.SameError > 0 && t.progress.errors >= t.rules.Breaker.SameError
	case event.ReasonAgent:
		return t.unfit() && !t.process.refused
	}
	return t.bearsOut(r)
}

// checkCrew checks one event of a loop with several agents against the notes about all.
func (w *world) checkCrew(t *counts, e event.Event) {
	if !t.several() {
		return
	}
	name := func(place int) string { return "agent:" + t.rules.Agents[place].Name }
	switch e.Type {
	case event.TypeDecided:
		switch d := as[event.Decided](e); d.Do {
		case event.DoBegin:
			w.checkChosen(t, e, d)
		case event.DoStart, event.DoCommit:
			if d.Agent != t.begun.Agent {
				w.violate(whoDidWhat, "event %d: %s is for agent %d, and the iteration is agent %d's", e.Seq, d.Do, d.Agent, t.begun.Agent)
			}
		}
	case event.TypeAgentStarted:
		if e.By() != name(t.begun.Agent) {
			w.violate(whoDidWhat, "event %d: %s starts in an iteration of %s", e.Seq, e.By(), name(t.begun.Agent))
		}
	case event.TypeAgentSaid, event.TypeToolCalled, event.TypeAgentFinished:
		if e.By() != t.others.alive {
			w.violate(whoDidWhat, "event %d: %s by %s, and %s is at work", e.Seq, e.Type, e.By(), t.others.alive)
		}
	case event.TypeAgentReplaced:
		w.checkReplaced(t, e, as[event.AgentReplaced](e))
	case event.TypeIterationEnded:
		p := as[event.IterationEnded](e)
		if n := p.Usage.In + p.Usage.Out + p.Usage.CacheRead + p.Usage.CacheWrite; n != t.others.used[name(t.begun.Agent)] {
			w.violate(ownMoney, "event %d: the iteration of %s used %d tokens, and that agent reported %d: %v", e.Seq, name(t.begun.Agent), n, t.others.used[name(t.begun.Agent)], t.others.used)
		}
	case event.TypeLoopEnded:
		w.checkExhausted(t, e, as[event.LoopEnded](e))
	}
}

// checkChosen checks that the iteration is for the right agent.
func (w *world) checkChosen(t *counts, e event.Event, d event.Decided) {
	if d.Agent != t.others.at {
		w.violate(whoDidWhat, "event %d: an iteration begins for agent %d, and agent %d works", e.Seq, d.Agent, t.others.at)
	}
	if t.others.idle != "" {
		w.violate(oneIsEnough, "event %d: %s", e.Seq, t.others.idle)
	}
	for _, place := range t.candidates() {
		if place < d.Agent && t.free(place, e.At) {
			w.violate(firstAgain, "event %d: an iteration begins for agent %d, and agent %d is preferred and can work", e.Seq, d.Agent, place)
		}
	}
}

func (w *world) checkReplaced(t *counts, e event.Event, p event.AgentReplaced) {
	if p.From != t.others.at || p.To == p.From || t.inside {
		w.violate(whoDidWhat, "event %d: agent %d takes over from %d, and agent %d works, within an iteration: %v", e.Seq, p.To, p.From, t.others.at, t.inside)
	}
	if p.Reason != "" && !t.alone(p.Reason) {
		w.violate(reasonHolds, "event %d: agent %d is not tried again for %s (%s), and the journal says otherwise", e.Seq, p.From, p.Reason, p.Why)
	}
	if t.others.aside[p.To].gone != "" {
		w.violate(goneIsGone, "event %d: agent %d takes over, and was not to be tried again: %s", e.Seq, p.To, t.others.aside[p.To].gone)
	}
}

// checkExhausted checks, if the loop ends because of an agent, that no agent can work.
func (w *world) checkExhausted(t *counts, e event.Event, p event.LoopEnded) {
	if !t.ofAgents(p) {
		return
	}
	among := t.candidates()
	for _, place := range among {
		if !t.spent(place, "") {
			w.violate(oneIsEnough, "event %d: the loop ends by %s (%s), and agent %d can work", e.Seq, p.Reason, p.Why, place)
		}
	}
	if !t.spent(among[0], p.Reason) {
		w.violate(reasonHolds, "event %d: the loop ends by %s (%s), and that is not what is wrong with the preferred agent", e.Seq, p.Reason, p.Why)
	}
}

// ofAgents reports whether a loop with several agents ends because none can work.
func (t *counts) ofAgents(p event.LoopEnded) bool {
	switch p.Reason {
	case event.ReasonAuth, event.ReasonQuota, event.ReasonOutage, event.ReasonRestarts, event.ReasonEnvironment, event.ReasonAgent:
		return true
	case event.ReasonBreaker:
		return t.progress.stop == nil
	case event.ReasonConfig:
		return !t.fault && (t.failed == nil || t.failed.Do != event.DoBegin)
	}
	return false
}

// The invariants of loops with several agents.
const (
	// An iteration, its start, its commit and its events belong to one agent.
	whoDidWhat = "the journal says who did what"
	// An iteration is for the first of the list that can work.
	firstAgain = "the preferred agent works again"
	// If one agent can work, the loop neither waits for another nor ends because of another.
	oneIsEnough = "one agent that can work is enough"
	// An iteration's usage is what its own agent reported.
	ownMoney = "usage counts for the agent that used it"
	// An agent that is not to be tried again is not tried before a person resumes the loop.
	goneIsGone = "an agent that is out is not tried again"
	// An iteration counts once, and a refunded one not at all.
	countedOnce = "an iteration counts once"
)

// threeAgents is a scenario with three agents: two with limits, and one that works.
func threeAgents(s *scenario) {
	s.agents, s.rules.Agents = nil, nil
	for _, m := range []member{
		{name: "one", limits: 60, kinds: []event.FaultKind{event.KindRate}},
		{name: "two", limits: 60, kinds: []event.FaultKind{event.KindRate, event.KindOverload}},
		{name: "three"},
	} {
		s.agents = append(s.agents, m)
		s.rules.Agents = append(s.rules.Agents, event.Agent{Protocol: "sim", Name: m.name})
	}
	s.droughts, s.outage, s.rules.Limits.MaxOutage, s.claims, s.asks, s.leaves = 10, 0, 0, 0, 0, 0
	s.rules.MaximumIterations, s.rules.Context, s.commands, s.skews, s.sleeps, s.startFailed = 10, "fresh", 0, false, false, 0
}

// loggedOut is a scenario whose first agent is not logged in.
func loggedOut(s *scenario) {
	threeAgents(s)
	s.agents[0].limits, s.agents[0].kinds = 100, []event.FaultKind{event.KindAuth}
}

// oneWorkingAgent is a scenario in which only the last agent works.
func oneWorkingAgent(s *scenario) {
	threeAgents(s)
	s.agents[0].absent, s.agents[1].hopeless = true, true
	s.rules.Restart.Max, s.disasters = 5, 0
}

var wrongAgents = []wrong{
	{"a limit of an agent that waits is forgotten", mutation{folded: always(func(s *loopstate.State) {
		for i := range s.Failover.Aside {
			s.Failover.Aside[i].Limits.NotUntil = time.Time{}
		}
	}), unfolded: true, stage: threeAgents}, resetsHold},
	{"a replaced agent is never tried again", mutation{folded: after(event.TypeAgentReplaced, func(s *loopstate.State) {
		if s.Failover.Agent != 0 {
			s.Failover.Aside[0].Reason = event.ReasonAgent
		}
	}), unfolded: true, stage: threeAgents}, firstAgain},
	{"an agent that is out is tried again", mutation{folded: after(event.TypeAgentReplaced, func(s *loopstate.State) {
		for i := range s.Failover.Aside {
			s.Failover.Aside[i] = policy.AgentRecord{}
		}
	}), unfolded: true, stage: loggedOut}, goneIsGone},
	{"an iteration starts another agent than its own", mutation{folded: after(event.TypeIterationStarted, func(s *loopstate.State) {
		s.Worker.Agent = (s.Worker.Agent + 1) % len(s.Rules.Agents)
	}), unfolded: true, stage: threeAgents}, whoDidWhat},
	{"the last agent is forgotten", mutation{folded: always(func(s *loopstate.State) {
		if n := len(s.Rules.Agents); n > 2 && s.Failover.Agent < 2 && len(s.Failover.Aside) > 2 {
			s.Failover.Aside[2].Reason = event.ReasonAgent
		}
	}), unfolded: true, stage: oneWorkingAgent}, oneIsEnough},
	{"one agent's limit stops all", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) {
		if until := s.Failover.Limits.NotUntil; until.After(s.At) {
			s.Failover.Aside = make([]policy.AgentRecord, len(s.Rules.Agents))
			for i := range s.Failover.Aside {
				s.Failover.Aside[i].Limits = s.Failover.Limits
				s.Failover.Aside[i].Limits.NotUntil = until.Add(time.Hour)
			}
		}
	}), unfolded: true, stage: threeAgents}, oneIsEnough},
	{"one agent's usage counts for another", mutation{folded: after(event.TypeIterationStarted, func(s *loopstate.State) {
		s.Budget.Current.Usage.In += 7
		s.Budget.Total.Usage.In -= 7
	}), unfolded: true, stage: threeAgents}, ownMoney},
	{"the next agent gets a free iteration", mutation{folded: after(event.TypeAgentReplaced, func(s *loopstate.State) { s.Budget.Counted-- }), unfolded: true, stage: func(s *scenario) {
		threeAgents(s)
		s.rules.MaximumIterations, s.claims = 200, 20
	}}, countedOnce},
}
