package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/core/policy"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
)

// breaker folds events; c has what the agent said.
func breaker(t testing.TB, b *policy.Breaker, c *policy.Completion, story ...event.Payload) *policy.Breaker {
	t.Helper()
	l := *by(final)
	for _, p := range story {
		was := l
		l.Apply(noon, p)
		b.Apply(noon, p, &was, &c.Text)
		c.Apply(1, p, &was)
		*b = *throughJSON(t, b)
	}
	return b
}

func inspected(when, head, fingerprint string) event.Payload {
	return event.RepoInspected{Root: ".", When: event.Moment(when), Head: head, Fingerprint: fingerprint}
}

func boxes(ticked, all int) event.Payload {
	return event.FolderInspected{Ticked: ticked, Boxes: all, SHA256: fmt.Sprint(ticked, all)}
}

var begins = event.Decided{Do: event.DoBegin}

func TestProgressByFiles(t *testing.T) {
	turn := []event.Payload{event.IterationStarted{N: 1}, turnOver, check}
	// An iteration with its inspections, which is not over yet.
	from := func(begin, end []event.Payload) (story []event.Payload) {
		return append(append(append(append(story, begins), begin...), turn...), append(end, checked)...)
	}
	over := func(begin, end event.Payload, progress event.Progress) []event.Payload {
		return append(from([]event.Payload{begin}, []event.Payload{end}), event.IterationEnded{Outcome: event.OutcomeDone, Progress: progress})
	}
	a, b := inspected("begin", "h1", ""), inspected("end", "h1", "")
	one := func(p event.Payload) []event.Payload { return []event.Payload{p} }
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"nothing where there is nothing to look at":            {from(nil, nil), ""},
		"no progress where nothing changed":                    {from(one(a), one(b)), "no"},
		"progress where there is a commit":                     {from(one(a), one(inspected("end", "h2", ""))), "yes"},
		"progress where there is another difference":           {from(one(a), one(inspected("end", "h1", "x"))), "yes"},
		"progress where a difference was taken back":           {from(one(inspected("begin", "h1", "x")), one(b)), "yes"},
		"progress where one of two repositories moved":         {from([]event.Payload{a, event.RepoInspected{Root: "sub", Head: "s1"}}, []event.Payload{b, event.RepoInspected{Root: "sub", Head: "s2"}}), "yes"},
		"no progress where two repositories did not change":    {from([]event.Payload{a, event.RepoInspected{Root: "sub", Head: "s1"}}, []event.Payload{b, event.RepoInspected{Root: "sub", Head: "s1"}}), "no"},
		"progress where a box was ticked":                      {from([]event.Payload{a, boxes(0, 2)}, []event.Payload{b, boxes(1, 2)}), "yes"},
		"progress where a box was added":                       {from([]event.Payload{a, boxes(1, 2)}, []event.Payload{b, boxes(1, 3)}), "yes"},
		"no progress where task.md says other things":          {from([]event.Payload{a, event.FolderInspected{SHA256: "a"}}, []event.Payload{b, event.FolderInspected{SHA256: "b"}}), "no"},
		"nothing where there is no task.md":                    {from(one(event.FolderInspected{}), one(event.FolderInspected{})), ""},
		"what a second look finds where there are two":         {append(from(one(a), one(inspected("end", "h1", "x"))), check, b), "no"},
		"no progress in the state of two iterations ago":       {append(append(over(a, inspected("end", "h1", "x"), "yes"), over(inspected("begin", "h1", "x"), b, "yes")...), from(one(a), one(inspected("end", "h1", "x")))...), "no"},
		"no progress in a cycle of eight":                      {append(cycle(8), from(one(inspected("begin", "h1", "7")), one(inspected("end", "h1", "0")))...), "no"},
		"progress where that was longer ago":                   {append(cycle(9), from(one(inspected("begin", "h1", "8")), one(inspected("end", "h1", "0")))...), "yes"},
		"the state of a refunded iteration does not count":     {append(append(from(one(a), one(inspected("end", "h1", "x"))), limited), from(one(a), one(inspected("end", "h1", "x")))...), "yes"},
		"nor that of an aborted one":                           {append(append(from(one(a), one(inspected("end", "h1", "x"))), event.IterationEnded{Outcome: event.OutcomeAborted}), from(one(a), one(inspected("end", "h1", "x")))...), "yes"},
		"nor that of an interrupted one":                       {append(append(from(one(a), one(inspected("end", "h1", "x"))), event.IterationEnded{Outcome: event.OutcomeInterrupted}), from(one(a), one(inspected("end", "h1", "x")))...), "yes"},
		"states that an earlier runner saw are unknown":        {append(over(a, inspected("end", "h1", "x"), "yes"), append([]event.Payload{event.LoopResumed{}}, from(one(a), one(inspected("end", "h1", "x")))...)...), "yes"},
		"a beginning that failed is begun again":               {append([]event.Payload{begins, a, event.EffectFailed{Do: event.DoBegin}}, from(one(a), one(b))...), "no"},
		"where the last iteration ended counts, not its start": {append(over(a, inspected("end", "h1", "x"), "yes"), from(one(inspected("begin", "h2", "")), one(inspected("end", "h2", "")))...), "no"},
	} {
		t.Run(name, func(t *testing.T) {
			b := breaker(t, &policy.Breaker{}, &policy.Completion{}, row.story...)
			if got := b.Progress(1, true); string(got) != row.want {
				t.Errorf("progress %q, want %q", got, row.want)
			}
			if len(b.Seen) > 8 {
				t.Errorf("%d places are kept", len(b.Seen))
			}
		})
	}
}

// cycle has iterations with that many different states.
func cycle(n int) (story []event.Payload) {
	for i := range n {
		story = append(story, begins, event.IterationStarted{}, check, inspected("end", "h1", fmt.Sprint(i)), event.IterationEnded{Outcome: event.OutcomeDone, Progress: "yes"})
	}
	return story
}

func TestProgressWithoutFiles(t *testing.T) {
	said := func(text string) []event.Payload {
		return []event.Payload{opened, says("1.0", text), turnOver, checked, closed}
	}
	twice := append(said("Nothing to do."), said("Nothing to do.")...)
	for name, row := range map[string]struct {
		story []event.Payload
		tools int
		shows bool
		want  string
	}{
		"one message shows nothing":                   {said("Nothing to do."), 1, true, ""},
		"the same message again shows no progress":    {twice, 1, true, "no"},
		"... for an agent without tools, too":         {twice, 0, false, "no"},
		"another message shows nothing":               {append(said("a"), said("b")...), 1, true, ""},
		"silence twice is not the same message":       {append(said(""), said("")...), 1, true, ""},
		"the same message with another between is no": {append(append(said("a"), said("b")...), said("a")...), 1, true, ""},
		"an iteration without a tool shows none":      {said("a"), 0, true, "no"},
		"where tools are not shown it is unknown":     {said("a"), 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := breaker(t, &policy.Breaker{}, &policy.Completion{}, row.story...).Progress(row.tools, row.shows); string(got) != row.want {
				t.Errorf("progress %q, want %q", got, row.want)
			}
		})
	}
}

// stuckFor is a loop with that many iterations in a row without progress.
func stuckFor(t testing.TB, n int) *policy.Breaker {
	t.Helper()
	b := &policy.Breaker{}
	for range n {
		breaker(t, b, &policy.Completion{}, event.IterationEnded{Outcome: event.OutcomeDone, Progress: "no"})
	}
	return b
}

func TestStepsOfTheBreaker(t *testing.T) {
	for _, row := range []struct {
		limit int
		steps []string // after 1, 2 … iterations
	}{
		{0, []string{"", "", "", "", "", "", ""}},
		{1, []string{"stop", "stop"}},
		{2, []string{"hint", "stop", "stop"}},
		{3, []string{"hint", "backoff", "stop", "stop"}},
		{4, []string{"", "hint", "backoff", "stop"}},
		{5, []string{"", "", "hint", "backoff", "stop", "stop"}},
	} {
		t.Run(fmt.Sprintf("of %d", row.limit), func(t *testing.T) {
			r := event.Rules{Breaker: event.BreakerRules{NoProgress: row.limit}, Restart: event.RestartRules{Delay: event.Duration(time.Second)}}
			for i, want := range row.steps {
				trip, ok := stuckFor(t, i+1).Trip(r, policy.Failing{})
				if ok != (want != "") || trip.Step != want {
					t.Errorf("after %d: %+v, want %q", i+1, trip, want)
				}
				if ok && (trip.Count != i+1 || trip.Rule != policy.RuleNoProgress || (trip.Delay == 10_000) != (want == "backoff") || trip.Delay != 0 && want != "backoff") {
					t.Errorf("after %d: %+v", i+1, trip)
				}
			}
		})
	}
}

// Errors of the same fault, and of different ones.
func TestErrorsAreComparedByWords(t *testing.T) {
	for name, row := range map[string]struct {
		first, second string
		same          bool
	}{
		"a request's id":     {"unexpected status 400 Bad Request: no, request id: req_1", "unexpected status 400 Bad Request: no, request id: req_2", true},
		"a uuid":             {"failed in 01a1fbcd-38bf-77a2-a822-aa073c420d9b", "failed in 01a20379-0214-7bc3-8adf-85a7d0965f46", true},
		"a port":             {"no answer of http://127.0.0.1:33049/v1/responses", "no answer of http://127.0.0.1:8080/v1/responses", true},
		"a number":           {"prompt is too long: 213423 tokens > 200000 maximum", "prompt is too long: 213999 tokens > 200000 maximum", true},
		"a time of day":      {"try again at 6:04 AM.", "try again at 12:30 PM.", true},
		"a date":             {"try again at Nov 25th, 2026 6:04 AM.", "try again at 11:59 PM", true},
		"a span":             {"try again in 2 hours 5 minutes", "try again in 59 minutes", true},
		"a moment":           {"at 2026-11-22T13:29:36Z it broke", "at 2026-11-23T01:02:03.456Z it broke", true},
		"a body":             {`{"error":{"code":"x","message":"no"},"request_id":"req_011CV"}`, `{"error":{"code":"x","message":"no"},"request_id":"req_99"}`, true},
		"the case":           {"Connection error.", "connection error", true},
		"another status":     {"unexpected status 401 Unauthorized", "unexpected status 404 Not Found", false},
		"another word":       {"the file a is missing", "the file b is missing", false},
		"another code":       {`{"error":{"code":"x","message":"no"}}`, `{"error":{"code":"y","message":"no"}}`, false},
		"more words":         {"no", "no more", false},
		"words in one piece": {"no more", "nomore", false},
		"other letters":      {"Zugriff verweigert", "Datei fehlt", false},
		"letters and an id":  {"запрос 17 отклонён", "запрос 18 отклонён", true},
	} {
		first, second := failed(row.first, time.Second), failed(row.second, time.Second)
		b := breaker(t, &policy.Breaker{}, &policy.Completion{}, first, second)
		s := endings(t, &policy.Restart{}, patient, first, second)
		if want := map[bool]int{true: 2, false: 1}[row.same]; b.Errors != want || s.Instant != want {
			t.Errorf("%s: %d errors of the breaker and %d at once, want %d", name, b.Errors, s.Instant, want)
		}
		if b.Error != row.second {
			t.Errorf("%s: the error is %q", name, b.Error)
		}
	}
}

func TestBreakerCounts(t *testing.T) {
	end := func(outcome event.Outcome, progress, problem string) event.Payload {
		return event.IterationEnded{Outcome: outcome, Progress: event.Progress(progress), Error: problem}
	}
	done := func(progress event.Progress) event.Payload { return end(event.OutcomeDone, string(progress), "") }
	fails := func(problem string) event.Payload { return end(event.OutcomeFailed, "", problem) }
	long := strings.Repeat("x", 400)
	for name, row := range map[string]struct {
		story         []event.Payload
		stuck, errors int
		moved         bool
	}{
		"nothing at first":                                 {nil, 0, 0, false},
		"iterations without progress":                      {[]event.Payload{done("no"), done("no")}, 2, 0, false},
		"progress begins again":                            {[]event.Payload{done("no"), done("yes"), done("no")}, 1, 0, true},
		"so does unknown progress":                         {[]event.Payload{done("no"), done("")}, 0, 0, false},
		"silence without progress is one":                  {[]event.Payload{done("no"), end(event.OutcomeIdle, "no", "silent")}, 2, 0, false},
		"what a person ended is left out":                  {[]event.Payload{done("no"), end(event.OutcomeAborted, "", ""), done("no")}, 2, 0, false},
		"so is what a runner died under":                   {[]event.Payload{done("no"), end(event.OutcomeInterrupted, "", ""), done("no")}, 2, 0, false},
		"and what was limited":                             {[]event.Payload{done("no"), limited, done("no")}, 2, 0, false},
		"the same error with progress":                     {[]event.Payload{fails("a"), fails("a"), event.IterationEnded{Outcome: event.OutcomeFailed, Error: "a", Progress: "yes"}}, 0, 0, true},
		"the same error again":                             {[]event.Payload{fails("a"), fails("a"), fails("a")}, 0, 3, false},
		"a lock of another program is left out":            {[]event.Payload{fails("a"), end(event.OutcomeFailed, "no", "Error: database is locked"), fails("a")}, 0, 2, false},
		"another error begins again":                       {[]event.Payload{fails("a"), fails("a"), fails("b")}, 0, 1, false},
		"an iteration that went well takes errors back":    {[]event.Payload{fails("a"), fails("a"), done("yes"), fails("a")}, 0, 1, true},
		"silence between them takes them back":             {[]event.Payload{fails("a"), end(event.OutcomeIdle, "", "a"), fails("a")}, 0, 1, false},
		"a limit between them does not":                    {[]event.Payload{fails("a"), limited, fails("a")}, 0, 2, false},
		"errors are the same by their last 500 bytes":      {[]event.Payload{fails("a " + long + long), fails("b " + long + long)}, 0, 2, false},
		"and are another by these":                         {[]event.Payload{fails("a " + long), fails("b " + long)}, 0, 1, false},
		"progress is remembered when the loop is resumed":  {[]event.Payload{done("yes"), done("no"), event.LoopResumed{}}, 0, 0, true},
		"and errors are not":                               {[]event.Payload{fails("a"), fails("a"), event.LoopResumed{}, fails("a")}, 0, 1, false},
		"an iteration that fails without progress is both": {[]event.Payload{end(event.OutcomeFailed, "no", "a"), end(event.OutcomeFailed, "no", "a")}, 2, 2, false},
		"an iteration that fails with progress is none":    {[]event.Payload{end(event.OutcomeFailed, "yes", "a")}, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := breaker(t, &policy.Breaker{}, &policy.Completion{}, row.story...)
			if b.Stuck != row.stuck || b.Errors != row.errors || b.Moved != row.moved {
				t.Errorf("%d without progress, %d errors, moved %v; want %d, %d, %v", b.Stuck, b.Errors, b.Moved, row.stuck, row.errors, row.moved)
			}
			if len(b.Error) > 500 {
				t.Errorf("%d bytes of an error are kept", len(b.Error))
			}
		})
	}
}

func TestBreakerEvidence(t *testing.T) {
	no := event.IterationEnded{Outcome: event.OutcomeDone, Progress: "no"}
	look := []event.Payload{begins, opened, check, inspected("end", "h1", ""), checked, no}
	says := func(text string) []event.Payload {
		return []event.Payload{begins, opened, says("1.0", text), check, inspected("end", "h1", ""), checked, no}
	}
	words := func(text string) []event.Payload {
		return []event.Payload{begins, opened, piece("1.0", text), checked, no}
	}
	boom := event.IterationEnded{Outcome: event.OutcomeFailed, Error: "boom"}
	for name, row := range map[string]struct {
		story []event.Payload
		rules event.Rules
		want  string
	}{
		"of files":                       {append(look, look...), event.Rules{Breaker: event.BreakerRules{NoProgress: 3}}, "2 iterations in a row left no new commit, no new change and no ticked box"},
		"of one iteration":               {look, event.Rules{Breaker: event.BreakerRules{NoProgress: 3}}, "1 iteration left no new commit, no new change and no ticked box"},
		"of files and words":             {append(says("a"), says("a")...), event.Rules{Breaker: event.BreakerRules{NoProgress: 3}}, "2 iterations in a row changed nothing that lasts, and the last two ended with the same words"},
		"of words":                       {append(words("a"), words("a")...), event.Rules{Breaker: event.BreakerRules{NoProgress: 3}}, "2 iterations in a row got nowhere, and the last two ended with the same words"},
		"of nothing at all":              {append(words("a"), words("b")...), event.Rules{Breaker: event.BreakerRules{NoProgress: 3}}, "2 iterations in a row used no tool"},
		"of an error":                    {[]event.Payload{boom}, event.Rules{Breaker: event.BreakerRules{SameError: 3}}, "the last iteration ended with an error: boom"},
		"of the same error":              {[]event.Payload{boom, boom}, event.Rules{Breaker: event.BreakerRules{SameError: 3}}, "2 iterations in a row ended with the same error: boom"},
		"of an error before other words": {[]event.Payload{boom, event.IterationEnded{Outcome: event.OutcomeFailed, Error: "boom", Progress: "no"}}, event.Rules{Breaker: event.BreakerRules{SameError: 3, NoProgress: 3}}, "2 iterations in a row ended with the same error: boom"},
	} {
		t.Run(name, func(t *testing.T) {
			trip, _ := breaker(t, &policy.Breaker{}, &policy.Completion{}, row.story...).Trip(row.rules, policy.Failing{})
			if trip.Evidence != row.want {
				t.Errorf("%q, want %q", trip.Evidence, row.want)
			}
		})
	}
}

func TestBreakerFoldsSteps(t *testing.T) {
	trip := func(rule, step string) event.Payload {
		return event.BreakerTripped{Rule: rule, Step: step, Count: 2, Evidence: "nothing moved", Delay: 10_000}
	}
	b := breaker(t, stuckFor(t, 2), &policy.Completion{}, trip(policy.RuleNoProgress, policy.StepHint))
	if b.Hint != "nothing moved" || b.Stop != "" || !b.NotUntil.IsZero() || b.AnsweredStuck != 2 || b.AnsweredErrors != 0 {
		t.Errorf("after a hint: %+v", b)
	}
	b = breaker(t, stuckFor(t, 2), &policy.Completion{}, trip(policy.RuleSameError, policy.StepBackoff))
	if b.Hint != "nothing moved" || b.Stop != "" || !b.NotUntil.Equal(noon.Add(10*time.Second)) || b.AnsweredStuck != 0 || b.AnsweredErrors != 2 {
		t.Errorf("after a backoff: %+v", b)
	}
	b = breaker(t, stuckFor(t, 2), &policy.Completion{}, trip(policy.RuleNoProgress, policy.StepStop))
	if b.Stop != "nothing moved" || b.Hint != "" {
		t.Errorf("after a stop: %+v", b)
	}
	if _, ok := b.Trip(event.Rules{Breaker: event.BreakerRules{NoProgress: 2, SameError: 1}}, policy.Failing{}); ok {
		t.Error("a loop that is being stopped gets another step")
	}
	b = breaker(t, b, &policy.Completion{}, event.LoopResumed{})
	if diff := cmp.Diff(&policy.Breaker{}, b); diff != "" {
		t.Errorf("after a resume:\n%s", diff)
	}
}

func TestBreakerKeepsHintUntilRead(t *testing.T) {
	hint := event.BreakerTripped{Rule: policy.RuleNoProgress, Step: policy.StepHint, Count: 1, Evidence: strings.Repeat("x", 9000)}
	b := breaker(t, stuckFor(t, 1), &policy.Completion{}, hint, opened, limited)
	if len(b.Hint) != 4096 {
		t.Errorf("after a refunded iteration the hint has %d bytes", len(b.Hint))
	}
	if b = breaker(t, b, &policy.Completion{}, opened, closed); b.Hint != "" {
		t.Error("the hint is given a second time")
	}
}

// A rule takes one step for each count, and each count that needs a step gets it.
func TestBreakerTripsOncePerCount(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rules := event.Rules{Breaker: event.BreakerRules{NoProgress: rapid.IntRange(0, 6).Draw(r, "noProgress"), SameError: rapid.IntRange(0, 6).Draw(r, "sameError")}, Restart: event.RestartRules{Delay: event.Duration(time.Second)}}
		b, c := &policy.Breaker{}, &policy.Completion{}
		apply := func(p event.Payload) {
			b.Apply(noon, p, &policy.Lifecycle{}, &c.Text)
		}
		for range rapid.IntRange(1, 40).Draw(r, "iterations") {
			stuck, errors := b.Stuck, b.Errors
			apply(event.IterationEnded{
				Outcome:  rapid.SampledFrom([]event.Outcome{event.OutcomeDone, event.OutcomeFailed, event.OutcomeLimited, event.OutcomeIdle}).Draw(r, "outcome"),
				Progress: event.Progress(rapid.SampledFrom([]string{"yes", "no", "no", "no", ""}).Draw(r, "progress")),
				Error:    rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(r, "error"),
			})
			steps := map[string]int{}
			for range 3 {
				trip, ok := b.Trip(rules, policy.Failing{})
				if !ok {
					break
				}
				steps[trip.Rule]++
				apply(trip)
				if trip.Step == policy.StepStop {
					break
				}
			}
			for rule, n := range steps {
				if n > 1 {
					r.Fatalf("%s tripped %d times for one count", rule, n)
				}
			}
			if b.Stop != "" {
				return
			}
			if rules.Breaker.NoProgress > 0 && b.Stuck >= rules.Breaker.NoProgress || rules.Breaker.SameError > 0 && b.Errors >= rules.Breaker.SameError {
				r.Fatalf("the loop goes on after %d iterations without progress and %d errors", b.Stuck, b.Errors)
			}
			if b.Stuck > stuck && b.Stuck >= max(1, rules.Breaker.NoProgress-2) && rules.Breaker.NoProgress > 0 && steps[policy.RuleNoProgress] == 0 {
				r.Fatalf("no step after %d iterations without progress", b.Stuck)
			}
			if b.Errors > errors && b.Errors >= max(1, rules.Breaker.SameError-2) && rules.Breaker.SameError > 0 && steps[policy.RuleSameError] == 0 {
				r.Fatalf("no step after %d errors", b.Errors)
			}
		}
	})
}
