package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestDeadlinesOfToolsAndLeftovers(t *testing.T) {
	limits := event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Minute), Tool: event.Duration(5 * time.Minute), Iteration: event.Duration(10 * time.Minute), ExitGrace: event.Duration(5 * time.Second)}}
	const s = time.Second
	begun := []moment{{0, event.IterationStarted{N: 1}}, {s, event.AgentStarted{PID: 7}}}
	call := func(after time.Duration, id string) moment { return moment{after, event.ToolCalled{ID: id}} }
	back := func(after time.Duration, id string) moment { return moment{after, event.ToolReturned{ID: id}} }
	left := func(after time.Duration) moment {
		return moment{after, event.AgentNoticed{What: event.NoticeLingering}}
	}
	slept := func(after, by time.Duration) moment { return moment{after, event.ClockJumped{By: by.Milliseconds()}} }
	with := func(more ...moment) []moment { return append(append([]moment{}, begun...), more...) }
	for name, row := range map[string]struct {
		story []moment
		phase policy.Phase
		rules event.Rules
		name  string
		after time.Duration // noon
	}{
		"a tool may be silent for longer":                    {with(call(10*s, "a")), policy.Turning, limits, policy.TimerTool, 310 * s},
		"what it prints is a sign of life":                   {with(call(10*s, "a"), moment{100 * s, event.ToolProgressed{ID: "a"}}), policy.Turning, limits, policy.TimerTool, 400 * s},
		"when it is back, silence is the agent's":            {with(call(10*s, "a"), back(20*s, "a")), policy.Turning, limits, policy.TimerIdle, 80 * s},
		"one of two is still at work":                        {with(call(10*s, "a"), call(11*s, "b"), back(20*s, "a")), policy.Turning, limits, policy.TimerTool, 320 * s},
		"an unexpected return changes nothing":               {with(call(10*s, "a"), back(20*s, "z")), policy.Turning, limits, policy.TimerTool, 320 * s},
		"an end of the turn ends all tools":                  {with(call(10*s, "a"), moment{20 * s, event.AgentFinished{Outcome: "ok"}}), policy.Turning, limits, policy.TimerIdle, 80 * s},
		"without a limit a tool may take the iteration":      {with(call(10*s, "a")), policy.Turning, event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Millisecond), Iteration: event.Duration(10 * time.Minute)}}, policy.TimerIteration, 600 * s},
		"what is left has the iteration's time":              {with(moment{2 * s, event.AgentFinished{Outcome: "ok"}}, left(3*s)), policy.Leaving, limits, policy.TimerIteration, 600 * s},
		"... while the turn is not known to be over, too":    {with(left(3 * s)), policy.Turning, limits, policy.TimerIteration, 600 * s},
		"... and all the time where that has no limit":       {with(left(3 * s)), policy.Turning, event.Rules{Limits: event.LimitRules{Idle: event.Duration(time.Millisecond), ExitGrace: event.Duration(time.Millisecond)}}, "", 0},
		"when it is gone, nothing is left":                   {with(left(3*s), moment{4 * s, event.AgentExited{}}), policy.Turning, limits, policy.TimerIdle, 63 * s},
		"when the agent is parked, nothing is left":          {with(left(3*s), moment{4 * s, event.AgentParked{}}), policy.Turning, limits, policy.TimerIdle, 63 * s},
		"when another is started, nothing is left":           {with(left(3*s), moment{4 * s, event.AgentStarted{}}), policy.Turning, limits, policy.TimerIdle, 64 * s},
		"another notice is a sign of life":                   {with(moment{30 * s, event.AgentNoticed{What: "other"}}), policy.Turning, limits, policy.TimerIdle, 90 * s},
		"a machine that slept moves what is silent":          {with(slept(100*s, 99*s)), policy.Turning, limits, policy.TimerIdle, 160 * s},
		"... and the iteration's time":                       {with(slept(100*s, 99*s)), policy.Starting, limits, policy.TimerIteration, 699 * s},
		"... and what comes after a result":                  {with(moment{2 * s, event.AgentFinished{Outcome: "ok"}}, slept(100*s, 99*s)), policy.Leaving, limits, policy.TimerExitGrace, 106 * s},
		"a clock that is set back moves nothing":             {with(slept(0, -50*s)), policy.Turning, limits, policy.TimerIdle, 61 * s},
		"a machine that slept before there was an agent did": {[]moment{{0, event.IterationStarted{N: 1}}, slept(9*s, 9*s)}, policy.Turning, limits, policy.TimerIteration, 609 * s},
	} {
		t.Run(name, func(t *testing.T) {
			deadline, ok := watch(t, row.story...).Next(in(row.phase, row.rules, row.story))
			if ok != (row.name != "") || deadline.Name != row.name || ok && deadline.At.Sub(noon) != row.after {
				t.Errorf("%v %s, %s after noon; want %q after %s", ok, deadline.Name, deadline.At.Sub(noon), row.name, row.after)
			}
		})
	}
}

func TestBusyToolsAreBounded(t *testing.T) {
	var story []moment
	for n := range 100 {
		story = append(story, moment{0, event.ToolCalled{ID: fmt.Sprint(n)}})
	}
	if i := watch(t, story...); len(i.Busy) != 64 {
		t.Errorf("%d are watched", len(i.Busy))
	}
	for length, want := range map[int]int{200: 1, 201: 0} {
		if i := watch(t, moment{0, event.ToolCalled{ID: strings.Repeat("x", length)}}); len(i.Busy) != want {
			t.Errorf("of an id with %d bytes %d are watched", length, len(i.Busy))
		}
	}
}
