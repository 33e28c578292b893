package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// live folds events into a Lifecycle.
func live(t testing.TB, l *policy.Lifecycle, story ...event.Payload) *policy.Lifecycle {
	t.Helper()
	for _, p := range story {
		l.Rules = final
		l.Apply(noon, p)
	}
	return l
}

func decided(do event.Effect) event.Payload { return event.Decided{Do: do, Iteration: 1} }

var (
	agentUp  = event.AgentStarted{PID: 7, Live: true, Costs: true, Tools: true}
	turnOver = event.AgentFinished{Outcome: "ok"}
	gone     = event.AgentExited{Code: 0}
)

// until returns the events by which an iteration reaches a phase.
func until(phase policy.Phase) []event.Payload {
	story := []event.Payload{event.LoopStarted{Name: "x", ID: "L"}}
	for _, step := range []struct {
		phase policy.Phase
		p     event.Payload
	}{
		{policy.Beginning, decided(event.DoBegin)},
		{policy.Opened, event.IterationStarted{N: 1}},
		{policy.Starting, decided(event.DoStart)},
		{policy.Turning, agentUp},
		{policy.Finished, turnOver},
		{policy.Leaving, decided(event.DoRelease)},
		{policy.Gone, gone},
		{policy.Between, event.IterationEnded{N: 1}},
	} {
		story = append(story, step.p)
		if step.phase == phase {
			return story
		}
	}
	panic("no such phase")
}

var phases = []policy.Phase{policy.Beginning, policy.Opened, policy.Starting, policy.Turning, policy.Finished, policy.Leaving, policy.Gone, policy.Between}

func TestPhasesOfIteration(t *testing.T) {
	for _, phase := range phases {
		if l := live(t, &policy.Lifecycle{}, until(phase)...); l.Phase != phase {
			t.Errorf("what should lead to %q leads to %q", phase, l.Phase)
		}
	}
}

func TestEachEdgeBetweenPhases(t *testing.T) {
	for name, row := range map[string]struct {
		from policy.Phase
		p    event.Payload
		to   policy.Phase
	}{
		"a prompt that cannot be composed opens nothing":       {policy.Beginning, event.EffectFailed{Do: event.DoBegin}, policy.Between},
		"an agent that cannot be started is gone":              {policy.Starting, event.EffectFailed{Do: event.DoStart}, policy.Gone},
		"a turn that is over ends while it runs":               {policy.Turning, turnOver, policy.Finished},
		"a turn that ends while it is cut short stays cut":     {policy.Leaving, turnOver, policy.Leaving},
		"a turn that ends before the agent started is no turn": {policy.Starting, turnOver, policy.Starting},
		"a parked agent is gone from the iteration":            {policy.Leaving, event.AgentParked{}, policy.Gone},
		"an agent that parks unasked changes no phase":         {policy.Turning, event.AgentParked{}, policy.Turning},
		"an agent that dies while it starts is gone":           {policy.Starting, gone, policy.Gone},
		"an agent that dies in its turn is gone":               {policy.Turning, gone, policy.Gone},
		"an agent that goes after its turn is gone":            {policy.Finished, gone, policy.Gone},
		"an agent that is ended is gone":                       {policy.Leaving, gone, policy.Gone},
		"an agent that dies between two iterations opens none": {policy.Between, gone, policy.Between},
		"an abort while the agent starts ends it":              {policy.Starting, decided(event.DoAbort), policy.Leaving},
		"an abort in the turn ends the agent":                  {policy.Turning, decided(event.DoAbort), policy.Leaving},
		"a kill in the turn ends the agent":                    {policy.Turning, decided(event.DoKill), policy.Leaving},
		"a kill overtakes a release":                           {policy.Leaving, decided(event.DoKill), policy.Leaving},
		"an abort between two iterations opens none":           {policy.Between, decided(event.DoAbort), policy.Between},
		"a kill between two iterations opens none":             {policy.Between, decided(event.DoKill), policy.Between},
		"a release between two iterations opens none":          {policy.Between, decided(event.DoRelease), policy.Between},
		"a steer changes no phase":                             {policy.Turning, decided(event.DoSteer), policy.Turning},
		"a steer that fails changes no phase":                  {policy.Turning, event.EffectFailed{Do: event.DoSteer}, policy.Turning},
		"words change no phase":                                {policy.Turning, says("1.0", "x"), policy.Turning},
		"one that went before it had its prompt starts none":   {policy.Starting, event.AgentStarted{PID: 8, Reused: true}, policy.Gone},
		"a late start does not begin a turn that was cut":      {policy.Leaving, agentUp, policy.Leaving},
		"an ending closes the iteration from wherever it is":   {policy.Turning, event.IterationEnded{N: 1}, policy.Between},
	} {
		t.Run(name, func(t *testing.T) {
			l := live(t, live(t, &policy.Lifecycle{}, until(row.from)...), row.p)
			if l.Phase != row.to {
				t.Errorf("from %q to %q, want %q", row.from, l.Phase, row.to)
			}
		})
	}
}

func TestResumeInEachPhase(t *testing.T) {
	for _, phase := range phases {
		l := live(t, live(t, &policy.Lifecycle{}, until(phase)...), event.LoopResumed{Host: "h2", PID: 99, Died: true})
		open := phase != policy.Between && phase != policy.Beginning
		if l.Broken != open {
			t.Errorf("%q: the iteration is broken: %v", phase, l.Broken)
		}
		if !open && l.Phase != policy.Between {
			t.Errorf("%q: the phase is %q", phase, l.Phase)
		}
		if l.Process != (policy.Process{}) {
			t.Errorf("%q: the dead runner's agent is still there: %+v", phase, l.Process)
		}
		if l.Resumed != 1 || l.Host != "h2" || l.PID != 99 || l.Name != "x" || l.ID != "L" {
			t.Errorf("%q: %+v", phase, l)
		}
		if open {
			if outcome, why := l.Outcome(); outcome != event.OutcomeInterrupted || why == "" {
				t.Errorf("%q: the iteration is %q %q", phase, outcome, why)
			}
			if live(t, l, event.IterationEnded{N: 1, Outcome: event.OutcomeInterrupted}); l.Broken || l.Phase != policy.Between {
				t.Errorf("%q: it stays broken when it is closed", phase)
			}
		}
	}
}

func TestResumeOfEndedLoop(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, until(policy.Between)...)
	live(t, l, event.LoopPaused{}, event.FaultRaised{Where: "inbox"}, event.LoopEnded{Status: event.StatusFailed},
		event.LoopResumed{Agent: &event.Agent{Protocol: "claude"}})
	if l.Ended != nil || l.Fault != nil || l.Paused || l.Broken || l.Agent.Protocol != "claude" {
		t.Errorf("%+v", l)
	}
}

func TestOutcomeOfIteration(t *testing.T) {
	abort := func(outcome event.Outcome) event.Payload {
		return event.Decided{Do: event.DoAbort, Outcome: event.Outcome(string(outcome)), Why: "it was " + string(outcome)}
	}
	kill := event.Decided{Do: event.DoKill, Outcome: event.Outcome(string(event.OutcomeAborted))}
	exitGrace := event.Decided{Do: event.DoKill}
	textAgent := event.AgentStarted{PID: 7, ExitEnds: true}
	bad := event.AgentExited{Code: 3, Stderr: "one\nlast words\n"}
	for name, row := range map[string]struct {
		story []event.Payload // after the agent was asked to start
		want  event.Outcome
		why   string
	}{
		"a turn that the agent finished is done":               {[]event.Payload{agentUp, turnOver, gone}, event.OutcomeDone, ""},
		"a bad exit after its turn takes nothing back":         {[]event.Payload{agentUp, turnOver, bad}, event.OutcomeDone, ""},
		"a process killed after its result has done it":        {[]event.Payload{agentUp, turnOver, exitGrace, bad}, event.OutcomeDone, ""},
		"an error of the agent is a failure":                   {[]event.Payload{agentUp, event.AgentFinished{Outcome: "error", Error: "401"}, gone}, event.OutcomeFailed, "401"},
		"an error without words is named":                      {[]event.Payload{agentUp, event.AgentFinished{Outcome: "length"}, gone}, event.OutcomeFailed, "length"},
		"an exit without a word is a failure":                  {[]event.Payload{agentUp, gone}, event.OutcomeFailed, "the agent exited with code 0"},
		"a bad exit says its last words":                       {[]event.Payload{agentUp, bad}, event.OutcomeFailed, "the agent exited with code 3: last words"},
		"a signal is named":                                    {[]event.Payload{agentUp, event.AgentExited{Code: -1, Signal: "SIGKILL"}}, event.OutcomeFailed, "the agent was ended by signal: SIGKILL"},
		"where the exit is the end, code 0 is done":            {[]event.Payload{textAgent, gone}, event.OutcomeDone, ""},
		"where the exit is the end, another code is none":      {[]event.Payload{textAgent, bad}, event.OutcomeFailed, "the agent exited with code 3: last words"},
		"where the exit is the end, a signal is none":          {[]event.Payload{textAgent, event.AgentExited{Signal: "SIGTERM"}}, event.OutcomeFailed, "the agent was ended by signal: SIGTERM"},
		"a refusal is named":                                   {[]event.Payload{agentUp, event.AgentFinished{Outcome: "error", Kind: event.KindRefusal, Error: "flagged"}, gone}, event.OutcomeFailed, "the model refused to answer: flagged"},
		"also without words":                                   {[]event.Payload{agentUp, event.AgentFinished{Outcome: "error", Kind: event.KindRefusal}, gone}, event.OutcomeFailed, "the model refused to answer"},
		"silence is named":                                     {[]event.Payload{agentUp, abort(event.OutcomeIdle), gone}, event.OutcomeIdle, "it was idle"},
		"an iteration that took too long is named":             {[]event.Payload{agentUp, abort(event.OutcomeOverlong), gone}, event.OutcomeOverlong, "it was overlong"},
		"a stop of a person is no failure":                     {[]event.Payload{agentUp, abort(event.OutcomeAborted), gone}, event.OutcomeAborted, ""},
		"what cut it first is the outcome":                     {[]event.Payload{agentUp, abort(event.OutcomeIdle), abort(event.OutcomeAborted), gone}, event.OutcomeIdle, "it was idle"},
		"but a kill is the outcome whatever cut it":            {[]event.Payload{agentUp, abort(event.OutcomeIdle), kill, gone}, event.OutcomeAborted, ""},
		"a kill without an outcome leaves it":                  {[]event.Payload{agentUp, abort(event.OutcomeIdle), turnOver, exitGrace, gone}, event.OutcomeIdle, "it was idle"},
		"a turn that ends while it is cut is cut":              {[]event.Payload{agentUp, abort(event.OutcomeAborted), turnOver, gone}, event.OutcomeAborted, ""},
		"an abort after the turn cuts nothing":                 {[]event.Payload{agentUp, turnOver, event.Decided{Do: event.DoAbort}, gone}, event.OutcomeDone, ""},
		"an agent that cannot be started says why":             {[]event.Payload{event.EffectFailed{Do: event.DoStart, Error: "no such program"}}, event.OutcomeFailed, "no such program"},
		"a parked agent that exits does not end the iteration": {[]event.Payload{agentUp, turnOver, decided(event.DoRelease), event.AgentParked{}, event.IterationEnded{N: 1}, event.IterationStarted{N: 2}, decided(event.DoStart), bad, agentUp, turnOver, gone}, event.OutcomeDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := live(t, live(t, &policy.Lifecycle{}, until(policy.Starting)...), row.story...)
			if l.Phase != policy.Gone {
				t.Fatalf("the iteration is still %q", l.Phase)
			}
			if got, why := throughJSON(t, l).Outcome(); got != row.want || why != row.why {
				t.Errorf("%q %q, want %q %q", got, why, row.want, row.why)
			}
		})
	}
}

func TestParkedProcessIsReused(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, until(policy.Leaving)...)
	live(t, l, event.AgentParked{})
	if !l.Process.Alive || !l.Process.Parked || l.Phase != policy.Gone {
		t.Fatalf("%+v", l)
	}
	live(t, l, event.IterationEnded{N: 1}, decided(event.DoBegin), event.IterationStarted{N: 2}, decided(event.DoStart))
	if l.Phase != policy.Starting || !l.Process.Parked || l.Finished != nil {
		t.Fatalf("%+v", l)
	}
	live(t, l, event.AgentStarted{PID: 7, Reused: true})
	if l.Phase != policy.Turning || l.Process.Parked || !l.Process.Alive || l.Iteration != 2 {
		t.Errorf("%+v", l)
	}
}

func TestUnusableParkedProcessIsReplaced(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, until(policy.Leaving)...)
	live(t, l, event.AgentParked{}, event.IterationEnded{N: 1}, event.IterationStarted{N: 2}, decided(event.DoStart), event.AgentExited{Code: 0})
	if l.Phase != policy.Starting || l.Process.Alive || l.Exited != nil {
		t.Fatalf("the old process's exit ended the new iteration: %+v", l)
	}
	live(t, l, event.AgentStarted{PID: 8})
	if l.Phase != policy.Turning || l.Process.PID != 8 {
		t.Errorf("%+v", l)
	}
}

// Because of a parked process the loop does not wait for one that never started.
func TestFailedStartWithParkedProcess(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, until(policy.Leaving)...)
	live(t, l, event.AgentParked{}, event.IterationEnded{N: 1}, event.IterationStarted{N: 2}, decided(event.DoStart),
		event.EffectFailed{Do: event.DoStart, Error: "read a blob: gone"})
	if l.Phase != policy.Gone || !l.Process.Alive {
		t.Fatalf("the iteration waits forever: %+v", l)
	}
	if outcome, why := l.Outcome(); outcome != event.OutcomeFailed || why != "read a blob: gone" {
		t.Errorf("%q %q", outcome, why)
	}
}

func TestFailedTerminationIsFault(t *testing.T) {
	for _, do := range []event.Effect{event.DoRelease, event.DoAbort, event.DoKill} {
		l := live(t, &policy.Lifecycle{}, until(policy.Leaving)...)
		live(t, l, event.EffectFailed{Do: do, Error: "x", Class: event.ClassTransient})
		if diff := cmp.Diff(&event.FaultRaised{Where: string(do), Error: "x", Class: event.ClassTransient}, l.Fault); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProcessRemembersAbortAndKill(t *testing.T) {
	l := live(t, live(t, &policy.Lifecycle{}, until(policy.Turning)...), decided(event.DoAbort))
	if !l.Process.Ending || l.Process.Killing {
		t.Errorf("after abort: %+v", l.Process)
	}
	live(t, l, decided(event.DoKill))
	if !l.Process.Killing {
		t.Errorf("after kill: %+v", l.Process)
	}
	// A process that is killed while it starts is still being killed after its start.
	l = live(t, live(t, &policy.Lifecycle{}, until(policy.Starting)...), decided(event.DoKill), agentUp)
	if !l.Process.Killing || !l.Process.Alive {
		t.Errorf("killed while it started: %+v", l.Process)
	}
	live(t, l, gone)
	if l.Process.Killing || l.Process.Alive {
		t.Errorf("after its exit: %+v", l.Process)
	}
}

func TestLifecycleIsBounded(t *testing.T) {
	long := strings.Repeat("a stack of calls, ", 1<<16)
	l := live(t, &policy.Lifecycle{}, until(policy.Turning)...)
	live(t, l, event.AgentFinished{Outcome: "error", Error: long, Kind: "other"}, decided(event.DoRelease),
		event.AgentExited{Code: 1, Stderr: long}, event.EffectFailed{Do: event.DoStart, Error: long},
		event.FaultRaised{Where: "agent.kill", Error: long}, event.LoopEnded{Why: long, Hint: long})
	data, err := json.Marshal(l)
	if err != nil || len(data) > 64<<10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if outcome, why := l.Outcome(); outcome != event.OutcomeFailed || !strings.HasPrefix(why, "a stack of calls, ") || len(why) > 8<<10 {
		t.Errorf("%q: %d bytes", outcome, len(why))
	}
	if want := noon; !l.Started.Equal(want) || l.Since.Sub(noon) > time.Second {
		t.Errorf("started %s, since %s", l.Started, l.Since)
	}
}
