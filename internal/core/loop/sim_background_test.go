package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// What agents of the fourth edition put into the background, how long they may be silent, and what
// the next prompt reports.

// The invariants of work in the background.
const (
	// An agent at its turn is not silent for longer than its limit: that of an agent, of a tool, or
	// of work in the background.
	silenceEnds = "a silence has its end"
	// The next prompt names what was left running in the background, and nothing that had ended.
	leftIsReported = "what is left running is reported"
)

// job is work in the background: the result of the turn does not wait for it.
type job struct{ name string }

// putAside puts work into the background. Some of it never ends by itself.
func (a *agent) putAside() []event.Payload {
	w := a.w
	j := &job{w.long([]string{"make bench", "make test", "make docs"}[w.rng.IntN(3)])}
	a.jobs = append(a.jobs, j)
	if w.chance(70) {
		w.schedule(a.h.r, w.span(0, []time.Duration{time.Minute, time.Hour, 3 * time.Hour}[w.rng.IntN(3)]), func() { a.jobEnds(j) })
	}
	if !a.able.tools || w.chance(20) {
		return []event.Payload{a.running()}
	}
	id := fmt.Sprint("t", w.facts)
	return []event.Payload{
		event.ToolCalled{ID: id, Name: "bash", Input: []byte(`{"command":"make &"}`)},
		a.running(),
		event.ToolReturned{ID: id, OK: true, Output: event.Plain("it runs")},
	}
}

// running reports what runs in the background now.
func (a *agent) running() event.AgentNoticed {
	var names []string
	for _, j := range a.jobs {
		names = append(names, j.name)
	}
	return event.AgentNoticed{What: event.NoticeBackground, Text: strings.Join(names, ", ")}
}

// jobEnds reports the end of a job to the agent, which may have waited for it.
func (a *agent) jobEnds(j *job) {
	if !a.alive || !slices.Contains(a.jobs, j) {
		return
	}
	a.jobs = slices.DeleteFunc(a.jobs, func(other *job) bool { return other == j })
	a.print(a.running())
	if a.held && len(a.jobs) == 0 {
		a.held = false
		a.act(a.w.rng.IntN(3))
	}
}

// waits reports whether the agent keeps its result until its work in the background has ended. Not
// all agents do.
func (a *agent) waits() bool {
	if len(a.jobs) == 0 || !a.w.chance(70) {
		return false
	}
	a.held = true
	a.print(event.AgentNoticed{What: "result/ok"})
	if a.w.chance(30) {
		a.soon(a.w.span(0, 40*time.Minute), func() { a.print(event.AgentUnparsed{}) })
	}
	return true
}

// strays ends the processes besides the agent when the agent is parked or gone, and returns their
// number. A parked agent has at most helpers of its own.
func (a *agent) strays() int {
	if a.w.scenario.background == 0 {
		return 0
	}
	n := len(a.jobs)
	if a.jobs = nil; a.resting && a.w.chance(30) {
		n++
	}
	if n > 0 && a.w.chance(30) {
		a.w.schedule(a.h.r, a.w.span(0, 5*time.Second), func() {
			if a.alive && !a.leaving {
				a.print(a.running()) // it notices that late
			}
		})
	}
	return n
}

// patience returns how long the agent may be silent now, and whose silence it is.
func (m *meter) patience() (limit event.Duration, whose string) {
	switch {
	case len(m.busy) > 0:
		return m.rules.Limits.Tool, "a tool"
	case m.aside:
		return m.rules.Limits.Tool, "work in the background"
	}
	return m.rules.Limits.Idle, "the agent"
}

// sign notes a sign of life.
func (r *runner) sign() {
	if r.meter.turn {
		r.checkSilence()
	}
	r.heard.last = r.w.now
}

// checkSilence checks that the agent was not silent for too long. If clocks are set or the machine
// sleeps, that is unknown.
func (r *runner) checkSilence() {
	limit, whose := r.meter.patience()
	silent := r.w.now.Sub(r.heard.last)
	if !r.heard.turn || limit == 0 || r.w.scenario.skews || r.w.scenario.sleeps {
		return
	}
	if silent > limit.Std()+clocksDiffer {
		r.w.violate(silenceEnds, "%s was silent for %s of %s, and was not ended", whose, silent, limit)
	}
}

// leftovers notes what iterations leave running.
type leftovers struct {
	open     string // what runs in the background, as the agent last reported
	untooled bool   // the agent reports its tools, and has called none
	now      []string
	reported []string // for the next prompt
}

func (n *leftovers) read(e event.Event, before *processNote, unread bool) {
	switch e.Type {
	case event.TypeIterationStarted:
		n.open, n.now, n.untooled = "", nil, false
	case event.TypeAgentStarted:
		n.untooled = as[event.AgentStarted](e).Tools
	case event.TypeToolCalled:
		n.untooled = false
	case event.TypeAgentNoticed:
		if p := as[event.AgentNoticed](e); p.What == event.NoticeBackground {
			n.open = p.Text[:min(len(p.Text), 500)]
		}
	case event.TypeAgentParked:
		n.strays(as[event.AgentParked](e).Strays)
	case event.TypeAgentExited:
		if !before.resting { // else everything that ran was ended when it was parked
			n.strays(as[event.AgentExited](e).Strays)
		}
	case event.TypeIterationEnded:
		if n.open != "" {
			n.now = append(n.now, "work that was put into the background had not ended: "+n.open)
		}
		if !unread {
			n.reported = nil
		}
		n.reported, n.now, n.open = append(n.reported, n.now...), nil, ""
	}
}

func (n *leftovers) strays(count int) {
	switch {
	case count == 0, n.untooled:
	case count == 1:
		n.now = append(n.now, "a process that was started in the background was still running at the end, and was ended")
	default:
		n.now = append(n.now, fmt.Sprintf("%d processes that were started in the background were still running at the end, and were ended", count))
	}
}

// leftMost limits what a prompt reports about earlier iterations.
const leftMost = 8

// checkReported checks, when an iteration was decided, what its prompt will report about earlier
// ones.
func (w *world) checkReported(r *runner) {
	if !r.whole {
		return
	}
	s := r.driver.Engine.State()
	var reported []string
	for _, left := range s.Verification.Left {
		if strings.HasPrefix(left, "it was cut short") || !strings.Contains(left, "background") {
			continue
		}
		reported = append(reported, left)
		if !slices.Contains(r.notes.left.reported, left) {
			w.violate(leftIsReported, "the prompt of iteration %d reports %.200s; the journal has %.300q", r.notes.open+1, left, r.notes.left.reported)
		}
	}
	for _, left := range r.notes.left.reported {
		if len(s.Verification.Left) < leftMost && !slices.Contains(reported, left) {
			w.violate(leftIsReported, "the prompt of iteration %d does not report %.200s, but %.300q", r.notes.open+1, left, reported)
		}
	}
	w.checkFailures(r, s)
}

// manyJobs is a scenario whose agents put much work into the background, without other troubles.
func manyJobs(s *scenario) {
	s.background, s.trouble, s.silences, s.limits, s.asks, s.outage, s.commands, s.disasters = 30, 0, 0, 0, 0, 0, 0, 0
	s.agents, s.rules.Agents, s.hopeless, s.refuses, s.startFailed, s.beginFails = nil, nil, false, false, 0, 0
	s.skews, s.sleeps, s.wordily, s.effectFails, s.breaks, s.impatient = false, false, false, 0, 0, 0
	s.leaves, s.claims = 0, 0
	s.rules.Limits.Idle, s.rules.Limits.Tool, s.rules.Limits.Iteration = event.Duration(2*time.Minute), event.Duration(30*time.Minute), event.Duration(2*time.Hour)
	s.rules.MaximumIterations, s.rules.Breaker.NoProgress, s.rules.Breaker.SameError, s.rules.Restart.Max = 10, 0, 0, 0
}

var wrongBackgrounds = []wrong{
	{"work in the background is ignored", mutation{folded: always(func(s *loopstate.State) { s.Background = "" }), unfolded: true, stage: manyJobs}, realSilence},
	{"the end of work in the background is not noticed", mutation{folded: after(event.TypeAgentNoticed, func(s *loopstate.State) { s.Background = "make bench" }), unfolded: true, stage: func(s *scenario) {
		manyJobs(s)
		s.rules.Limits.Tool = 0
	}}, leftIsReported},
	{"work in the background is not watched", mutation{folded: always(func(s *loopstate.State) {
		if s.Background != "" && s.Phase == policy.Turning {
			s.Idle.Busy, s.Rules.Limits.Tool = nil, 0
		}
	}), unfolded: true, stage: manyJobs}, silenceEnds},
	{"what was left in the background is forgotten", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) { s.Verification.Left = nil }), unfolded: true, stage: manyJobs}, leftIsReported},
	{"ended work in the background is reported", mutation{folded: after(event.TypeAgentFinished, func(s *loopstate.State) { s.Background = "make bench" }), unfolded: true, stage: manyJobs}, leftIsReported},
}
