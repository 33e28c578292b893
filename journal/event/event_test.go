package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

func usd(x float64) *float64 { return &x }

// samples holds one payload of each type.
var samples = []event.Payload{
	event.LoopStarted{
		Name: "demo", ID: "01JD000000000000000000000A", Dir: "/p/.ralph/demo", Project: "/p", Host: "h", PID: 7, Version: "1", Git: "2.39.5",
		Agent: event.Agent{Protocol: "pi", Command: []string{"pi"}, Version: "0.87.1"},
		Rules: event.Rules{MaximumIterations: 10, Completion: event.CompletionRules{Promise: "COMPLETE"}, Restart: event.RestartRules{Delay: event.Duration(time.Second)}},
		Task:  event.Source{Text: &event.Blob{Text: "do it", Bytes: 5}},
	},
	event.LoopResumed{Host: "h", PID: 8, Died: true, Lost: &event.Lost{Segment: "000002-i0001.jsonl", Bytes: 17, Kept: "000002-i0001.jsonl.torn-1"}, Swept: 2, Settings: &event.Settings{
		Values: []event.Setting{{Key: "limits.cost", Value: "20", From: ".ralph/settings.json:3"}}, SHA256: "ab",
	}, Dir: "/q/.ralph/a", Project: "/q", Task: &event.Source{File: "/q/prompt.md"}},
	event.LoopConfigured{Key: "maximumIterations", Value: "30", Rules: event.Rules{MaximumIterations: 30}},
	event.LoopPaused{Why: "a person paused the loop"},
	event.LoopUnpaused{},
	event.LoopWaiting{For: event.WaitRate, Until: time.Date(2026, 11, 22, 4, 30, 1, 125e6, time.UTC)},
	event.LoopWaited{For: event.WaitRate},
	event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "done", Changed: &event.Difference{Files: 3, Insertions: 13, Deletions: 1}, Edited: []event.EditedFile{
		{Path: "Makefile", How: "changed", Role: "instructions", Iteration: 3, Guardrails: []string{"make test"}},
	}},
	event.SegmentOpened{Ordinal: 2, Iteration: 1, Prev: &event.PrevSegment{Name: "000001-i0000.jsonl", SHA256: "ab", Sealed: true}, Checkpoint: json.RawMessage(`{"seq":9}`)},
	event.SegmentSealed{Events: 12, Bytes: 4096, SHA256: "cd"},
	event.IterationStarted{N: 1, Mode: "work", Prompt: event.Blob{Text: "do it", Bytes: 5}, Commands: []string{"01JD000000000000000000000B"}, Snapshot: "0c8ea67bbb21f8b50fc53964fb3155b5d25b2ffc", Unkept: "git merge: it is not finished"},
	event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, USD: usd(0.25)}, Tools: 3, Took: 1500, Progress: event.ProgressNo, Refusal: "story US-001: passes changed from false to true"},
	event.AgentStarted{PID: 9, Argv: []string{"pi", "--mode", "rpc"}, Live: true, Costs: true, Tools: true},
	event.AgentSaid{Block: "2.0", Text: event.Plain("tab\tand \"quotes\" and é"), Final: true, Parent: "t1"},
	event.AgentThought{Block: "2.1", Text: event.Plain("hm")},
	event.AgentUsed{In: 100, Out: 20, CacheRead: 50, CacheWrite: 0, USD: usd(0.00081), Model: "m"},
	event.AgentPlanned{Todos: []event.Todo{{Text: "look", Status: "done"}}},
	event.AgentAsked{What: "continue?", Answer: "cancelled"},
	event.AgentLimited{Kind: "rate", Until: "2026-11-21T05:00:00Z", Text: "five hours"},
	event.AgentRetried{Attempt: 1, Max: 3, Delay: 2000, Kind: "overload"},
	event.AgentCompacted{Trigger: "auto", Before: 990161, After: 2546},
	event.AgentNoticed{What: "system/hook_started", Text: "SessionStart"},
	event.AgentUnparsed{Line: event.Plain("not json"), Stream: "stderr"},
	event.AgentFinished{Outcome: "error", Error: "401", Kind: "auth"},
	event.AgentParked{Strays: 1},
	event.AgentExited{Code: -1, Signal: "SIGKILL", Took: 60000, Strays: 2, Stderr: "bye"},
	event.ToolCalled{ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`), Parent: "t0"},
	event.ToolProgressed{ID: "t1", Text: event.Plain("half"), Replaced: true},
	event.ToolReturned{ID: "t1", OK: true, Output: event.Plain("a\nb"), Took: 12, Blob: "ef", Bytes: 70000},
	event.CommandReceived{ID: "01JD000000000000000000000C", Kind: "steer", From: "cli", Text: "use the other branch"},
	event.CommandDelivered{ID: "01JD000000000000000000000C", How: "live", Iteration: 1},
	event.CommandRefused{ID: "01JD000000000000000000000D", Why: "the loop is not paused"},
	event.CompletionClaimed{How: "promise"},
	event.CompletionRefused{Missing: []string{"no work was done"}},
	event.CompletionIgnored{How: "promise", Text: "<promise>DONE</promise>", Why: `it does not say "COMPLETE"`},
	event.CompletionAccepted{How: "promise"},
	event.FolderInspected{Done: true, Text: "all is done", Boxes: 3, Ticked: 2, Open: []string{"write the tests"}, SHA256: "ab"},
	event.RepoInspected{Root: ".", When: "end", Head: "4b825dc", Branch: "elsewhere", Left: "main", Dirty: true, Fingerprint: "cd", Files: 2, Insertions: 10, Deletions: 1, Commits: 1, Committed: &event.Difference{Files: 1, Insertions: 3}, Whole: &event.Difference{Files: 3, Insertions: 13, Deletions: 1},
		Size: &event.Size{Lines: 12, Skipped: 2, Largest: []event.SizeFile{{Path: "a.go", Lines: 12}}}},
	event.RepoUnreadable{Root: ".", When: "end", Error: "look at the repository: git status: not done after 1m0s: context deadline exceeded"},
	event.GuardrailSnapshotted{Files: []event.SnapshotFile{{Path: "Makefile", Role: "instructions", Kind: "file", SHA256: "ab", Bytes: 9, Mode: 420, Protected: true}, {Path: "GNUmakefile", Role: "instructions"}}},
	event.GuardrailStarted{Name: "make test"},
	event.GuardrailEnded{Name: "make test", Code: 2, Took: 1200, Log: "guardrail_1_make_test.log", Action: "APPEND", Message: &event.Blob{Text: "it failed", Bytes: 9}},
	event.GuardrailEnded{Name: "make docs", OK: true, Took: 900, Log: "guardrail_1_make_docs.log", Warning: "its log has only the first 4096 bytes: no space left on device"},
	event.GuardrailEdited{Path: "Makefile", How: "changed", Restored: true, Aside: []string{"Makefile.set-aside"}, Role: "instructions", Is: "cd", Guardrails: []string{"make test"}, During: true},
	event.IterationChecked{Guardrails: 2, Failed: 1},
	event.RepoCommitted{SHA: "4b825dc", Message: "Mend the parser", Files: 2, Insertions: 10, Deletions: 1},
	event.SCMEnded{Tasks: []string{"commit", "push"}, Failed: "pr", Error: "gh is not logged in", PR: "https://github.com/acme/shop/pull/7", Left: []string{"cart.go"},
		PRs: []event.StackedRequest{
			{Branch: "cart-1", Head: "4b825dc", URL: "https://github.com/acme/shop/pull/7", State: event.RequestMerged, Lines: 380},
			{Branch: "cart-2", Head: "9c30af1", State: event.RequestOpen, Lines: 912, Note: "one commit cannot be split"},
		}},
	event.HoldoutEnded{Number: 2, Requirement: "an empty cart costs nothing", Took: 900},
	event.HoldoutChecked{Passed: 1, Failed: 1, ByConvention: true},
	event.ProofTried{On: event.TrialMutant, Mutant: &event.Mutant{File: "cart.go", Line: 12, Operator: "comparison", Was: "\tif n > 0 {", Now: "\tif n >= 0 {"}, Passed: []int{0}, Failed: []int{1}, Took: 1200},
	event.ProofEnded{Strength: event.Strength{
		Grade: event.GradeFair, Why: []string{"4 of 12 mutants were noticed"}, Visible: event.Counted{Passed: 2}, HeldOut: event.Counted{Passed: 1},
		Mutants: event.Mutants{Killed: 4, Survived: 8, Invalid: 1, Tried: 13}, Took: 60000, Seed: 7, Claimed: "4b825dc",
		Guardrails: []event.GuardrailProof{{Command: "make test", Verdict: event.Proved, At: "cart.go:12"}},
		Survivors:  []event.Mutant{{File: "cart.go", Line: 20, Operator: "removed statement", Was: "\ttotal += tax"}},
		Facts:      []event.GamingFact{{Kind: event.FactTestsSkipped, File: "cart_test.go", Line: 9, Text: "TestTax is skipped"}},
	}, Unpublished: "gh pr view: it is not logged in"},
	event.BudgetWarned{Limit: "limits.cost", Why: "$8.10 of $10.00 are spent"},
	event.BreakerTripped{Rule: "noProgress", Step: "backoff", Count: 4, Evidence: "the files are as they were", Delay: 10000},
	event.ClockJumped{By: 3600000},
	event.NotificationSent{Channel: "ntfy ntfy.example", Occasion: "question"},
	event.LoopHeld{Until: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC), Why: "it starts at 01:00", Start: true},
	event.LoopReleased{Person: true},
	event.LoopFenced{Host: "kiln", Epoch: 2},
	event.LoopMoved{Host: "kiln", From: "mill", Epoch: 2},
	event.CommandReceived{ID: "01JD000000000000000000000G", Kind: "fence", From: "pool:mill", Host: "kiln", Epoch: 2},
	event.AgentHeld{Agent: 1, Until: time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC), Why: "91% of the account's quota of 5h are used, and limits.window allows 40%"},
	event.AgentQuota{Windows: []event.QuotaWindow{{Minutes: 300, Used: 91, Resets: "2026-11-21T05:00:00Z"}}},
	event.SandboxOpened{Mode: "bwrap", Network: "listed", Hosts: []string{"api.example.com"}},
	event.SandboxOpened{Mode: "none", Network: "open", Why: "sandbox bwrap is not available here: there is no program bwrap"},
	event.SandboxCorrected{Did: []string{"moved /mill/till/.git/COMMIT_EDITMSG to /mill/till/.ralph/demo/put-back/1f0c2a6b-COMMIT_EDITMSG"}},
	event.NotificationFailed{Channel: "mail ada@mill.example", Occasion: "waiting", Why: "sendmail: exit 75"},
	event.TelemetryFailed{To: "http://localhost:4318/v1/traces", Why: "connection refused"},
	event.TelemetryRestored{To: "http://localhost:4318/v1/traces"},
	event.Decided{Do: event.DoSteer, Why: "a person steers", Iteration: 1, Command: "01JD000000000000000000000C"},
	event.EffectFailed{Do: event.DoStart, Error: "no such program", Class: event.ClassMissing, Hint: "install it"},
	event.TimerFired{Name: "idle"},
	event.FaultRaised{Where: "inbox", Error: "gone", Class: event.ClassDisk},
	event.AgentReplaced{From: 0, To: 1, Was: "claude", Name: "pi", Why: "rate limit: five hours", Until: "2026-11-21T05:00:00Z"},
	event.StoriesRead{
		Mode: event.ModeReview, Story: "US-002", File: event.Blob{Text: `{"userStories":[]}`, Bytes: 18}, Base: "4b825dc", Done: true,
		Stories: []event.StoryState{
			{ID: "US-001", Title: "Store a note", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 2},
			{ID: "US-002", Title: "List the notes", ReviewStatus: event.StoryNeedsReview},
			{ID: "US-003", Title: "Find a note"},
		},
	},
	event.StoriesJudged{
		Mode: event.ModeReview, Found: &event.Blob{Text: "{", Bytes: 1}, Restored: true,
		Stories:  []event.StoryState{{ID: "US-001", ReviewStatus: event.StoryChangesRequested, ReviewCount: 1}},
		Problems: []event.StoryProblem{{Story: "US-001", Field: "passes", Text: "only a review may approve a story", Undone: true}},
	},
	event.StoryReviewed{Story: "US-002", Agent: "codex", Approved: true, AtCap: true, Feedback: "no test of an empty list", Count: 5, Open: true},
	event.ReviewUndone{Story: "US-002", Files: []string{"list.go"}, Commits: 1, Ref: "refs/ralph/undone/01JD", Error: "git reset: failed", Others: []string{"notes.md"}, Refused: true},
	event.QuestionAsked{Number: 3, Text: "Postgres or SQLite?", Choices: []string{"postgres", "sqlite"}, Blocks: true, Command: "01JD000000000000000000000Q"},
	event.QuestionAnswered{Number: 3, Question: "Postgres or SQLite?", Text: "postgres", From: "cli:ada@mill", Command: "01JD000000000000000000000R"},
	event.CommandReceived{ID: "01JD000000000000000000000E", Kind: "stop", From: "mcp:claude", Origin: event.OriginOther, Loop: "night"},
	event.CommandReceived{ID: "01JD000000000000000000000F", Kind: "stop", Origin: event.OriginUnknown, Doubt: "the process that gave it has ended"},
	event.CommandWithdrawn{ID: "01JD000000000000000000000C", By: "01JD000000000000000000000W", Text: "use the other branch"},
	event.StoriesJudged{Mode: event.ModeReview, Commit: &event.StoriesCommit{Message: "Review 1 of US-001: changes requested", SHA256: "9f86d081"}},
	event.ScheduleObserved{
		After:     &event.LoopObserved{Name: "first", Died: true},
		Accounts:  []event.AccountObserved{{At: time.Date(2026, 11, 21, 0, 30, 0, 0, time.UTC), Windows: []event.QuotaWindow{{Minutes: 300, Used: 91, Resets: "2026-11-21T05:00:00Z"}}}},
		Spent:     []event.Spent{{Window: "24h", USD: 4, Since: time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)}},
		Unwatched: true, Changed: true,
	},
	event.FleetOpened{Parallel: 2, Branch: "ralph/demo", ByPerson: true, Closed: "the verifyCommands have changed", Tasks: []event.FleetTask{
		{ID: "a", Loop: "demo-a", Begun: true, Share: 10, USD: 0.25}, {ID: "b", Loop: "demo-b", DependsOn: []string{"a"}, Step: event.FleetFailed, Tries: 3, Commit: "4b825dc", Why: "it changed nothing"},
	}},
	event.FleetObserved{Task: "a", What: event.FleetCompleted, Seq: 120, USD: 0.25},
	event.FleetObserved{Task: "a", What: event.FleetRejected, Why: "make test (exit 2)", Commit: "4b825dc", Share: 10},
	event.FleetDecided{Do: event.FleetBegin, Task: "a", Share: 10},
	event.FleetDecided{Do: event.FleetResume, Task: "a", Why: "it changed nothing", Message: "Do it."},
}

func TestEachTypeHasSample(t *testing.T) {
	have := map[event.Type]bool{}
	for _, p := range samples {
		have[p.EventType()] = true
	}
	for _, typ := range event.Types() {
		if !have[typ] {
			t.Errorf("no sample of %s", typ)
		}
	}
	if len(have) != len(event.Types()) {
		t.Errorf("%d types in the samples, %d in the catalogue", len(have), len(event.Types()))
	}
}

// lines returns the samples as the lines of one segment.
func lines(t *testing.T) []byte {
	t.Helper()
	var out []byte
	var crc uint32
	at := time.Date(2026, 11, 21, 1, 52, 28, 123456789, time.UTC)
	for i, p := range samples {
		d := event.Encode(p, "loop")
		d.Iter = i / 10
		if i%3 == 0 {
			d.Cause = event.Seq(i + 1)
			d.Raw = []byte(`{"type":"x","n":[1,{"y":"z"}]}`)
		}
		stamp := frame.Stamp{Seq: event.Seq(i + 1), At: at.Add(time.Duration(i) * time.Millisecond)}
		copy(stamp.ID[:], fmt.Sprintf("01JD%022d", i))
		out, crc = frame.Append(out, stamp, d, crc)
		out = append(out, '\n')
	}
	return out
}

func TestGoldenLines(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "catalogue.jsonl"), lines(t))
}

// decoded returns the payload of an event of a known type.
func decoded(t *testing.T, e event.Event) event.Payload {
	t.Helper()
	p, err := event.Decode(e)
	if err != nil || p == nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
	return p
}

func TestLinesReadBack(t *testing.T) {
	var crc uint32
	for i, line := range bytes.Split(bytes.TrimSuffix(lines(t), []byte("\n")), []byte("\n")) {
		var ok bool
		if crc, ok = frame.Verify(line, crc); !ok {
			t.Fatalf("line %d does not verify", i+1)
		}
		if !json.Valid(line) {
			t.Fatalf("line %d is not JSON: %s", i+1, line)
		}
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != event.Seq(i+1) || e.Iter != i/10 || e.By() != "loop" || e.ID() != fmt.Sprintf("01JD%022d", i) {
			t.Errorf("line %d: envelope read as %d %d %s %s", i+1, e.Seq, e.Iter, e.By(), e.ID())
		}
		if want := time.Date(2026, 11, 21, 1, 52, 28, 123456000, time.UTC).Add(time.Duration(i) * time.Millisecond); !e.At.Equal(want) {
			t.Errorf("line %d: at %s, want %s", i+1, e.At, want)
		}
		if (e.Raw() != nil) != (i%3 == 0) {
			t.Errorf("line %d: raw is %s", i+1, e.Raw())
		}
		if diff := cmp.Diff(samples[i], decoded(t, e)); diff != "" {
			t.Errorf("line %d, %s (-written +read):\n%s", i+1, e.Type, diff)
		}
	}
}

func TestPayloadsEqualEncodingJSON(t *testing.T) {
	for _, p := range samples {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(p); err != nil {
			t.Fatal(err)
		}
		if got := event.AppendData(nil, p); string(got)+"\n" != want.String() {
			t.Errorf("%s:\n got %s\nwant %s", p.EventType(), got, want.String())
		}
	}
}

func TestParseReadsForeignEnvelopes(t *testing.T) {
	for name, line := range map[string]string{
		"keys in another order": `{"type":"timer.fired","seq":3,"v":1,"data":{"name":"idle"},"at":"2026-11-21T01:52:28.123456Z","iter":2,"id":"x","by":"clock","crc":"00000000"}`,
		"an unknown key":        `{"v":1,"seq":3,"id":"x","at":"2026-11-21T01:52:28.123456Z","iter":2,"by":"clock","later":[1],"type":"timer.fired","data":{"name":"idle"},"crc":"00000000"}`,
		"white space":           `{ "v" : 1, "seq" : 3, "id":"x", "at":"2026-11-21T01:52:28.123456Z","iter":2,"by":"clock","type":"timer.fired","data": {"name":"idle"} ,"crc":"00000000"}`,
	} {
		t.Run(name, func(t *testing.T) {
			e, err := event.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			fired, err := event.As[event.TimerFired](e)
			if err != nil || fired.Name != "idle" || e.Seq != 3 || e.Iter != 2 || e.By() != "clock" || e.ID() != "x" {
				t.Errorf("read as %+v, %v", e, err)
			}
		})
	}
}

func TestParseRefusesInvalidLines(t *testing.T) {
	for name, line := range map[string]string{
		"an empty line":      ``,
		"an array":           `[1]`,
		"half a line":        `{"v":1,"seq":4,"id":"x","at":"2026-11-21T01:52`,
		"a later version":    `{"v":2,"seq":4,"type":"x","data":{}}`,
		"no type":            `{"v":1,"seq":4,"data":{}}`,
		"a number as type":   `{"v":1,"seq":4,"type":7,"data":{}}`,
		"an impossible date": `{"v":1,"seq":4,"type":"x","at":"2026-99-21T01:52:28.123456Z","data":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := event.Parse([]byte(line)); err == nil {
				t.Errorf("read as %+v", e)
			}
		})
	}
}

func TestFrozenLinesDecode(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "v1", "catalogue.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var crc uint32
	n := 0
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var ok bool
		if crc, ok = frame.Verify(line, crc); !ok {
			t.Fatalf("line %d does not verify", n+1)
		}
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		decoded(t, e)
		n++
	}
	if n < 37 {
		t.Errorf("only %d lines are left of version 1", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"seq":3,"id":"x","at":"2026-11-21T01:52:28.123456Z","iter":2,"by":"clock","type":"timer.fired","data":{"name":"idle"},"crc":"00000000"}`))
	f.Add([]byte(`{"v":1,"seq":3,"type":"agent.said","data":{"text":7}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := event.Parse(line)
		if err != nil {
			return
		}
		// No accessor panics on what was read.
		_, _, _, _ = e.ID(), e.By(), e.Data(), e.Raw()
		_ = e.Field("text")
		if said, err := event.As[event.AgentSaid](e); err == nil {
			_ = said.Text.String()
		}
		if clone := e.Clone(); clone.Seq != e.Seq || clone.Type != e.Type {
			t.Errorf("a clone reads as %+v, its origin as %+v", clone, e)
		}
	})
}

func BenchmarkAppendLine(b *testing.B) {
	d := event.Encode(event.ToolReturned{ID: "t1", OK: true, Output: event.Plain(strings.Repeat("x", 300))}, "agent:pi")
	stamp := frame.Stamp{Seq: 1, At: time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)}
	buf := make([]byte, 0, 4096)
	var crc uint32
	b.ReportAllocs()
	for b.Loop() {
		stamp.Seq++
		buf, crc = frame.Append(buf[:0], stamp, d, crc)
	}
	b.SetBytes(int64(len(buf)))
}

// Unknown tokens and costs are null, and a count that older journals left out is 0.
func TestUnknownUsageIsNull(t *testing.T) {
	usd := 1.5
	for text, want := range map[string]event.Usage{
		`{"in":1,"out":2,"cacheRead":3,"cacheWrite":4,"usd":1.5}`:              {In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, USD: &usd},
		`{"in":null,"out":null,"cacheRead":null,"cacheWrite":null,"usd":null}`: {TokensUnknown: true},
		`{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null}`:             {},
	} {
		var got event.Usage
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != text {
			t.Errorf("%s, %v, want %s", again, err, text)
		}
	}
	var old event.Usage
	if err := json.Unmarshal([]byte(`{"in":5}`), &old); err != nil || old.TokensUnknown || old.In != 5 || old.Out != 0 {
		t.Errorf("%+v, %v", old, err)
	}
}
