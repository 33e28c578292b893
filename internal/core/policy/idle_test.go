package policy_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// moment is something that happened so long after noon.
type moment struct {
	after time.Duration
	p     event.Payload
}

func watch(t testing.TB, story ...moment) *policy.Idle {
	t.Helper()
	i := &policy.Idle{}
	for _, m := range story {
		i.Apply(noon.Add(m.after), m.p)
	}
	return throughJSON(t, i)
}

// in returns a loop in that phase, after what happened.
func in(phase policy.Phase, r event.Rules, story []moment) *policy.Lifecycle {
	var l policy.Lifecycle
	for _, m := range story {
		l.Apply(noon, m.p)
	}
	l.Phase, l.Rules = phase, r
	return &l
}

func TestDeadlines(t *testing.T) {
	limits := event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Minute), Iteration: event.Duration(10 * time.Minute), ExitGrace: event.Duration(5 * time.Second)}}
	begun := []moment{{0, event.IterationStarted{N: 1}}, {time.Second, event.AgentStarted{PID: 7}}}
	for name, row := range map[string]struct {
		story []moment
		phase policy.Phase
		rules event.Rules
		name  string
		after time.Duration // noon
	}{
		"an agent that started is silent from then on":       {begun, policy.Turning, limits, policy.TimerIdle, 61 * time.Second},
		"a word begins the silence again":                    {append(begun, moment{30 * time.Second, piece("1.0", "x")}), policy.Turning, limits, policy.TimerIdle, 90 * time.Second},
		"a wait that was stated is none":                     {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 90_000}}), policy.Turning, limits, policy.TimerIdle, 180 * time.Second},
		"nor is it cut by what comes in it":                  {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 90_000}}, moment{31 * time.Second, event.AgentNoticed{What: "x"}}), policy.Turning, limits, policy.TimerIdle, 180 * time.Second},
		"one that is over is over":                           {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 2000}}, moment{50 * time.Second, piece("1.0", "x")}), policy.Turning, limits, policy.TimerIdle, 110 * time.Second},
		"the next try states its own":                        {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 400_000}}, moment{40 * time.Second, event.AgentRetried{Attempt: 2}}), policy.Turning, limits, policy.TimerIdle, 100 * time.Second},
		"a wait of less than nothing is none":                {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: -90_000}}), policy.Turning, limits, policy.TimerIdle, 90 * time.Second},
		"one of years is a day":                              {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 1 << 60}}), policy.Turning, event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Minute)}}, policy.TimerIdle, 24*time.Hour + 90*time.Second},
		"a machine that slept in it waits on":                {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 90_000}}, moment{40 * time.Second, event.ClockJumped{By: 50_000}}), policy.Turning, limits, policy.TimerIdle, 230 * time.Second},
		"the next iteration waits for none of the old":       {append(begun, moment{30 * time.Second, event.AgentRetried{Attempt: 1, Delay: 90_000}}, moment{40 * time.Second, event.IterationStarted{N: 2}}, moment{41 * time.Second, event.AgentStarted{PID: 7}}), policy.Turning, limits, policy.TimerIdle, 101 * time.Second},
		"a busy agent runs into the iteration's limit":       {append(begun, moment{550 * time.Second, piece("1.0", "x")}), policy.Turning, limits, policy.TimerIteration, 600 * time.Second},
		"an agent that does not start is late, too":          {begun[:1], policy.Starting, limits, policy.TimerIteration, 600 * time.Second},
		"a prompt that is being given is no silence":         {begun, policy.Starting, limits, policy.TimerIteration, 600 * time.Second},
		"a process that stays after its result is in excess": {append(begun, moment{9 * time.Second, event.AgentFinished{Outcome: "ok"}}), policy.Leaving, limits, policy.TimerExitGrace, 14 * time.Second},
		"a process that is ended without a result is not":    {begun, policy.Leaving, limits, "", 0},
		"without a limit silence is golden":                  {begun, policy.Turning, event.Rules{Limits: event.LimitRules{Iteration: event.Duration(10 * time.Minute)}}, policy.TimerIteration, 600 * time.Second},
		"without a limit an iteration is as long as it is":   {begun, policy.Turning, event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Minute)}}, policy.TimerIdle, 61 * time.Second},
		"without a limit a process may stay":                 {append(begun, moment{9 * time.Second, event.AgentFinished{Outcome: "ok"}}), policy.Leaving, event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Millisecond), Iteration: event.Duration(time.Millisecond)}}, "", 0},
		"without any limit there is no deadline":             {begun, policy.Turning, event.Rules{}, "", 0},
		"between two iterations nothing is late":             {begun, policy.Between, limits, "", 0},
		"while the prompt is composed nothing is late":       {begun, policy.Beginning, limits, "", 0},
		"nor before the agent is asked":                      {begun, policy.Opened, limits, "", 0},
		"nor when its turn is over":                          {begun, policy.Finished, limits, "", 0},
		"nor when it is gone":                                {begun, policy.Gone, limits, "", 0},
		"the next iteration begins its own time":             {append(begun, moment{100 * time.Second, event.IterationStarted{N: 2}}), policy.Starting, limits, policy.TimerIteration, 700 * time.Second},
		"an iteration that ended has no deadline":            {append(begun, moment{100 * time.Second, event.IterationEnded{N: 1}}), policy.Turning, limits, "", 0},
		"a runner that resumes waits for nothing of the old": {append(begun, moment{100 * time.Second, event.LoopResumed{}}), policy.Turning, limits, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			deadline, ok := watch(t, row.story...).Next(in(row.phase, row.rules, row.story))
			if ok != (row.name != "") || deadline.Name != row.name {
				t.Fatalf("%v %+v, want %q", ok, deadline, row.name)
			}
			if ok && deadline.At.Sub(noon) != row.after {
				t.Errorf("%s after noon, want %s", deadline.At.Sub(noon), row.after)
			}
		})
	}
}

func TestSignsOfLife(t *testing.T) {
	lively := map[event.Type]bool{
		event.TypeAgentStarted: true, event.TypeAgentSaid: true, event.TypeAgentThought: true, event.TypeAgentUsed: true, event.TypeAgentPlanned: true,
		event.TypeAgentAsked: true, event.TypeAgentLimited: true, event.TypeAgentRetried: true, event.TypeAgentCompacted: true, event.TypeAgentNoticed: true,
		event.TypeAgentUnparsed: true, event.TypeAgentFinished: true, event.TypeToolCalled: true, event.TypeToolProgressed: true, event.TypeToolReturned: true,
	}
	for _, typ := range event.Types() {
		i := &policy.Idle{Began: noon, Heard: noon}
		e := testevent.Of(1, noon.Add(time.Minute), event.Draft{Type: typ, Data: []byte(`{}`)})
		p, err := event.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		i.Apply(e.At, p)
		if got := i.Heard.Equal(noon.Add(time.Minute)); got != lively[typ] {
			t.Errorf("%s as a sign of life: %v", typ, got)
		}
	}
}
