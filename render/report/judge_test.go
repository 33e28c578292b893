package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
)

// work is an iteration that ended well.
func work(n int, between ...step) []step {
	steps := append([]step{{0, event.IterationStarted{N: n}}, {0, event.AgentStarted{PID: 1}}}, between...)
	return append(steps, step{time.Minute, event.AgentFinished{Outcome: event.TurnOK}}, step{0, event.AgentParked{}})
}

func ended(n int) step {
	return step{0, event.IterationEnded{N: n, Outcome: event.OutcomeDone, Took: 60000}}
}

func TestSentence(t *testing.T) {
	begin := step{0, started(event.Rules{MaximumIterations: 10, Guardrails: 1})}
	loop := func(steps ...[]step) []event.Event {
		all := []step{begin}
		for _, s := range steps {
			all = append(all, s...)
		}
		return events(all...)
	}
	check := func(ok bool) []step {
		return []step{{0, event.GuardrailStarted{Name: "make test"}}, {0, event.GuardrailEnded{Name: "make test", OK: ok, Code: 1}}, {0, event.IterationChecked{Guardrails: 1}}}
	}
	claim := []step{{0, event.CompletionClaimed{How: event.ClaimPromise}}, {0, event.CompletionAccepted{How: event.ClaimPromise}}}
	refused := []step{{0, event.CompletionClaimed{How: event.ClaimPromise}}, {0, event.CompletionRefused{Missing: []string{"2 boxes are open", "no work was done"}}}}
	end := func(reason event.Reason, why string) []step {
		return []step{{0, event.LoopEnded{Status: reason.Status(), Reason: reason, Why: why}}}
	}
	now := began.Add(5 * time.Minute)
	for name, row := range map[string]struct {
		events []event.Event
		facts  report.Facts
		want   string
		needs  string // the commands
	}{
		"completed and verified": {
			loop(work(1), check(true), claim, []step{ended(1)}, end(event.ReasonPromise, "the agent gave the promise, and nothing is missing")), report.Facts{},
			"Completed after 1 iteration and 1m0s: the agent gave the promise, and nothing is missing; its guardrail passed.", "",
		},
		"completed unverified": {
			loop(work(1), claim, []step{ended(1)}, end(event.ReasonPromise, "the agent gave the promise, and nothing is missing")), report.Facts{},
			"Completed after 1 iteration and 1m0s: the agent gave the promise, and nothing is missing; no guardrail verified it.", "",
		},
		"out of iterations": {
			loop(work(1), check(false), []step{ended(1)}, end(event.ReasonIterations, "1 of 10 iterations are used")), report.Facts{},
			"Stopped after 1 of 10 iterations and 1m0s because 1 of 10 iterations are used; the work was not verified as done: make test still fails.",
			"ralph start night --resume --set maximumIterations=…",
		},
		"refused": {
			loop(work(1), refused, []step{ended(1)}, end(event.ReasonStop, "a person stopped the loop")), report.Facts{},
			"Stopped after 1 of 10 iterations and 1m0s because a person stopped the loop; the work was not verified as done: its last claim was refused, because 2 boxes are open and 1 more.", "",
		},
		"failed": {
			loop(end(event.ReasonAuth, "the agent is not logged in")), report.Facts{},
			"Failed before its first iteration, 0.0s after it began: the agent is not logged in; the work was not verified as done: the agent never claimed that it is.",
			"ralph start night --resume",
		},
		"runs": {
			loop([]step{{0, event.IterationStarted{N: 1}}, {0, event.AgentStarted{PID: 1}}}), report.Facts{Alive: true, Now: now},
			"It works on iteration 1 of 10, 5m0s after it began; this is its report so far.", "",
		},
		"died": {
			loop([]step{{time.Second, event.IterationStarted{N: 1}}, {0, event.AgentStarted{PID: 1}}}), report.Facts{Name: "shop/night", Now: now},
			"Its runner died in iteration 1 of 10, 1.0s after it began: nothing works on it now, and the work was not verified as done: the agent never claimed that it is.",
			"ralph start shop/night --resume",
		},
		"waits for a person": {
			loop(work(1), []step{ended(1), {0, event.CommandReceived{ID: "w", Kind: event.CommandWait, Text: "sqlite or postgres?"}}, {0, event.CommandDelivered{ID: "w", How: event.DeliveredLoop}}, {0, event.LoopWaiting{For: event.WaitPerson, Why: "sqlite or postgres?"}}}),
			report.Facts{Alive: true, Now: now},
			"After 1 of 10 iterations and 5m0s it waits for a person: sqlite or postgres?", "ralph resume night",
		},
		"waits for an answer": {
			loop(work(1), []step{{0, event.QuestionAsked{Number: 1, Text: "sqlite or postgres?", Blocks: true}}, {0, event.CompletionClaimed{How: event.ClaimPromise}},
				{0, event.CompletionRefused{Missing: []string{"question 1 has no answer yet"}, Questions: []int{1}}}, ended(1), {0, event.LoopWaiting{For: event.WaitPerson, Why: "an answer to question 1: sqlite or postgres?"}}}),
			report.Facts{Alive: true, Now: now},
			"After 1 of 10 iterations and 5m0s it waits for a person: an answer to question 1: sqlite or postgres?", "ralph answer night 1 TEXT",
		},
		"never began": {nil, report.Facts{}, "The journal has no event that can be read.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := fold(t, row.events)
			r.Judge(row.facts)
			if r.Sentence != row.want {
				t.Errorf("got  %s\nwant %s", r.Sentence, row.want)
			}
			var commands []string
			for _, n := range r.Needs {
				if n.Command != "" {
					commands = append(commands, n.Command)
				}
			}
			if got := strings.Join(commands, "\n"); got != row.needs {
				t.Errorf("commands: %s\nwant: %s", got, row.needs)
			}
		})
	}
}

func TestTimeGoesOn(t *testing.T) {
	all := events(step{0, started(event.Rules{MaximumIterations: 10})}, step{time.Minute, event.IterationStarted{N: 1}})
	r := fold(t, all)
	r.Judge(report.Facts{Alive: true, Now: began.Add(time.Hour)})
	if r.Wall != time.Hour.Milliseconds() || r.Active != 59*time.Minute.Milliseconds() || r.Open.Took != r.Active {
		t.Errorf("a loop that runs: wall %d, active %d, open %d", r.Wall, r.Active, r.Open.Took)
	}
	r = fold(t, all)
	r.Judge(report.Facts{Now: began.Add(time.Hour)})
	if r.Wall != time.Minute.Milliseconds() {
		t.Errorf("a loop without a runner: wall %d", r.Wall)
	}
}

func TestUseful(t *testing.T) {
	for want, u := range map[string]report.Useful{
		"Nothing shows which iterations made progress: there is no git repository and no checklist.": {},
		"No iteration is known to have made progress. All of it took 1m0s and cost unknown.":         {Known: true, After: 2, Took: 60000, Used: report.Amount{USDAtLeast: true}},
		"It made progress until its last iteration.":                                                 {Known: true, Iteration: 3},
		"The last iteration with progress is 3. The one after it took 1.0s and cost $2.00.":          {Known: true, Iteration: 3, After: 1, Took: 1000, Used: report.Amount{USD: usd(2)}},
		"The last iteration with progress is 3. The 2 after it took 1.0s and cost at least $2.00.":   {Known: true, Iteration: 3, After: 2, Took: 1000, Used: report.Amount{USD: usd(2), USDAtLeast: true}},
	} {
		if got := u.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
