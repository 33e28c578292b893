package plain_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// clock is when the events of a written run happen.
var clock = time.Date(2026, 11, 21, 23, 58, 0, 0, time.UTC)

// script makes the events of a run from payloads. A time.Duration passes before the
// next one; without one it is a tenth of a second.
func script(steps ...any) []event.Event {
	var events []event.Event
	at := clock
	for _, step := range steps {
		if wait, ok := step.(time.Duration); ok {
			at = at.Add(wait)
			continue
		}
		at = at.Add(100 * time.Millisecond)
		events = append(events, testevent.Of(event.Seq(len(events)+1), at, event.Encode(step.(event.Payload), "loop")))
	}
	return events
}

// shower is what Text and Log have in common.
type shower interface {
	Event(event.Event) error
	Close() error
}

func show(t testing.TB, s shower, events []event.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func text(t testing.TB, opt render.Options, events []event.Event) string {
	t.Helper()
	var out bytes.Buffer
	opt.Location = time.UTC
	show(t, plain.New(&out, opt), events)
	return out.String()
}

// Each type of event alone, as the frozen catalogue has it: once as it is shown, once
// to a verbose reader, and its line in a log.
func TestEachTypeOfEvent(t *testing.T) {
	var out bytes.Buffer
	for _, e := range testevent.Read(t, filepath.Join("..", "..", "journal", "event", "testdata", "catalogue.jsonl")) {
		one := []event.Event{e}
		var line bytes.Buffer
		show(t, render.NewLog(&line, render.Options{Location: time.UTC}), one)
		fmt.Fprintf(&out, "=== %s", line.String())
		plain, verbose := text(t, render.Options{Width: 80}, one), text(t, render.Options{Width: 80, Verbose: true}, one)
		out.WriteString(plain)
		if verbose != plain {
			fmt.Fprintf(&out, "--- verbose\n%s", verbose)
		}
	}
	golden.Check(t, "../testdata/catalogue.golden", out.Bytes())
}

// Recorded runs, and a long one with every kind of event.
func TestRuns(t *testing.T) {
	runs := map[string][]event.Event{"night": busyRun(), "checked": checked()}
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "runs", "*.jsonl"))
	if err != nil || len(paths) < 6 {
		t.Fatalf("recorded runs: %d, %v", len(paths), err)
	}
	for _, path := range paths {
		runs[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = testevent.Read(t, path)
	}
	for name, events := range runs {
		for _, width := range []int{40, 80, 200} {
			t.Run(fmt.Sprintf("%s in %d columns", name, width), func(t *testing.T) {
				got := text(t, render.Options{Width: width}, events)
				golden.Check(t, fmt.Sprintf("../testdata/runs/%s.%d.golden", name, width), got)
				for line := range strings.Lines(got) {
					if n := render.Columns(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("a line has %d columns: %q", n, line)
					}
				}
			})
		}
	}
	for name, opt := range map[string]render.Options{
		"verbose":     {Width: 80, Verbose: true},
		"quiet":       {Width: 80, Quiet: true},
		"colour":      {Width: 80, Color: true},
		"times":       {Width: 80, Time: true},
		"no-terminal": {},
	} {
		t.Run("night, "+name, func(t *testing.T) {
			golden.Check(t, "../testdata/runs/night."+name+".golden", text(t, opt, busyRun()))
			golden.Check(t, "../testdata/runs/checked."+name+".golden", text(t, opt, checked()))
		})
	}
}

func usd(v float64) *float64 { return &v }

// busyRun is a run with every kind of event.
func busyRun() []event.Event {
	said := func(block, s string) event.AgentSaid { return event.AgentSaid{Block: block, Text: event.Plain(s)} }
	final := func(block, s string) event.AgentSaid {
		return event.AgentSaid{Block: block, Text: event.Plain(s), Final: true}
	}
	steps := []any{
		event.SegmentOpened{Ordinal: 1, Iteration: 1},
		event.LoopStarted{
			Name: "night", Project: "/home/ada/shop", Agent: event.Agent{Protocol: "pi", Command: []string{"pi"}, Version: "0.87.1"},
			Rules: event.Rules{MaximumIterations: 10},
		},
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "Mend the shop.\nTests must pass.\n", Bytes: 32}},
		event.AgentStarted{PID: 12, Argv: []string{"pi"}, Live: true},
		event.AgentThought{Block: "1.0", Text: event.Plain("The user wants the shop mended. I look at the tests first, "), Final: false},
		event.AgentThought{Block: "1.0", Text: event.Plain("since they say most about what is broken."), Final: true},
	}
	// Words that come in pieces, one of them cut in the middle.
	for _, piece := range []string{"I'll ", "look at", " the failing", " tests", " first, then at the inter", "national", "ization code,", " which is", " old.\n\n", "1. run\n", "2. mend\n   what is indented stays so, also where the line has to be broken because it is long\n"} {
		steps = append(steps, said("1.1", piece))
	}
	steps = append(steps,
		final("1.1", "値段の計算が間違っています。合計は税込みで表示されるべきです。テストを追加します。🎉 done"),
		event.ToolCalled{ID: "a", Name: "bash", Input: []byte(`{"command":"make test\nmake lint"}`)},
		event.ToolProgressed{ID: "a", Text: event.Plain("ok  shop/cart\n")},
		2*time.Second,
		event.ToolReturned{ID: "a", OK: false, Output: event.Plain("ok  shop/cart\n\x1b[31mFAIL\x1b[0m shop/price\n\tprice_test.go:12: want 3\n" + strings.Repeat("more\n", 30) + "exit status 1"), Took: 2100},
		event.ToolCalled{ID: "b", Name: "Read", Input: []byte(`{"file_path":"/home/ada/shop/price.go","offset":10,"limit":20}`)},
		event.ToolCalled{ID: "c", Name: "grep", Input: []byte(`{"pattern":"func Price","path":"shop"}`)},
		event.ToolReturned{ID: "b", OK: true, Output: event.Plain(strings.Repeat("line\n", 20))},
		event.ToolReturned{ID: "c", OK: true, Output: event.Plain("shop/price.go:3:func Price() int")},
		event.ToolCalled{ID: "d", Name: "edit", Input: []byte(`{"path":"price.go","oldText":"return 1\n","newText":"x := 3\nreturn x\n"}`)},
		event.ToolReturned{ID: "d", OK: true, Output: event.Plain("")},
		event.ToolCalled{ID: "e", Name: "Task", Input: []byte(`{"description":"look around","prompt":"…"}`)},
		event.AgentSaid{Block: "9.0", Text: event.Plain("I look "), Parent: "e"},
		event.AgentSaid{Block: "9.0", Text: event.Plain("around.\nNothing here.\nAnd"), Parent: "e"},
		event.ToolCalled{ID: "f", Name: "Bash", Input: []byte(`{"command":"ls"}`), Parent: "e"},
		event.ToolReturned{ID: "f", OK: true, Output: event.Plain("a\nb\nc\nd\ne")},
		event.AgentSaid{Block: "9.0", Text: event.Plain(" that is all."), Final: true, Parent: "e"},
		event.ToolReturned{ID: "e", OK: true, Output: event.Plain("found nothing")},
		event.AgentPlanned{Todos: []event.Todo{{Text: "test", Status: "done"}, {Text: "mend", Status: "active"}, {Text: "write down what was learned, so that whoever comes next need not find it out again", Status: "pending"}}},
		event.AgentPlanned{Todos: []event.Todo{{Text: "test", Status: "done"}, {Text: "mend", Status: "active"}, {Text: "write down what was learned, so that whoever comes next need not find it out again", Status: "pending"}}},
		event.CommandReceived{ID: "01JDC1", Kind: "steer", From: "cli:ada@mill", Text: "leave the schema alone, it is shared with the warehouse and nobody knows who else reads it"},
		event.CommandDelivered{ID: "01JDC1", How: "live", Iteration: 1},
		event.CommandReceived{ID: "01JDC2", Kind: "set", From: "cli:ada@mill", Key: "maximumIterations", Val: "30"},
		event.LoopConfigured{Key: "maximumIterations", Value: "30", Rules: event.Rules{MaximumIterations: 30}},
		event.CommandDelivered{ID: "01JDC2", How: "loop", Iteration: 1},
		event.CommandReceived{ID: "01JDC3", Kind: "resume", From: "cli:ada@mill"},
		event.CommandRefused{ID: "01JDC3", Why: "the loop is not paused"},
		event.AgentLimited{Kind: "rate", Until: "2026-11-22T00:30:00Z", Text: "5-hour limit reached"},
		event.AgentRetried{Attempt: 2, Max: 5, Delay: 4000, Kind: "overload", Text: "529 overloaded_error"},
		event.AgentCompacted{Before: 180_000, After: 21_000},
		event.AgentAsked{What: "Which of the two?", Answer: "decide by yourself"},
		event.AgentNoticed{What: "session", Text: "abc"},
		event.AgentUnparsed{Line: event.Plain("Warning: \x1b]0;owned\x07what is this"), Stream: "stderr"},
		event.AgentUsed{In: 350_000, Out: 45_000, CacheRead: 850_000, USD: usd(5.76)},
		event.CompletionClaimed{How: "promise"},
		event.CompletionRefused{Missing: []string{"2 boxes of task.md are not ticked", "the steer of 23:58 was not delivered"}},
		event.AgentFinished{Outcome: "ok"},
		event.AgentExited{Code: 0, Took: 5000, Strays: 1},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{In: 350_000, Out: 45_000, CacheRead: 850_000, USD: usd(5.76)}, Tools: 58, Took: 367_000},
		event.Decided{Do: event.DoBegin, Iteration: 2},
		10*time.Minute,
		event.IterationStarted{N: 2, Prompt: event.Blob{Text: "Mend the shop.", Bytes: 14}},
		final("2.0", "\x1b[2J\x1b[1;1Hyou have been \x1b]52;c;ZXZpbA==\x07 owned \u202egnp.exe\x08\x00\r\nnext\rline \u009b31mred"),
		said("2.1", "A sentence that is never fin"),
		event.TimerFired{Name: "idle"},
		event.EffectFailed{Do: event.DoSteer, Error: "write stdin: broken pipe", Hint: "the text goes into the next prompt"},
		event.AgentUsed{In: 10, Out: 2},
		event.FaultRaised{Where: "journal", Error: "write: no space left on device"},
		event.AgentFinished{Outcome: "error", Error: "500 api_error", Kind: "other"},
		event.AgentExited{Code: 1, Took: 5, Stderr: "Traceback:\n  boom\n"},
		event.IterationEnded{N: 2, Outcome: event.OutcomeFailed, Error: "500 api_error: Internal server error", Usage: event.Usage{In: 10, Out: 2}, Took: 300, Refunded: true},
		event.LoopPaused{Why: "a person paused the loop"},
		event.LoopUnpaused{},
		event.LoopResumed{Died: true, Lost: &event.Lost{Segment: "000002-i0002.jsonl", Bytes: 17, Kept: "000002-i0002.jsonl.torn-1"}, Swept: 2},
		event.CompletionAccepted{How: "promise"},
		26*time.Hour,
		event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "the agent gave the promise, and nothing is missing"},
		event.SegmentSealed{Events: 70, SHA256: strings.Repeat("0123456789abcdef", 4)},
	)
	return script(steps...)
}

// checked is a run with every result of a verification and every kind of wait.
func checked() []event.Event {
	ended := func(n int, outcome event.Outcome, problem, progress string) event.IterationEnded {
		return event.IterationEnded{N: n, Outcome: outcome, Error: problem, Progress: event.Progress(progress), Tools: 3, Took: 61_000, Refunded: outcome == event.OutcomeLimited}
	}
	failed := event.Blob{Text: "Guardrail \"make test\" failed with exit code 2.\nHint: read the first failure\nOutput file: guardrail_1_make_test.log\nOutput (truncated):\n" +
		"ok  shop/cart\n\x1b[31mFAIL\x1b[0m shop/price\n" + strings.Repeat("more\n", 30) + "make: *** [test] Error 1"}
	return script(
		event.LoopStarted{
			Name: "checked", ID: "01JD", Project: "/home/ada/shop", Agent: event.Agent{Protocol: "text", Command: []string{"./agent.sh"}},
			Rules: event.Rules{MaximumIterations: 10, Restart: event.RestartRules{Delay: event.Duration(time.Second)}, Limits: event.LimitRules{Cost: 10}},
		},
		event.RepoInspected{Root: ".", When: "begin", Head: "4b825dc642cb", Fingerprint: "a"},
		event.FolderInspected{Boxes: 3, SHA256: "ab"},
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "Mend the shop."}},
		event.AgentStarted{PID: 12, ExitEnds: true},
		event.BudgetWarned{Limit: "limits.cost", Why: "this agent does not report what it costs: no limit of cost can stop it"},
		event.AgentExited{Code: 0, Took: 5000},
		event.GuardrailEdited{Path: "Makefile", How: "changed", Restored: true},
		event.GuardrailEdited{Path: ".ralph/settings.local.json", How: "appeared", Role: event.RoleSettings},
		event.GuardrailEdited{Path: "check.sh", How: "changed", Restored: true, During: true},
		event.RepoInspected{Root: ".", When: "end", Head: "5c925dc642cb", Dirty: true, Fingerprint: "b", Files: 2, Insertions: 10, Deletions: 1, Commits: 1},
		event.RepoInspected{Root: "vendor/till", When: "end", Head: "77", Dirty: true, Fingerprint: "b", Files: 1, Insertions: 1},
		event.FolderInspected{Boxes: 3, Ticked: 2, SHA256: "cd", Open: []string{"write the tests"}},
		event.GuardrailStarted{Name: "make lint"},
		event.GuardrailStarted{Name: "make test"},
		70*time.Second,
		event.GuardrailEnded{Name: "make lint", OK: true, Took: 2_200, Log: "guardrail_1_make_lint.log", Warning: "its log has only the first 4096 bytes: no space left on device"},
		event.GuardrailEnded{Name: "make test", Code: 2, Took: 70_000, Log: "guardrail_1_make_test.log", Action: "APPEND", Message: &failed},
		event.GuardrailStarted{Name: "./slow.sh && echo 'with a command that is rather longer than a narrow terminal is wide'"},
		event.GuardrailEnded{Name: "./slow.sh && echo 'with a command that is rather longer than a narrow terminal is wide'", Code: -1, TimedOut: true, Took: 600_000, Log: "guardrail_1_slow_sh.log"},
		event.IterationChecked{Guardrails: 3, Failed: 2},
		event.CompletionClaimed{How: "promise"},
		event.CompletionRefused{Missing: []string{`the guardrail "make test" failed`, "1 of 3 boxes in task.md are not ticked: write the tests"}},
		ended(1, event.OutcomeDone, "", "yes"),
		time.Second,
		event.IterationStarted{N: 2},
		event.AgentLimited{Kind: "rate", Until: "2026-11-22T04:30:00Z", Text: "5-hour limit reached"},
		event.AgentFinished{Outcome: "error", Error: "429 rate_limit_error", Kind: "rate"},
		ended(2, event.OutcomeLimited, "5-hour limit reached", ""),
		event.LoopWaiting{For: event.WaitRate, Until: time.Date(2026, 11, 22, 4, 30, 3, 0, time.UTC)},
		5*time.Hour,
		event.TimerFired{Name: "limit"},
		event.LoopWaited{For: event.WaitRate},
		event.IterationStarted{N: 3},
		event.ClockJumped{By: 3_600_000},
		event.TelemetryFailed{To: "http://localhost:4318/v1/traces", Why: "connection refused"},
		event.TelemetryRestored{To: "http://localhost:4318/v1/traces"},
		event.SandboxCorrected{Did: []string{"moved .git/COMMIT_EDITMSG to .ralph/demo/put-back/1f0c2a6b-COMMIT_EDITMSG", "took over the login that the agent refreshed, to /home/ada/.codex/auth.json"}},
		event.TimerFired{Name: "tool"},
		event.RepoInspected{Root: ".", When: "end", Head: "5c925dc642cb", Branch: "elsewhere", Left: "main", Dirty: true, Fingerprint: "b", Files: 2, Insertions: 10, Deletions: 1},
		event.FolderInspected{Boxes: 3, Ticked: 2, SHA256: "cd"},
		ended(3, event.OutcomeIdle, "the agent was silent for too long", "no"),
		event.BreakerTripped{Rule: "noProgress", Step: "hint", Count: 3, Evidence: "3 iterations in a row left no new commit, no new change and no ticked box"},
		event.IterationStarted{N: 4},
		ended(4, event.OutcomeOverspent, "the iteration used more than one may", "no"),
		event.BreakerTripped{Rule: "sameError", Step: "backoff", Count: 4, Evidence: "4 iterations in a row ended with the same error: boom", Delay: 10_000},
		event.IterationStarted{N: 5},
		event.CommandReceived{ID: "01JDC1", Kind: "wait", From: "cli:ada@mill", Text: "the access key of the till"},
		event.CommandDelivered{ID: "01JDC1", How: "loop", Iteration: 5},
		event.AgentNoticed{What: event.NoticeUnreadUsage, Text: "the agent reported its usage in a form that cannot be read: limits of tokens count less than that"},
		event.AgentNoticed{What: event.NoticeSentBack, Text: "the tests are red:\nrun make test"},
		event.AgentNoticed{What: event.NoticeLingering, Text: "what the agent left running may go on for 5m0s"},
		event.FolderInspected{Wait: true, Text: "the till needs a key", Boxes: 3, Ticked: 3, SHA256: "ef"},
		event.GuardrailStarted{Name: "make test"},
		event.GuardrailEnded{Name: "make test", OK: true, Took: 900},
		event.RepoCommitted{SHA: "93a1f0c77be2", Message: "Mend the shop\n\nPrices are whole again.", Files: 3, Insertions: 12, Deletions: 1},
		event.SCMEnded{Tasks: []string{"commit -q"}, Failed: "push", Error: "git push: exit status 1\nfatal: no upstream branch\nset one with git push -u"},
		ended(5, event.OutcomeDone, "", "yes"),
		event.LoopWaiting{Why: "the agent left the file WAIT_WITHOUT_RESTART: the till needs a key", For: event.WaitPerson},
		event.LoopWaiting{Why: "an answer to question 2: tabs or spaces?", For: event.WaitPerson, Question: 2},
		time.Hour,
		event.LoopWaited{For: event.WaitPerson},
		event.FolderInspected{Done: true, Text: "all is done", Boxes: 3, Ticked: 3, SHA256: "ef"},
		event.SCMEnded{Nothing: true},
		event.SCMEnded{Tasks: []string{"commit", "push", "tag"}},
		event.BreakerTripped{Rule: "noProgress", Step: "stop", Count: 5, Evidence: "5 iterations in a row used no tool"},
		event.CompletionClaimed{How: "promise"},
		event.CompletionAccepted{How: "promise", Warning: "no work was done: the claim came without a single use of a tool"},
		event.LoopEnded{
			Status: event.StatusCompleted, Reason: event.ReasonPromise, Result: "PROMISE_ACCEPTED",
			Why: "the agent gave the promise, and nothing is missing", Hint: "log in with the agent's own command, then resume the loop",
		},
	)
}
