package policy_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// reach folds events, all at noon, in the loop with that id.
func reach(t testing.TB, id string, story ...event.Payload) *policy.Limits {
	t.Helper()
	return onLoop(t, id, &policy.Limits{}, noon, story...)
}

func on(t testing.TB, l *policy.Limits, at time.Time, story ...event.Payload) *policy.Limits {
	t.Helper()
	return onLoop(t, "", l, at, story...)
}

func onLoop(t testing.TB, id string, l *policy.Limits, at time.Time, story ...event.Payload) *policy.Limits {
	t.Helper()
	for _, p := range story {
		l.Apply(at, p, id)
	}
	return throughJSON(t, l)
}

func hits(kind event.FaultKind, until ...time.Time) event.Payload {
	p := event.AgentLimited{Kind: kind, Text: "no more"}
	if len(until) > 0 {
		p.Until = until[0].Format(time.RFC3339)
	}
	return p
}

func gaveUp(kind event.FaultKind) event.Payload {
	return event.AgentFinished{Outcome: "error", Error: "gave up", Kind: kind}
}

func TestLimitOfTurn(t *testing.T) {
	rate := hits(event.KindRate)
	for name, row := range map[string]struct {
		story []event.Payload
		kind  string
		text  string
		stops bool
	}{
		"nothing does":                                   {nil, "", "", false},
		"a rate limit does":                              {[]event.Payload{rate}, "rate", "no more", true},
		"an overload does":                               {[]event.Payload{hits(event.KindOverload)}, "overload", "no more", true},
		"a network that is down does":                    {[]event.Payload{hits(event.KindNetwork)}, "network", "no more", true},
		"an empty account does":                          {[]event.Payload{hits(event.KindQuota)}, "quota", "no more", true},
		"a login that is not valid does":                 {[]event.Payload{hits(event.KindAuth)}, "auth", "no more", true},
		"a conversation that is too long does not":       {[]event.Payload{hits(event.KindContext)}, "context", "no more", false},
		"an unknown kind does not":                       {[]event.Payload{hits("moon")}, "moon", "no more", false},
		"words show that it went on":                     {[]event.Payload{rate, piece("1.0", "so")}, "", "", false},
		"a tool shows that it went on":                   {[]event.Payload{rate, event.ToolCalled{ID: "t"}}, "", "", false},
		"a notice shows nothing":                         {[]event.Payload{rate, event.AgentNoticed{What: "x"}}, "rate", "no more", true},
		"a good end shows that it went on":               {[]event.Payload{rate, turnOver}, "", "", false},
		"but not after ralph has ended the turn":         {[]event.Payload{rate, event.Decided{Do: event.DoAbort}, turnOver}, "rate", "no more", true},
		"an end that names it names it":                  {[]event.Payload{gaveUp(event.KindOverload)}, "overload", "gave up", true},
		"an end that names it again keeps its words":     {[]event.Payload{rate, gaveUp(event.KindRate)}, "rate", "no more", true},
		"an end of another kind does not replace it":     {[]event.Payload{rate, gaveUp(event.KindNetwork)}, "rate", "no more", true},
		"a refusal takes it back: it is why it ended":    {[]event.Payload{rate, gaveUp(event.KindRefusal)}, "", "", false},
		"so does a conversation that is too long":        {[]event.Payload{rate, gaveUp(event.KindContext)}, "", "", false},
		"a refusal is no limit":                          {[]event.Payload{gaveUp(event.KindRefusal)}, "", "", false},
		"an end of no kind leaves it":                    {[]event.Payload{rate, gaveUp("")}, "rate", "no more", true},
		"an end of any other kind is no limit":           {[]event.Payload{gaveUp("other")}, "", "", false},
		"an end without a kind is no limit":              {[]event.Payload{gaveUp("")}, "", "", false},
		"what an iteration met is forgotten by the next": {[]event.Payload{rate, opened}, "", "", false},
		"what the runner before met is forgotten":        {[]event.Payload{rate, event.LoopResumed{}}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			l := reach(t, "L", row.story...)
			if string(l.Kind) != row.kind || l.Text != row.text || l.StopsTurn() != row.stops {
				t.Errorf("%q %q %v, want %q %q %v", l.Kind, l.Text, l.StopsTurn(), row.kind, row.text, row.stops)
			}
		})
	}
}

func TestLimitWaits(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for name, row := range map[string]struct {
		met         event.Payload
		least, most time.Duration // after noon; 0 means no wait
		person      string
	}{
		"until the moment that was stated, and up to five seconds more": {hits(event.KindRate, noon.Add(time.Hour)), time.Hour + time.Second, time.Hour + 5*time.Second, ""},
		"a week is believed":                                {hits(event.KindRate, noon.Add(week)), week + time.Second, week + 5*time.Second, ""},
		"eight days are not":                                {hits(event.KindRate, noon.Add(week+24*time.Hour)), 1800 * time.Millisecond, 2200 * time.Millisecond, ""},
		"a moment that has passed is none":                  {hits(event.KindRate, noon.Add(-time.Hour)), 1800 * time.Millisecond, 2200 * time.Millisecond, ""},
		"now is no moment either":                           {hits(event.KindRate, noon), 1800 * time.Millisecond, 2200 * time.Millisecond, ""},
		"words are no moment":                               {event.AgentLimited{Kind: event.KindRate, Until: "tomorrow"}, 1800 * time.Millisecond, 2200 * time.Millisecond, ""},
		"two seconds, a tenth more or less":                 {hits(event.KindOverload), 1800 * time.Millisecond, 2200 * time.Millisecond, ""},
		"an account with a stated moment is waited for":     {hits(event.KindQuota, noon.Add(time.Hour)), time.Hour + time.Second, time.Hour + 5*time.Second, ""},
		"an account without one needs a person":             {hits(event.KindQuota), 0, 0, string(event.KindQuota)},
		"a login needs a person":                            {hits(event.KindAuth), 0, 0, string(event.KindAuth)},
		"a login needs a person whatever moment was stated": {hits(event.KindAuth, noon.Add(time.Hour)), 0, 0, string(event.KindAuth)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, id := range []string{"L", "M", "another"} {
				l := reach(t, id, opened, row.met, limited)
				if string(l.Person) != row.person || l.Attempt != 1 || l.Waiting != l.Kind {
					t.Errorf("%+v", l)
				}
				if row.most == 0 {
					if !l.NotUntil.IsZero() {
						t.Errorf("it waits until %s", l.NotUntil)
					}
					continue
				}
				if after := l.NotUntil.Sub(noon); after < row.least || after >= row.most {
					t.Errorf("loop %s waits for %s", id, after)
				}
			}
		})
	}
}

func TestBackoffDoubles(t *testing.T) {
	l := reach(t, "L")
	at, before := noon, time.Duration(0)
	for _, about := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300} {
		l = on(t, l, at, opened, hits(event.KindNetwork), limited)
		wait := l.NotUntil.Sub(at)
		if about *= time.Second; wait < about*9/10 || wait >= about*11/10 {
			t.Errorf("attempt %d waits for %s, want about %s", l.Attempt, wait, about)
		}
		if about < 300*time.Second && wait <= before {
			t.Errorf("attempt %d waits for %s, the one before for %s", l.Attempt, wait, before)
		}
		at, before = l.NotUntil, wait
	}
}

func TestBackoffIsBoundedAndDeterministic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		id, attempts := rapid.String().Draw(r, "id"), rapid.IntRange(1, 200).Draw(r, "attempts")
		wait := func() time.Duration {
			l := &policy.Limits{Attempt: attempts - 1}
			for _, p := range []event.Payload{hits(event.KindNetwork), limited} {
				l.Apply(noon, p, id)
			}
			return l.NotUntil.Sub(noon)
		}
		first := wait()
		if first < 1800*time.Millisecond || first >= 330*time.Second {
			r.Fatalf("attempt %d waits for %s", attempts, first)
		}
		if again := wait(); again != first {
			r.Fatalf("attempt %d waits for %s, and then for %s", attempts, first, again)
		}
	})
}

func TestBackoffDiffersBetweenLoops(t *testing.T) {
	different := map[time.Duration]bool{}
	for n := range 50 {
		different[reach(t, strings.Repeat("x", n), hits(event.KindNetwork), limited).NotUntil.Sub(noon)] = true
	}
	if len(different) < 40 {
		t.Errorf("50 loops come back at %d moments", len(different))
	}
}

func TestLimitsAreCleared(t *testing.T) {
	for name, row := range map[string]struct {
		ended   event.IterationEnded
		attempt int
	}{
		"an iteration that went well":                    {event.IterationEnded{Outcome: event.OutcomeDone}, 0},
		"one that failed for another reason":             {event.IterationEnded{Outcome: event.OutcomeFailed}, 0},
		"not one that a person ended":                    {event.IterationEnded{Outcome: event.OutcomeAborted}, 1},
		"not one that the runner died under":             {event.IterationEnded{Outcome: event.OutcomeInterrupted}, 1},
		"not one that was silent: nothing shows it over": {event.IterationEnded{Outcome: event.OutcomeIdle}, 1},
		"certainly not one that was limited":             {limited, 2},
	} {
		t.Run(name, func(t *testing.T) {
			l := reach(t, "L", opened, hits(event.KindNetwork), limited, opened, hits(event.KindNetwork), row.ended)
			if l.Attempt != row.attempt {
				t.Errorf("%+v", l)
			}
			if (row.attempt == 0) != l.Since.IsZero() || (row.attempt == 0) != l.NotUntil.IsZero() {
				t.Errorf("%+v", l)
			}
		})
	}
	if l := reach(t, "L", hits(event.KindNetwork), limited, event.LoopResumed{}); *l != (policy.Limits{}) {
		t.Errorf("a loop that is resumed waits: %+v", l)
	}
	if l := reach(t, "old", hits(event.KindNetwork), limited, event.LoopStarted{ID: "new"}); *l != (policy.Limits{}) {
		t.Errorf("a loop that starts waits: %+v", l)
	}
}

func TestLimitsOver(t *testing.T) {
	hour := event.Rules{Limits: event.LimitRules{MaxOutage: event.Duration(time.Hour)}}
	net, auth, quota := hits(event.KindNetwork), hits(event.KindAuth), hits(event.KindQuota)
	type at struct {
		after time.Duration
		p     []event.Payload
	}
	met := func(after time.Duration, p event.Payload) at { return at{after, []event.Payload{opened, p, limited}} }
	for name, row := range map[string]struct {
		rules event.Rules
		story []at
		want  event.Reason
		why   string
	}{
		"nothing was met":                         {hour, nil, "", ""},
		"an outage begins":                        {hour, []at{met(0, net)}, "", ""},
		"an outage of less than an hour":          {hour, []at{met(0, net), met(59*time.Minute, net)}, "", ""},
		"an outage of an hour":                    {hour, []at{met(0, net), met(time.Hour, net)}, event.ReasonOutage, "what the agent needs stayed out of reach for 1h: no more"},
		"where no limit is set it may last":       {event.Rules{}, []at{met(0, net), met(1000*time.Hour, net)}, "", ""},
		"a turn that went well ends it":           {hour, []at{met(0, net), {30 * time.Minute, []event.Payload{opened, closed}}, met(time.Hour, net)}, "", ""},
		"a stated moment is no outage":            {hour, []at{met(0, net), met(30*time.Minute, hits(event.KindRate, noon.Add(5*time.Hour))), met(5*time.Hour, net)}, "", ""},
		"time in which the machine slept is none": {hour, []at{met(0, net), {2 * time.Hour, []event.Payload{event.ClockJumped{By: 2 * time.Hour.Milliseconds()}}}, met(2*time.Hour+59*time.Minute, net)}, "", ""},
		"and the rest of it counts":               {hour, []at{met(0, net), {2 * time.Hour, []event.Payload{event.ClockJumped{By: 2 * time.Hour.Milliseconds()}}}, met(3*time.Hour, net)}, event.ReasonOutage, "what the agent needs stayed out of reach for 1h: no more"},
		"a clock that is set back adds nothing":   {hour, []at{met(0, net), {0, []event.Payload{event.ClockJumped{By: -time.Hour.Milliseconds()}}}, met(59*time.Minute, net)}, "", ""},
		"after a pause it is counted again":       {hour, []at{met(0, net), {2 * time.Hour, []event.Payload{event.LoopUnpaused{}}}, met(2*time.Hour, net)}, "", ""},
		"a login does not repair itself":          {hour, []at{met(0, auth)}, event.ReasonAuth, "the agent is not logged in: no more"},
		"an account does not fill itself":         {hour, []at{met(0, quota)}, event.ReasonQuota, "the agent's account has nothing left: no more"},
	} {
		t.Run(name, func(t *testing.T) {
			l := reach(t, "L")
			for _, m := range row.story {
				l = on(t, l, noon.Add(m.after), m.p...)
			}
			reason, why, hint := l.Over(row.rules)
			if reason != row.want || why != row.why || (hint == "") != (why == "") {
				t.Errorf("%q %q (%q), want %q %q", reason, why, hint, row.want, row.why)
			}
		})
	}
}

func TestLimitTextIsBounded(t *testing.T) {
	long := strings.Repeat("x", 3000)
	l := reach(t, "L", opened, event.AgentLimited{Kind: event.KindRate, Text: long}, event.IterationEnded{Outcome: event.OutcomeLimited, Error: long})
	if len(l.Text) != 500 || len(l.Error) != 500 {
		t.Errorf("%d and %d bytes", len(l.Text), len(l.Error))
	}
	if l = reach(t, "L", opened, event.AgentFinished{Outcome: "error", Kind: event.KindRate, Error: long}); len(l.Text) != 500 {
		t.Errorf("%d bytes", len(l.Text))
	}
	l = reach(t, "L", opened, hits(event.KindRate), limited)
	if l.Error != "no more" {
		t.Errorf("an end without words is %q", l.Error)
	}
}
