package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// lasts folds what happened so long after noon.
func lasts(t testing.TB, r event.Rules, story ...moment) *budget {
	t.Helper()
	b := &budget{}
	for _, m := range append([]moment{{0, started(r)}}, story...) {
		b.fold(noon.Add(m.after), m.p)
		b = throughJSON(t, b)
	}
	return b
}

func TestBudgetDuration(t *testing.T) {
	const m = time.Minute
	tick := event.TimerFired{Name: "x"}
	for name, row := range map[string]struct {
		story []moment
		want  time.Duration
	}{
		"since it started":                                {[]moment{{5 * m, tick}}, 5 * m},
		"a delay before a restart counts":                 {[]moment{{0, opened}, {1 * m, crashed}, {5 * m, opened}}, 5 * m},
		"a pause does not":                                {[]moment{{2 * m, event.LoopPaused{}}, {7 * m, event.LoopUnpaused{}}, {8 * m, tick}}, 3 * m},
		"nor while it lasts":                              {[]moment{{2 * m, event.LoopPaused{}}, {7 * m, tick}}, 2 * m},
		"a limit that is waited for does not":             {[]moment{{0, opened}, {2 * m, limited}, {9 * m, opened}, {10 * m, tick}}, 3 * m},
		"a pause within it does not count twice":          {[]moment{{0, opened}, {2 * m, limited}, {3 * m, event.LoopPaused{}}, {9 * m, event.LoopUnpaused{}}, {10 * m, tick}}, 3 * m},
		"a machine that slept did not run":                {[]moment{{6 * m, event.ClockJumped{By: (4 * m).Milliseconds()}}, {7 * m, tick}}, 3 * m},
		"nor twice where it was paused":                   {[]moment{{2 * m, event.LoopPaused{}}, {6 * m, event.ClockJumped{By: (4 * m).Milliseconds()}}, {7 * m, event.LoopUnpaused{}}, {8 * m, tick}}, 3 * m},
		"a clock that was set back adds nothing":          {[]moment{{6 * m, event.ClockJumped{By: -(4 * m).Milliseconds()}}, {7 * m, tick}}, 7 * m},
		"a runner that was dead did not run":              {[]moment{{2 * m, tick}, {60 * m, event.LoopResumed{}}, {61 * m, tick}}, 3 * m},
		"nor twice where it died in a pause":              {[]moment{{2 * m, event.LoopPaused{}}, {60 * m, event.LoopResumed{}}, {61 * m, tick}}, 3 * m},
		"a segment that is opened says nothing":           {[]moment{{2 * m, tick}, {59 * m, event.SegmentOpened{}}, {60 * m, event.LoopResumed{}}, {61 * m, tick}}, 3 * m},
		"a segment that is sealed says nothing":           {[]moment{{2 * m, tick}, {59 * m, event.SegmentSealed{}}, {60 * m, event.LoopResumed{}}, {61 * m, tick}}, 3 * m},
		"a clock that was set far back counts as no time": {[]moment{{-60 * m, tick}}, 0},
		"an iteration that a person ended counts":         {[]moment{{0, opened}, {2 * m, event.IterationEnded{Outcome: event.OutcomeAborted, Refunded: true}}, {5 * m, tick}}, 5 * m},
		"a resume without a pause changes nothing":        {[]moment{{2 * m, event.LoopUnpaused{}}, {5 * m, tick}}, 5 * m},
		"a pause in which the clock was set back ends":    {[]moment{{5 * m, event.LoopPaused{}}, {1 * m, event.LoopUnpaused{}}, {6 * m, tick}}, 6 * m},
	} {
		t.Run(name, func(t *testing.T) {
			b := lasts(t, event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Duration: event.Duration(3 * m)}}, row.story...)
			if got := b.Ran(); got != row.want {
				t.Errorf("it has run for %s, want %s", got, row.want)
			}
			reason, _ := b.Over()
			if (reason == event.ReasonDuration) != (row.want >= 3*m) || (b.Late() != "") != (row.want >= 3*m) {
				t.Errorf("after %s it is over by %q, %q", row.want, reason, b.Late())
			}
			until, ok := b.Until()
			if ok != b.WaitingSince.IsZero() {
				t.Errorf("Until is known: %v, and it waits since %s", ok, b.WaitingSince)
			}
			if left := until.Sub(b.Now); ok && row.want > 0 && left != 3*m-row.want {
				t.Errorf("after %s it is over in %s", row.want, left)
			}
		})
	}
}

func TestNoDurationIsNeverLate(t *testing.T) {
	b := lasts(t, event.Rules{MaximumIterations: 9}, moment{1000 * time.Hour, event.TimerFired{Name: "x"}})
	if until, ok := b.Until(); ok || b.Late() != "" {
		t.Errorf("it is over at %s (%v): %q", until, ok, b.Late())
	}
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	payloads := []event.Payload{
		event.TimerFired{}, opened, closed, limited, event.LoopPaused{}, event.LoopUnpaused{}, event.LoopResumed{},
		event.ClockJumped{By: 60_000}, event.ClockJumped{By: -60_000}, event.ClockJumped{By: 1 << 40}, event.SegmentOpened{},
	}
	rapid.Check(t, func(r *rapid.T) {
		b, at := &budget{}, noon
		apply := func(p event.Payload) {
			b.fold(at, p)
		}
		apply(started(event.Rules{MaximumIterations: 9}))
		for range rapid.IntRange(0, 30).Draw(r, "events") {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour, -time.Hour}).Draw(r, "later"))
			apply(rapid.SampledFrom(payloads).Draw(r, "event"))
			if b.Ran() < 0 || b.Waited < 0 {
				r.Fatalf("it has run for %s and was idle for %d ms", b.Ran(), b.Waited)
			}
		}
	})
}

func TestOverspentIteration(t *testing.T) {
	cost, tokens := event.Rules{Limits: event.LimitRules{IterationCost: 1}}, event.Rules{Limits: event.LimitRules{IterationTokens: 100}}
	for name, row := range map[string]struct {
		rules event.Rules
		used  []event.Payload
		want  string
	}{
		"nothing was used":                       {event.Rules{Limits: event.LimitRules{IterationCost: 1, IterationTokens: 1}}, nil, ""},
		"less than the money was used":           {cost, []event.Payload{event.AgentUsed{USD: usd(0.99)}}, ""},
		"the money was used":                     {cost, []event.Payload{event.AgentUsed{USD: usd(0.5)}, event.AgentUsed{USD: usd(0.5)}}, "the iteration has spent $1.00 of $1.00"},
		"money that is not known is not used":    {cost, []event.Payload{event.AgentUsed{In: 1e9}}, ""},
		"known money counts beside unknown":      {cost, []event.Payload{event.AgentUsed{}, event.AgentUsed{USD: usd(2)}}, "the iteration has spent $2.00 of $1.00"},
		"less than the tokens were used":         {tokens, []event.Payload{event.AgentUsed{In: 40, Out: 30, CacheRead: 20, CacheWrite: 9}}, ""},
		"tokens of all kinds were used":          {tokens, []event.Payload{event.AgentUsed{In: 40, Out: 30, CacheRead: 20, CacheWrite: 10}}, "the iteration has used 100 of 100 tokens"},
		"without a limit it may use what it can": {event.Rules{}, []event.Payload{event.AgentUsed{In: 1e9, USD: usd(1e9)}}, ""},
		"what others used is theirs":             {cost, []event.Payload{event.AgentUsed{USD: usd(5)}, closed, opened}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := spend(t, &budget{}, append([]event.Payload{started(row.rules), opened}, row.used...)...)
			if got := b.Overspent(); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestBudgetWarnings(t *testing.T) {
	use := func(n int64, price float64) event.Payload {
		return event.AgentUsed{In: n, Out: n, CacheRead: n, CacheWrite: n, USD: usd(price)}
	}
	iterations := func(n int) (story []event.Payload) {
		for range n {
			story = append(story, opened, closed)
		}
		return story
	}
	const unknown = "this agent does not report what it costs: no limit of cost can stop it"
	for name, row := range map[string]struct {
		rules          event.Rules
		story          []event.Payload
		running, costs bool
		want           event.BudgetWarned
	}{
		"nothing without limits":                             {event.Rules{MaximumIterations: 4}, []event.Payload{opened, use(1e6, 1e6)}, true, true, event.BudgetWarned{}},
		"nothing below four fifths of the money":             {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 7.99)}, true, true, event.BudgetWarned{}},
		"four fifths of the money":                           {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 8)}, true, true, event.BudgetWarned{Limit: "limits.cost", Why: "$8.00 of $10.00 are spent"}},
		"nothing where all of it is spent: the loop ends":    {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 10)}, true, true, event.BudgetWarned{}},
		"four fifths of the tokens":                          {event.Rules{Limits: event.LimitRules{Tokens: 100}}, []event.Payload{opened, use(20, 0)}, true, true, event.BudgetWarned{Limit: "limits.tokens", Why: "80 of 100 tokens are used"}},
		"nothing below them":                                 {event.Rules{Limits: event.LimitRules{Tokens: 100}}, []event.Payload{opened, use(19, 0)}, true, true, event.BudgetWarned{}},
		"nothing where all tokens are used":                  {event.Rules{Limits: event.LimitRules{Tokens: 100}}, []event.Payload{opened, use(25, 0)}, true, true, event.BudgetWarned{}},
		"four fifths of the iterations":                      {event.Rules{MaximumIterations: 10}, iterations(8), false, true, event.BudgetWarned{Limit: "maximumIterations", Why: "8 of 10 iterations are used"}},
		"nothing below them, too":                            {event.Rules{MaximumIterations: 10}, iterations(7), false, true, event.BudgetWarned{}},
		"four of five":                                       {event.Rules{MaximumIterations: 5}, iterations(4), false, true, event.BudgetWarned{Limit: "maximumIterations", Why: "4 of 5 iterations are used"}},
		"not three of four":                                  {event.Rules{MaximumIterations: 4}, iterations(3), false, true, event.BudgetWarned{}},
		"a cost that is not reported":                        {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened}, true, false, event.BudgetWarned{Limit: "limits.cost", Why: unknown}},
		"a cost that is not reported, of one iteration":      {event.Rules{Limits: event.LimitRules{IterationCost: 10}}, []event.Payload{opened}, true, false, event.BudgetWarned{Limit: "limits.cost", Why: unknown}},
		"nothing of it where no limit is set":                {event.Rules{Limits: event.LimitRules{Tokens: 10}}, []event.Payload{opened}, true, false, event.BudgetWarned{}},
		"nothing of it while no agent runs":                  {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened}, false, false, event.BudgetWarned{}},
		"nothing a second time":                              {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 8), event.BudgetWarned{Limit: "limits.cost"}, use(1, 1)}, true, true, event.BudgetWarned{}},
		"another limit after one warning":                    {event.Rules{Limits: event.LimitRules{Cost: 10, Tokens: 100}}, []event.Payload{opened, use(20, 8), event.BudgetWarned{Limit: "limits.cost"}}, true, true, event.BudgetWarned{Limit: "limits.tokens", Why: "80 of 100 tokens are used"}},
		"a limit that was changed, again":                    {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 8), event.BudgetWarned{Limit: "limits.cost"}, event.LoopConfigured{Key: "limits.cost", Rules: event.Rules{Limits: event.LimitRules{Cost: 10}}}}, true, true, event.BudgetWarned{Limit: "limits.cost", Why: "$8.00 of $10.00 are spent"}},
		"nothing where another limit was changed":            {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 8), event.BudgetWarned{Limit: "limits.cost"}, event.LoopConfigured{Key: "limits.tokens", Rules: event.Rules{Limits: event.LimitRules{Cost: 10}}}}, true, true, event.BudgetWarned{}},
		"the money of all iterations and of this one":        {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, use(1, 4), closed, opened, use(1, 4)}, true, true, event.BudgetWarned{Limit: "limits.cost", Why: "$8.00 of $10.00 are spent"}},
		"known money though the rest of it is not known":     {event.Rules{Limits: event.LimitRules{Cost: 10}}, []event.Payload{opened, event.AgentUsed{}, use(1, 8)}, true, true, event.BudgetWarned{Limit: "limits.cost", Why: "$8.00 of $10.00 are spent"}},
		"four fifths of the time":                            {event.Rules{Limits: event.LimitRules{Duration: event.Duration(5 * time.Second)}}, []event.Payload{opened, closed, opened, closed}, false, true, event.BudgetWarned{Limit: "limits.duration", Why: "the loop has run for 4s of 5s"}},
		"not three fifths of it":                             {event.Rules{Limits: event.LimitRules{Duration: event.Duration(5 * time.Second)}}, []event.Payload{opened, closed, opened}, false, true, event.BudgetWarned{}},
		"not all of it":                                      {event.Rules{Limits: event.LimitRules{Duration: event.Duration(5 * time.Second)}}, []event.Payload{opened, closed, opened, closed, opened}, false, true, event.BudgetWarned{}},
		"what is known first of several: the money, in turn": {event.Rules{Limits: event.LimitRules{Cost: 10, Tokens: 100}, MaximumIterations: 5}, []event.Payload{opened, use(20, 8)}, true, true, event.BudgetWarned{Limit: "limits.cost", Why: "$8.00 of $10.00 are spent"}},
	} {
		t.Run(name, func(t *testing.T) {
			if row.rules.MaximumIterations == 0 {
				row.rules.MaximumIterations = 1000
			}
			b := throughJSON(t, spend(t, &budget{}, append([]event.Payload{started(row.rules)}, row.story...)...))
			// A change of the settings brings its own number of iterations.
			b.Loop.Rules.MaximumIterations = row.rules.MaximumIterations
			got, ok := b.Warning(row.running, &policy.Lifecycle{Rules: b.Loop.Rules, Process: policy.Process{Costs: row.costs}})
			if diff := cmp.Diff(row.want, got); diff != "" || ok != (row.want.Limit != "") {
				t.Errorf("%v\n%s", ok, diff)
			}
		})
	}
}

func TestBudgetSurvivesResume(t *testing.T) {
	rules := event.Rules{MaximumIterations: 3, Limits: event.LimitRules{Cost: 7}}
	b := spend(t, &budget{}, started(event.Rules{MaximumIterations: 9}), opened, event.AgentUsed{USD: usd(2)}, closed, opened, limited, event.LoopResumed{Rules: &rules})
	if b.Counted != 1 || b.Refunded != 1 || *b.Used().USD != 2 || !cmp.Equal(b.Loop.Rules, rules) {
		t.Errorf("%+v", b)
	}
	if b = spend(t, b, event.LoopResumed{}); !cmp.Equal(b.Loop.Rules, rules) {
		t.Errorf("a resume without new rules changed them: %+v", b.Loop.Rules)
	}
}

func TestLimitOfOne(t *testing.T) {
	one := event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Tokens: 1, Duration: event.Duration(time.Millisecond), Cost: 1}}
	for name, row := range map[string]struct {
		rules event.Rules
		want  event.Reason
	}{
		"one token":       {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Tokens: one.Limits.Tokens}}, event.ReasonTokens},
		"one millisecond": {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Duration: one.Limits.Duration}}, event.ReasonDuration},
		"one dollar":      {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: one.Limits.Cost}}, event.ReasonCost},
	} {
		if reason, _ := spend(t, &budget{}, started(row.rules), opened, event.AgentUsed{In: 1, USD: usd(1)}, closed).Over(); reason != row.want {
			t.Errorf("%s: %q, want %q", name, reason, row.want)
		}
	}
	if b := spend(t, &budget{}, started(event.Rules{Limits: event.LimitRules{IterationTokens: 1}}), opened, event.AgentUsed{In: 1}); b.Overspent() == "" {
		t.Error("one token of an iteration is no limit")
	}
	if b := spend(t, &budget{}, started(event.Rules{Limits: event.LimitRules{IterationCost: 0.5}}), opened, event.AgentUsed{USD: usd(0.5)}); b.Overspent() == "" {
		t.Error("half a dollar of an iteration is no limit")
	}
}

func TestFailedToolsAreCounted(t *testing.T) {
	b := spend(t, &budget{}, started(event.Rules{}), opened, event.ToolReturned{ID: "a", OK: true}, event.ToolReturned{ID: "b", OK: true}, event.ToolReturned{ID: "c"})
	if b.Current.Failed != 1 {
		t.Errorf("%d of three are counted, and one failed", b.Current.Failed)
	}
}
