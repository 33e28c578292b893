package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// contains reports the lines of want that are missing in got.
func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
}

func limitedLoop(t *testing.T) *recorded {
	t.Helper()
	r := record(t, "night")
	r.live()
	r.iterate(1, "One.")
	r.append(event.IterationStarted{N: 2, Prompt: event.Blob{Text: "do it"}}, event.Decided{Do: event.DoStart, Iteration: 2})
	until := r.at.Add(3 * time.Hour)
	r.append(event.AgentStarted{PID: 7, Costs: true}, event.AgentLimited{Kind: "rate", Until: until.Format(time.RFC3339), Text: "5-hour limit reached"})
	r.append(event.AgentFinished{Outcome: "error", Kind: "rate", Error: "429"}, event.AgentExited{Code: 1})
	r.append(event.IterationEnded{N: 2, Outcome: event.OutcomeLimited, Error: "5-hour limit reached", Refunded: true})
	r.append(event.LoopWaiting{For: event.WaitRate, Until: until})
	return r
}

func TestStatusShowsLimit(t *testing.T) {
	r := limitedLoop(t)
	r.register()
	contains(t, r.printed(&statusVerb{}),
		"status     waiting\n", "waits for  rate limit until 04:52:", "           5-hour limit reached\nnext",
		"next       it is tried again at 04:52:", "last one   2 limited in 0.0s · 0 tools (0 failed) · ", " · refunded\n",
		"used       1 iteration (1 more refunded) · ")
	contains(t, r.printed(&listVerb{}), "waiting (rate limit, 2h0m)")
}

func TestStatusShowsEscalation(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "One.")
	r.append(event.CommandReceived{ID: "01JDC", Kind: "wait", Text: "the key of the till"}, event.CommandDelivered{ID: "01JDC", How: "loop"}, event.LoopWaiting{Why: "the key of the till", For: event.WaitPerson})
	r.register()
	contains(t, r.printed(&statusVerb{}), "status     waiting\n", "waits for  a person: the key of the till\n", "           'ralph resume night' continues it\n")
	contains(t, r.printed(&listVerb{}), "waiting (a person)")
}

func TestPendingPauseIsVisible(t *testing.T) {
	for kind, want := range map[string]struct{ pending, status string }{
		"pause":    {"pausing after iteration 1", "running, pausing after iteration 1"},
		"stop":     {"stopping after iteration 1", "stopping after iteration 1"},
		"stop-now": {"stopping now", "stopping now"},
	} {
		t.Run(kind, func(t *testing.T) {
			r := record(t, "night")
			r.live()
			r.append(event.IterationStarted{N: 1, Prompt: event.Blob{Text: "do it"}}, event.Decided{Do: event.DoStart, Iteration: 1})
			r.append(event.AgentStarted{PID: 7, Costs: true}, event.AgentSaid{Block: "1.0", Text: event.Plain("I work."), Final: true})
			r.append(event.CommandReceived{ID: "01JDC", Kind: event.CommandKind(kind), From: "cli:ada@mill"}, event.CommandDelivered{ID: "01JDC", How: "loop", Iteration: 1})
			r.register()
			contains(t, r.printed(&statusVerb{}), "status     "+want.status+"\n")
			contains(t, r.printed(&statusVerb{JSON: true}), `"pending":"`+want.pending+`"`)
			contains(t, r.printed(&listVerb{}), " "+want.pending+" ")
			contains(t, r.printed(&listVerb{JSON: true}), `"pending":"`+want.pending+`"`)
			s, err := r.env.Find("night")
			r.must(err)
			contains(t, attach.Header(r.env, "night", s.Head, true), "loop night · "+want.status+" · ")
		})
	}
}

func TestStatusShowsWhatWasChecked(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.LoopConfigured{Key: "limits.cost", Value: "1", Rules: event.Rules{
		MaximumIterations: 10,
		Limits:            event.LimitRules{Cost: 0.3, Tokens: 2_000_000, IterationCost: 0.5, IterationTokens: 90_000, Tool: event.Duration(time.Hour), MaxOutage: event.Duration(6 * time.Hour), ExitGrace: event.Duration(30 * time.Second)},
		Breaker:           event.BreakerRules{NoProgress: 5, SameError: 3},
		Restart:           event.RestartRules{Max: 100},
	}})
	r.append(event.IterationStarted{N: 1, Prompt: event.Blob{Text: "do it"}}, event.AgentStarted{PID: 7, Costs: true}, event.AgentExited{})
	usd := 0.25
	r.append(event.AgentUsed{In: 5, USD: &usd}, event.BudgetWarned{Limit: "limits.cost", Why: "w"})
	r.append(event.Decided{Do: event.DoCheck, Iteration: 1}, event.GuardrailEdited{Path: "Makefile", How: "changed"},
		event.FolderInspected{Boxes: 3, Ticked: 2, SHA256: "ab"})
	r.append(event.GuardrailEnded{Name: "make lint", OK: true}, event.GuardrailEnded{Name: "make \x1b[2Jtest", Code: 2}, event.IterationChecked{Guardrails: 2, Failed: 1})
	r.append(event.RepoCommitted{SHA: "93a1f0c77be2", Message: "Mend the shop\n\nAll"}, event.SCMEnded{Failed: "push", Error: "no upstream"})
	r.append(event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Progress: "no"})
	r.register()
	got := r.printed(&statusVerb{})
	contains(t, got,
		"guardrails 1 of 2 passed\n", "           failed: make test\n", "commit     93a1f0c77b Mend the shop\n", "commit     failed: no upstream\n",
		" · no progress\n", "progress   none for 1 iteration; at 5 the loop ends\n", "task.md    2 of 3 boxes ticked\n",
		"edited     the guardrail file Makefile was changed\n", "warned     limits.cost: $0.25 of $0.30\n",
		"limits     10 iterations, $0.30, 2.0M tokens, $0.50 an iteration, 90k tokens an iteration, tool 1h, exitGrace 30s, maxOutage 6h\n",
		"ends at    5 iterations without progress, 3 iterations with the same error, more than 100 failures in a row\n")
	if strings.Contains(got, "\x1b") {
		t.Errorf("an escape came through: %q", got)
	}
}

func TestStatusOfBlockedLoop(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "One.")
	r.append(event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonBlocked, Why: "the agent is blocked: no key", Hint: "give it what it needs, then resume the loop"})
	r.register()
	contains(t, r.printed(&statusVerb{}), "status     stopped (blocked): the agent is blocked: no key\nhint       give it what it needs, then resume the loop\nexit code  4\n")
	contains(t, r.printed(&listVerb{JSON: true}), `"exitCode":4`)
	contains(t, r.printed(&statusVerb{JSON: true}), `"hint":"give it what it needs, then resume the loop"`, `"exitCode":4`)
}

func TestStatusOfUsedIterations(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "One.")
	r.append(event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonIterations, Result: event.ReasonIterations.Result(), Why: "1 of 1 iterations are used"})
	r.register()
	contains(t, r.printed(&statusVerb{}), "result     MAX_ITERATIONS_REACHED\nexit code  1\n")
}

func TestHeaderShowsWait(t *testing.T) {
	r := limitedLoop(t)
	contains(t, attach.Header(r.env, "night", r.state.Summary(), true), "loop night · waiting: rate limit until 04:52:")
	h := r.state.Summary()
	h.Waiting = "a person: the key\nof the till"
	if got := attach.Header(r.env, "night", h, true); strings.Contains(got, "\n") || !strings.Contains(got, "waiting: a person: the key · ") {
		t.Errorf("%q", got)
	}
}

// If the output cannot be written, for example to a full disk, the verb returns the error.
func TestWriteErrorIsReported(t *testing.T) {
	r := limitedLoop(t)
	r.register()
	broken, err := os.CreateTemp(t.TempDir(), "page")
	r.must(err)
	r.must(broken.Close())
	r.env.Stdout = broken
	for name, verb := range map[string]interface{ Run(*cli.Env) error }{
		"status": &statusVerb{}, "status as JSON": &statusVerb{JSON: true}, "list": &listVerb{}, "list as JSON": &listVerb{JSON: true},
		"logs": &logsVerb{}, "replay": &replayVerb{Speed: "max"}, "verify": &journalVerifyVerb{}, "version": &versionVerb{},
		"scenarios": &rehearseVerb{List: true}, "steps": &rehearseVerb{Steps: true},
	} {
		if err := verb.Run(r.env); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
