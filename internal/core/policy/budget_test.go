package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func usd(x float64) *float64 { return &x }

// spend folds what happened, a second apart, from noon on.
func spend(t testing.TB, b *budget, story ...event.Payload) *budget {
	t.Helper()
	at := noon
	if !b.Now.IsZero() {
		at = b.Now.Add(time.Second)
	}
	for _, p := range story {
		b.fold(at, p)
		at = at.Add(time.Second)
	}
	return b
}

func started(r event.Rules) event.Payload { return event.LoopStarted{Rules: r} }

var (
	opened = event.IterationStarted{N: 1}
	closed = event.IterationEnded{N: 1, Outcome: event.OutcomeDone}
)

func TestBudgetOver(t *testing.T) {
	iterations := func(n int) (story []event.Payload) {
		for range n {
			story = append(story, opened, closed)
		}
		return story
	}
	refunded := event.IterationEnded{N: 1, Outcome: event.OutcomeInterrupted, Refunded: true}
	priced := func(x float64) event.Payload { return event.AgentUsed{In: 10, USD: usd(x)} }
	free := event.AgentUsed{In: 60, Out: 30, CacheRead: 5, CacheWrite: 5}
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  event.Reason
		why   string
	}{
		"nothing is used":                            {event.Rules{MaximumIterations: 2}, nil, "", ""},
		"one iteration is left":                      {event.Rules{MaximumIterations: 2}, iterations(1), "", ""},
		"all iterations are used":                    {event.Rules{MaximumIterations: 2}, iterations(2), event.ReasonIterations, "2 of 2 iterations are used"},
		"a refunded iteration can be used again":     {event.Rules{MaximumIterations: 2}, append(iterations(1), opened, refunded), "", ""},
		"what a refunded iteration cost is spent":    {event.Rules{MaximumIterations: 2, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(1), refunded}, event.ReasonCost, "$1.00 of $1.00 are spent"},
		"the money is not spent yet":                 {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(0.5), priced(0.49), closed}, "", ""},
		"the money is spent over several iterations": {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(0.5), closed, opened, priced(0.5), closed}, event.ReasonCost, "$1.00 of $1.00 are spent"},
		"the open iteration's money counts":          {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(2)}, event.ReasonCost, "$2.00 of $1.00 are spent"},
		"unknown money does not count":               {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 0.01}}, []event.Payload{opened, free, closed}, "", ""},
		"what is known of it still counts":           {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, free, priced(1), closed}, event.ReasonCost, "$1.00 of $1.00 are spent"},
		"no limit of money, any price":               {event.Rules{MaximumIterations: 9}, []event.Payload{opened, priced(1e6), closed}, "", ""},
		"tokens of all kinds add up":                 {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Tokens: 100}}, []event.Payload{opened, free, closed}, event.ReasonTokens, "100 of 100 tokens are used"},
		"one token is left":                          {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Tokens: 101}}, []event.Payload{opened, free, closed}, "", ""},
		"the time is over":                           {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Duration: event.Duration(2 * time.Second)}}, []event.Payload{opened, closed}, event.ReasonDuration, "the loop has run for 2s"},
		"the time is not over":                       {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Duration: event.Duration(2001 * time.Millisecond)}}, []event.Payload{opened, closed}, "", ""},
		"iterations go before money":                 {event.Rules{MaximumIterations: 1, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(1), closed}, event.ReasonIterations, "1 of 1 iterations are used"},
		"a limit that is raised forbids no longer":   {event.Rules{MaximumIterations: 1}, append(iterations(1), event.LoopConfigured{Rules: event.Rules{MaximumIterations: 2}}), "", ""},
		"a limit that is lowered forbids at once":    {event.Rules{MaximumIterations: 9}, append(iterations(2), event.LoopConfigured{Rules: event.Rules{MaximumIterations: 2}}), event.ReasonIterations, "2 of 2 iterations are used"},
		"a runner that resumes knows what was used":  {event.Rules{MaximumIterations: 2}, append(iterations(2), event.LoopResumed{}), event.ReasonIterations, "2 of 2 iterations are used"},
		"a runner that resumes may have other rules": {event.Rules{MaximumIterations: 2}, append(iterations(2), event.LoopResumed{Rules: &event.Rules{MaximumIterations: 3}}), "", ""},
		"the money outlives the runner":              {event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 1}}, []event.Payload{opened, priced(1), closed, event.LoopResumed{}}, event.ReasonCost, "$1.00 of $1.00 are spent"},
		"another loop begins with nothing used":      {event.Rules{MaximumIterations: 1}, append(iterations(1), started(event.Rules{MaximumIterations: 1})), "", ""},
		"no iteration was allowed at all":            {event.Rules{}, nil, event.ReasonIterations, "0 of 0 iterations are used"},
	} {
		t.Run(name, func(t *testing.T) {
			b := spend(t, spend(t, &budget{}, started(row.rules)), row.story...)
			if got, why := b.Over(); got != row.want || why != row.why {
				t.Errorf("%q: %q, want %q: %q", got, why, row.want, row.why)
			}
			again := throughJSON(t, b)
			if got, why := again.Over(); got != row.want || why != row.why {
				t.Errorf("through JSON %q: %q", got, why)
			}
		})
	}
}

func TestUnknownCostIsNotZero(t *testing.T) {
	priced, free := event.AgentUsed{In: 1, USD: usd(0.25)}, event.AgentUsed{In: 1}
	awaited, part := event.AgentUsed{In: 1, Unpriced: true}, event.AgentUsed{USD: usd(0.25), Unpriced: true}
	for name, row := range map[string]struct {
		story []event.Payload
		spent *float64 // of the open iteration
		used  *float64 // of the loop
	}{
		"nothing was used":                     {[]event.Payload{opened}, nil, nil},
		"all of it is known":                   {[]event.Payload{opened, priced, priced}, usd(0.5), usd(0.5)},
		"nothing of it is known":               {[]event.Payload{opened, free}, nil, nil},
		"only some of it is known":             {[]event.Payload{opened, priced, free}, nil, nil},
		"it does not matter which came first":  {[]event.Payload{opened, free, priced}, nil, nil},
		"a price of 0 is known":                {[]event.Payload{opened, event.AgentUsed{USD: usd(0)}}, usd(0), usd(0)},
		"the iteration before had no price":    {[]event.Payload{opened, free, closed, opened, priced}, usd(0.25), nil},
		"this one has none, the one before":    {[]event.Payload{opened, priced, closed, opened, free}, nil, nil},
		"all iterations had a price":           {[]event.Payload{opened, priced, closed, opened, priced, closed}, nil, usd(0.5)},
		"an iteration that used nothing":       {[]event.Payload{opened, priced, closed, opened, closed}, nil, usd(0.25)},
		"it stays unknown after a resume":      {[]event.Payload{opened, free, closed, event.LoopResumed{}, opened, priced, closed}, nil, nil},
		"the price is yet to come":             {[]event.Payload{opened, awaited}, nil, nil},
		"the price came":                       {[]event.Payload{opened, awaited, priced}, usd(0.25), usd(0.25)},
		"the price of a part came":             {[]event.Payload{opened, awaited, part}, nil, nil},
		"the price of the rest came too":       {[]event.Payload{opened, awaited, part, priced}, usd(0.5), usd(0.5)},
		"the iteration ended before it came":   {[]event.Payload{opened, awaited, event.LoopResumed{}, closed, opened, priced}, usd(0.25), nil},
		"an iteration with and one without it": {[]event.Payload{opened, priced, closed, opened, free, closed}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := spend(t, spend(t, &budget{}, started(event.Rules{MaximumIterations: 9})), row.story...)
			b = throughJSON(t, b)
			if diff := cmp.Diff(row.spent, b.Current.Spent().USD); diff != "" {
				t.Errorf("the open iteration:\n%s", diff)
			}
			if diff := cmp.Diff(row.used, b.Used().USD); diff != "" {
				t.Errorf("the loop:\n%s", diff)
			}
		})
	}
}

// A turn is one answer of the model: words, thoughts and calls up to the next return of a tool. A
// subagent's work is part of it.
func TestTurns(t *testing.T) {
	call, back := event.ToolCalled{ID: "a"}, event.ToolReturned{ID: "a", OK: true}
	inner := event.ToolCalled{ID: "s", Parent: "a"}
	for name, row := range map[string]struct {
		story []event.Payload
		want  int
	}{
		"nothing was shown":                  {nil, 0},
		"words alone":                        {[]event.Payload{piece("1.0", "a"), says("1.0", "b")}, 1},
		"words, a call and more words":       {[]event.Payload{says("1.0", "a"), call, back, says("2.0", "b")}, 2},
		"two calls at once":                  {[]event.Payload{call, call, back, back, says("1.0", "a")}, 2},
		"a thought begins one":               {[]event.Payload{event.AgentThought{Block: "1.0"}, call, back}, 1},
		"a subagent's calls belong to one":   {[]event.Payload{call, inner, back, inner, back, back, says("1.0", "a")}, 2},
		"a tool that returns, and then none": {[]event.Payload{call, back}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := spend(t, &budget{}, append([]event.Payload{started(event.Rules{}), opened}, row.story...)...)
			if b.Current.Turns != row.want {
				t.Errorf("%d turns, want %d", b.Current.Turns, row.want)
			}
		})
	}
}

func TestUsageOfIteration(t *testing.T) {
	b := spend(t, &budget{}, started(event.Rules{}), opened,
		event.AgentUsed{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, USD: usd(0.5)}, event.AgentUsed{In: 10, Out: 20, CacheRead: 30, CacheWrite: 40, USD: usd(0.25)},
		event.ToolCalled{ID: "a"}, event.ToolReturned{ID: "a", OK: true}, event.ToolCalled{ID: "b"}, event.ToolReturned{ID: "b"},
		piece("1.0", "not yet"), says("1.0", ""), says("1.1", "x"), event.AgentRetried{Attempt: 1},
	)
	usage := event.Usage{In: 11, Out: 22, CacheRead: 33, CacheWrite: 44, USD: usd(0.75)}
	if diff := cmp.Diff(policy.IterationUsage{Spending: policy.Spending{Usage: usage}, Tools: 2, Failed: 1, Said: 2, Retries: 1, Turns: 3, Answering: true}, b.Current); diff != "" {
		t.Error(diff)
	}
	before := *b
	spend(t, b, closed, opened)
	if diff := cmp.Diff(policy.IterationUsage{}, b.Current); diff != "" {
		t.Errorf("the next iteration begins with %s", diff)
	}
	if diff := cmp.Diff(usage, b.Used()); diff != "" {
		t.Errorf("the total:\n%s", diff)
	}
	// A copied state shares no money with the original.
	spend(t, b, event.AgentUsed{USD: usd(1)})
	after := *b
	spend(t, b, event.AgentUsed{USD: usd(100)}, closed)
	if *before.Current.Usage.USD != 0.75 || *after.Current.Usage.USD != 1 || *after.Total.Usage.USD != 0.75 {
		t.Errorf("copies became %v, %v and %v", *before.Current.Usage.USD, *after.Current.Usage.USD, *after.Total.Usage.USD)
	}
}

// An agent may report any cost.
func TestCostStaysFinite(t *testing.T) {
	b := spend(t, &budget{}, started(event.Rules{MaximumIterations: 9, Limits: event.LimitRules{Cost: 5}}))
	for range 3 {
		spend(t, b, opened, event.AgentUsed{USD: usd(1.7e308)}, event.AgentUsed{USD: usd(1.7e308)}, closed)
	}
	if reason, _ := throughJSON(t, b).Over(); reason != event.ReasonCost {
		t.Errorf("over by %q", reason)
	}
}

func TestLateUsageOfOtherAgent(t *testing.T) {
	var b budget
	apply := func(by string, p event.Payload) {
		t.Helper()
		was := b.Loop
		b.Loop.Apply(noon, p)
		b.Apply(noon, by, p, &was)
	}
	used := func(by string) { apply(by, event.AgentUsed{In: 1, USD: new(0.5)}) }
	apply("loop", event.LoopStarted{Rules: event.Rules{Agents: []event.Agent{{Name: "claude"}, {Name: "pi"}}}})
	apply("loop", event.Decided{Do: event.DoBegin, Iteration: 1, Agent: 1})
	apply("loop", event.IterationStarted{N: 1})
	used("agent:claude")
	used("agent:pi")
	if got := b.Current.Spent(); got.In != 1 || *got.USD != 0.5 {
		t.Errorf("the iteration has used %+v", got)
	}
	if got := b.Used(); got.In != 2 || *got.USD != 1 {
		t.Errorf("the loop has used %+v", got)
	}
	apply("loop", event.Decided{Do: event.DoBegin, Iteration: 2})
	used("agent:pi")
	used("agent:claude")
	if got := b.Current.Spent(); got.In != 2 {
		t.Errorf("then the iteration has used %+v", got)
	}
}

func TestUsagePerAgent(t *testing.T) {
	var b budget
	apply := func(by string, p event.Payload) {
		t.Helper()
		was := b.Loop
		b.Loop.Apply(noon, p)
		b.Apply(noon, by, p, &was)
	}
	apply("loop", event.LoopStarted{Rules: event.Rules{Agents: []event.Agent{{Name: "claude"}, {Name: "pi"}}}})
	apply("loop", event.Decided{Do: event.DoBegin, Iteration: 1})
	apply("loop", event.IterationStarted{N: 1})
	apply("agent:claude", event.AgentUsed{In: 1, USD: new(0.5)})
	before := b
	apply("loop", event.IterationEnded{N: 1, Outcome: event.OutcomeLimited, Refunded: true})
	apply("loop", event.Decided{Do: event.DoBegin, Iteration: 2, Agent: 1})
	apply("loop", event.IterationStarted{N: 2})
	apply("agent:pi", event.AgentUsed{In: 2})
	apply("agent:claude", event.AgentUsed{Out: 4, USD: new(0.25)}) // late
	apply("loop", event.IterationEnded{N: 2, Outcome: event.OutcomeDone})
	want := []policy.AgentUsage{
		{Name: "claude", Refunded: 1, Spending: policy.Spending{Usage: event.Usage{In: 1, Out: 4, USD: new(0.75)}}},
		{Name: "pi", Iterations: 1, Spending: policy.Spending{Usage: event.Usage{In: 2}, Unknown: true}},
	}
	if diff := cmp.Diff(want, b.Agents); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]policy.AgentUsage{{Name: "claude", Spending: policy.Spending{Usage: event.Usage{In: 1, USD: new(0.5)}}}}, before.Agents); diff != "" {
		t.Errorf("a copied state changed: %s", diff)
	}
	apply("loop", event.LoopResumed{Rules: &event.Rules{}})
	apply("agent:claude", event.AgentUsed{In: 8})
	if diff := cmp.Diff(want, b.Agents); diff != "" {
		t.Errorf("with one agent: %s", diff)
	}
}

// Tokens that an agent does not report are unknown, like money: in its iteration, in all, and in
// its share.
func TestReportedTokensAreKnown(t *testing.T) {
	counted, plain := event.AgentStarted{PID: 9, Costs: true}, event.AgentStarted{PID: 9, Uncounted: true}
	used := event.AgentUsed{In: 3, Out: 4, USD: usd(1)}
	unread := event.AgentNoticed{What: event.NoticeUnreadUsage}
	for name, row := range map[string]struct {
		story    []event.Payload
		now, all bool // are they known of the open iteration, and of all
		least    int64
	}{
		"nothing has begun":                          {nil, true, true, 0},
		"one that reports them and has said nothing": {[]event.Payload{opened, counted}, true, true, 0},
		"one that does not report them":              {[]event.Payload{opened, plain}, false, false, 0},
		"one that reports them unexpectedly":         {[]event.Payload{opened, plain, used}, true, true, 7},
		"one that reports nothing by a report":       {[]event.Payload{opened, plain, event.AgentUsed{}}, false, false, 0},
		"an iteration of each":                       {[]event.Payload{opened, counted, used, closed, opened, plain, closed, opened, counted}, true, false, 7},
		"a report that cannot be read":               {[]event.Payload{opened, counted, used, unread}, false, false, 7},
		"a report that can be read after one":        {[]event.Payload{opened, counted, used, unread, used}, false, false, 14},
	} {
		t.Run(name, func(t *testing.T) {
			b := throughJSON(t, spend(t, &budget{}, append([]event.Payload{started(event.Rules{MaximumIterations: 9})}, row.story...)...))
			all := b.Used()
			if now := b.Current.Spent(); now.TokensUnknown == row.now || all.TokensUnknown == row.all || all.Tokens() != row.least {
				t.Errorf("of this iteration %+v, of all %+v", now, all)
			}
			if known := all.USD != nil; known && !row.all && name != "a report that cannot be read" && name != "a report that can be read after one" {
				t.Errorf("the cost of all is $%v, and one agent did not report it", *all.USD)
			}
		})
	}
	rules := event.Rules{MaximumIterations: 9, Agents: []event.Agent{{Name: "claude"}, {Name: "plain"}}}
	b := spend(t, &budget{}, started(rules), event.Decided{Do: event.DoBegin, Agent: 1}, opened, plain, closed)
	if len(b.Agents) != 1 || !b.Agents[0].Spent().TokensUnknown {
		t.Errorf("%+v", b.Agents)
	}
}

func TestUnreportedTokensAreWarnedOf(t *testing.T) {
	plain := policy.Process{Alive: true, Costs: true, Uncounted: true}
	for name, row := range map[string]struct {
		rules   event.Rules
		running bool
		agent   policy.Process
		want    bool
	}{
		"of the loop":                      {event.Rules{Limits: event.LimitRules{Tokens: 9}}, true, plain, true},
		"of an iteration":                  {event.Rules{Limits: event.LimitRules{IterationTokens: 9}}, true, plain, true},
		"not without a limit":              {event.Rules{Limits: event.LimitRules{Cost: 9}}, true, plain, false},
		"not before its turn":              {event.Rules{Limits: event.LimitRules{Tokens: 9}}, false, plain, false},
		"not of one that does report them": {event.Rules{Limits: event.LimitRules{Tokens: 9}}, true, policy.Process{Alive: true, Costs: true}, false},
	} {
		row.rules.MaximumIterations = 9
		b := spend(t, &budget{}, started(row.rules))
		got, ok := b.Warning(row.running, &policy.Lifecycle{Rules: b.Loop.Rules, Process: row.agent})
		if ok != row.want || ok && (got.Limit != "limits.tokens" || !strings.Contains(got.Why, "does not report the tokens")) {
			t.Errorf("%s: %+v", name, got)
		}
		l := policy.Lifecycle{Process: row.agent}
		if why := l.Unreported("limits.tokens"); (why != "") != row.agent.Uncounted {
			t.Errorf("%s, when it is set: %q", name, why)
		}
	}
	if why := new(policy.Lifecycle).Unreported("limits.cost"); why != "" {
		t.Errorf("of an agent that was not started: %q", why)
	}
}
