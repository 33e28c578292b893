package loopstate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func usd(x float64) *float64 { return &x }

// folded returns the state of a story whose events happen a second apart from noon on.
func folded(t testing.TB, story ...event.Payload) *loopstate.State {
	t.Helper()
	s := &loopstate.State{}
	for i, p := range story {
		e := testevent.Of(event.Seq(i+1), noon.Add(time.Duration(i)*time.Second), event.Encode(p, "story"))
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var rules = event.Rules{
	MaximumIterations:  9,
	Completion:         event.CompletionRules{Promise: "COMPLETE", Match: "final"},
	CompletionResponse: "DONE",
	Limits:             event.LimitRules{Idle: event.Duration(time.Minute), Iteration: event.Duration(10 * time.Minute), ExitGrace: event.Duration(5 * time.Second)},
	Restart:            event.RestartRules{Max: 3, Delay: event.Duration(time.Minute)},
}

var (
	started = event.LoopStarted{Name: "demo", ID: "L", Project: "/p", Agent: event.Agent{Protocol: "pi"}, Rules: rules}
	begin   = event.Decided{Do: event.DoBegin, Iteration: 1}
	opened  = event.IterationStarted{N: 1}
	start   = event.Decided{Do: event.DoStart, Iteration: 1}
	agentUp = event.AgentStarted{PID: 7, Live: true, Costs: true, Tools: true}
	over    = event.AgentFinished{Outcome: "ok"}
	exited  = event.AgentExited{}
	done    = event.IterationEnded{N: 1, Outcome: event.OutcomeDone}
	failed  = event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Error: "x", Took: 5000}
)

func TestStatus(t *testing.T) {
	stop, granted := event.CommandReceived{ID: "c", Kind: event.CommandStop}, event.CommandDelivered{ID: "c"}
	for name, row := range map[string]struct {
		story    []event.Payload
		status   event.Status
		waiting  string
		deadline string
	}{
		"a journal without a loop has no status":         {nil, "", "", ""},
		"a loop starts":                                  {[]event.Payload{started}, event.StatusStarting, "", ""},
		"it starts until its first agent runs":           {[]event.Payload{started, begin, opened, start}, event.StatusStarting, "", policy.TimerIteration},
		"it runs":                                        {[]event.Payload{started, begin, opened, start, agentUp}, event.StatusRunning, "", policy.TimerIdle},
		"it runs between two iterations":                 {[]event.Payload{started, begin, opened, start, agentUp, over, exited, done}, event.StatusRunning, "", ""},
		"its second agent starts while it runs":          {[]event.Payload{started, begin, opened, start, agentUp, over, exited, done, begin, event.IterationStarted{N: 2}, start}, event.StatusRunning, "", policy.TimerIteration},
		"it waits after a failure":                       {[]event.Payload{started, event.LoopWaiting{For: event.WaitRestart, Until: noon.Add(time.Hour)}}, event.StatusWaiting, "restart delay until 2026-11-21T13:00:00Z", policy.TimerRestart},
		"it waits no longer when the time has come":      {[]event.Payload{started, begin, opened, start, agentUp, exited, done, event.LoopWaiting{For: event.WaitRestart, Until: noon.Add(time.Hour)}, event.LoopWaited{For: event.WaitRestart}}, event.StatusRunning, "", ""},
		"it pauses":                                      {[]event.Payload{started, event.LoopPaused{}}, event.StatusPaused, "", ""},
		"a pause replaces the restart delay":             {[]event.Payload{started, begin, opened, start, agentUp, exited, failed, event.LoopPaused{}}, event.StatusPaused, "", ""},
		"it stops":                                       {[]event.Payload{started, begin, opened, start, agentUp, stop, granted}, event.StatusStopping, "", policy.TimerIdle},
		"it stops though it is paused":                   {[]event.Payload{started, event.LoopPaused{}, stop, granted}, event.StatusStopping, "", ""},
		"it has ended":                                   {[]event.Payload{started, stop, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop}}, event.StatusStopped, "", ""},
		"an ended loop waits for nothing":                {[]event.Payload{started, event.LoopWaiting{For: event.WaitRestart, Until: noon.Add(time.Hour)}, event.LoopEnded{Status: event.StatusFailed}}, event.StatusFailed, "", ""},
		"it waits for a limit":                           {[]event.Payload{started, event.LoopWaiting{For: event.WaitRate, Until: noon.Add(time.Hour)}}, event.StatusWaiting, "rate limit until 2026-11-21T13:00:00Z", policy.TimerLimit},
		"it waits without progress":                      {[]event.Payload{started, event.LoopWaiting{For: event.WaitBreaker, Until: noon.Add(time.Hour)}}, event.StatusWaiting, "no progress until 2026-11-21T13:00:00Z", policy.TimerBreaker},
		"a later wait replaces it":                       {[]event.Payload{started, event.LoopWaiting{For: event.WaitRate, Until: noon.Add(time.Hour)}, event.LoopWaiting{For: event.WaitPerson, Why: "which key?"}}, event.StatusWaiting, "a person: which key?", ""},
		"a resume ends it":                               {[]event.Payload{started, begin, opened, event.LoopWaiting{For: event.WaitRate, Until: noon.Add(time.Hour)}, event.LoopResumed{}}, event.StatusStarting, "", ""},
		"it waits for a person":                          {[]event.Payload{started, begin, opened, start, agentUp, event.CommandReceived{ID: "c", Kind: event.CommandWait, Text: "which key?"}, event.CommandDelivered{ID: "c", How: "loop"}, over, exited, done, event.LoopWaiting{For: event.WaitPerson, Why: "which key?"}}, event.StatusWaiting, "a person: which key?", ""},
		"it no longer does when one resumed it":          {[]event.Payload{started, event.LoopWaiting{For: event.WaitPerson}, event.LoopWaited{For: event.WaitPerson}}, event.StatusStarting, "", ""},
		"its guardrails run without a deadline":          {[]event.Payload{started, begin, opened, start, agentUp, over, exited, event.Decided{Do: event.DoCheck}}, event.StatusRunning, "", ""},
		"a process that is being killed has no deadline": {[]event.Payload{started, begin, opened, start, agentUp, over, event.Decided{Do: event.DoRelease}, event.Decided{Do: event.DoKill}}, event.StatusRunning, "", ""},
		"one that is released has":                       {[]event.Payload{started, begin, opened, start, agentUp, over, event.Decided{Do: event.DoRelease}}, event.StatusRunning, "", policy.TimerExitGrace},
		"it is resumed":                                  {[]event.Payload{started, begin, opened, start, agentUp, exited, done, event.LoopEnded{Status: event.StatusStopped}, event.LoopResumed{}}, event.StatusRunning, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := folded(t, row.story...)
			if got := s.Status(); got != row.status {
				t.Errorf("status %q, want %q", got, row.status)
			}
			if got := s.Waiting(); got != row.waiting {
				t.Errorf("waiting %q, want %q", got, row.waiting)
			}
			if got, ok := s.Deadline(); got.Name != row.deadline || ok != (row.deadline != "") {
				t.Errorf("deadline %v %q, want %q", ok, got.Name, row.deadline)
			}
		})
	}
}

func TestPending(t *testing.T) {
	taken := func(kind event.CommandKind) []event.Payload {
		return []event.Payload{event.CommandReceived{ID: "c", Kind: kind}, event.CommandDelivered{ID: "c", How: "loop"}}
	}
	turning := []event.Payload{started, begin, opened, start, agentUp}
	between := append(slices.Clone(turning), over, exited, done)
	proving := []event.Payload{event.CompletionAccepted{How: event.ClaimPromise}, done, event.Decided{Do: event.DoProve}}
	resumed := []event.Payload{event.CommandReceived{ID: "d", Kind: event.CommandResume}, event.LoopUnpaused{}, event.CommandDelivered{ID: "d", How: "loop"}}
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"nothing":                          {turning, ""},
		"a pause after this iteration":     {slices.Concat(turning, taken(event.CommandPause)), "pausing after iteration 1"},
		"a stop after this iteration":      {slices.Concat(turning, taken(event.CommandStop)), "stopping after iteration 1"},
		"a stop wins over a pause":         {slices.Concat(turning, taken(event.CommandPause), taken(event.CommandStop)), "stopping after iteration 1"},
		"a stop at once":                   {slices.Concat(turning, taken(event.CommandStopNow)), "stopping now"},
		"a kill":                           {slices.Concat(turning, taken(event.CommandKill)), "stopping now"},
		"a pause that is not taken yet":    {slices.Concat(turning, taken(event.CommandPause)[:1]), ""},
		"a pause that was taken back":      {slices.Concat(turning, taken(event.CommandPause), resumed), ""},
		"between two iterations":           {slices.Concat(between, taken(event.CommandPause)), "pausing"},
		"a stop between two iterations":    {slices.Concat(between, taken(event.CommandStop)), "stopping"},
		"a pause that has come":            {slices.Concat(between, taken(event.CommandPause), []event.Payload{event.LoopPaused{}}), ""},
		"a pause before the last proof":    {slices.Concat(turning, taken(event.CommandPause), []event.Payload{over, exited}, proving), ""},
		"a stop of the last proof":         {slices.Concat(turning, []event.Payload{over, exited}, proving, taken(event.CommandStop)), "stopping after iteration 1"},
		"a stop of a loop that has paused": {slices.Concat(between, []event.Payload{event.LoopPaused{}}, taken(event.CommandStop)), "stopping"},
		"a loop that has ended":            {slices.Concat(turning, taken(event.CommandStop), []event.Payload{event.LoopEnded{Status: event.StatusStopped}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := folded(t, row.story...)
			if got := s.Pending(); got != row.want || s.Summary().Pending != row.want {
				t.Errorf("pending %q, want %q; the summary has %q", got, row.want, s.Summary().Pending)
			}
		})
	}
}

func TestTelemetryOfAnIteration(t *testing.T) {
	usage := event.Usage{In: 5, Out: 6, USD: usd(0.5)}
	s := folded(t, started, begin, opened, start, agentUp,
		event.ToolCalled{ID: "a"}, event.ToolReturned{ID: "a"}, event.ToolReturned{ID: "b", OK: true}, event.ToolCalled{ID: "b"}, event.AgentSaid{Block: "1.0", Text: event.Plain(" I looked, and \n" + strings.Repeat("é", 2000)), Final: true},
		event.AgentSaid{Block: "s.0", Text: event.Plain("a subagent"), Parent: "t"}, event.AgentRetried{Attempt: 1},
		event.AgentUsed{In: 5, Out: 6, USD: usd(0.5)}, over, exited,
		event.CompletionClaimed{How: "promise"}, event.CompletionRefused{Missing: []string{"x"}},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Error: "e", Usage: usage, Tools: 1, Took: 4000, Refunded: true})
	want := &loopstate.Telemetry{
		N: 1, Outcome: event.OutcomeDone, Error: "e", Started: noon.Add(2 * time.Second), Ended: noon.Add(17 * time.Second), Took: 4000,
		Usage: usage, Tools: 1, ToolsFailed: 1, Turns: 2, Messages: 1, Summary: "I looked, and \n" + strings.Repeat("é", 985), Retries: 1, Refunded: true, Claimed: "promise", Refused: []string{"x"}, LastSeq: 18,
	}
	if diff := cmp.Diff(want, s.Last); diff != "" {
		t.Error(diff)
	}
}

func TestTelemetryOfVerification(t *testing.T) {
	story := []event.Payload{
		started, begin, opened, start, agentUp, over, exited,
		event.Decided{Do: event.DoCheck}, event.GuardrailEnded{Name: "make lint", OK: true},
		event.GuardrailEnded{Name: "make test", Code: 2, Action: "APPEND"}, event.IterationChecked{Guardrails: 2, Failed: 1},
		event.RepoCommitted{SHA: "93a1", Message: strings.Repeat("ä", 300) + "\n\nmore"}, event.SCMEnded{Tasks: []string{"commit"}, Failed: "push", Error: "no upstream"},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Progress: "yes"},
	}
	last := folded(t, story...).Last
	if last.Guardrails != 2 || len(last.Failed) != 1 || last.Failed[0] != "make test" || last.Progress != "yes" || last.Unkept != "no upstream" {
		t.Errorf("%+v", last)
	}
	if last.Commit == nil || last.Commit.SHA != "93a1" || last.Commit.Subject != strings.Repeat("ä", 200) {
		t.Errorf("commit %+v", last.Commit)
	}
	next := folded(t, append(story, begin, event.IterationStarted{N: 2}, event.IterationEnded{N: 2})...)
	if next.Last.Commit != nil || next.Last.Guardrails != 0 || next.Last.Failed != nil {
		t.Errorf("the iteration after it has %+v", next.Last)
	}
}

func TestFileOfEndedLoop(t *testing.T) {
	var file loopstate.File
	read := func(story ...event.Payload) {
		file = loopstate.File{}
		if err := json.Unmarshal(loopstate.Encode(folded(t, story...)), &file); err != nil {
			t.Fatal(err)
		}
	}
	read(started, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonBlocked, Why: "no key", Hint: "give it", Result: "R"})
	if file.Why != "no key" || file.Hint != "give it" || file.Result != "R" || file.ExitCode == nil || *file.ExitCode != event.ExitPerson || file.Until != nil {
		t.Errorf("%+v", file)
	}
	read(started, event.LoopWaiting{For: event.WaitRestart, Until: noon.Add(time.Minute)})
	if file.ExitCode != nil || file.Until == nil || !strings.HasSuffix(file.Waiting, file.Until.Format(time.RFC3339)) {
		t.Errorf("waits %q until %v, exit code %v", file.Waiting, file.Until, file.ExitCode)
	}
	read(started, event.LoopWaiting{Why: "w", For: event.WaitPerson})
	if file.Status != event.StatusWaiting || file.Until != nil {
		t.Errorf("%s until %v", file.Status, file.Until)
	}
}

func TestFoldErrorNamesEvent(t *testing.T) {
	for _, typ := range []event.Type{event.TypeLoopStarted, event.TypeIterationEnded, event.TypeAgentUsed, event.TypeSegmentOpened} {
		s := &loopstate.State{}
		err := s.Fold(testevent.Of(7, noon, event.Draft{Type: typ, Data: []byte(`[]`)}))
		if err == nil || !strings.Contains(err.Error(), "event 7") {
			t.Errorf("%s: %v", typ, err)
		}
	}
	s := &loopstate.State{}
	err := s.Fold(testevent.Of(1, noon, event.Encode(event.SegmentOpened{Ordinal: 3, Checkpoint: json.RawMessage(`{"commands":7}`)}, "loop")))
	if err == nil || !strings.Contains(err.Error(), "checkpoint of segment 3") {
		t.Errorf("a checkpoint of another kind: %v", err)
	}
}

func TestUnknownTypeChangesSequenceOnly(t *testing.T) {
	s := folded(t, started, begin, opened, start, agentUp)
	want := throughJSON(t, s)
	if err := s.Fold(testevent.Of(99, noon.Add(time.Hour), event.Draft{Type: "moon.risen", Data: []byte(`{"full":true}`)})); err != nil {
		t.Fatal(err)
	}
	want.Seq, want.At, want.Budget.Now = 99, noon.Add(time.Hour), noon.Add(time.Hour)
	if diff := cmp.Diff(string(want.Checkpoint()), string(s.Checkpoint())); diff != "" {
		t.Error(diff)
	}
}

// A checkpoint is of the event before its segment, or of the one before a seal.
func TestForeignCheckpointIsRefused(t *testing.T) {
	for seq, fits := range map[event.Seq]bool{8: false, 9: true, 10: true, 11: false} {
		s := new(loopstate.State)
		checkpoint := json.RawMessage(fmt.Sprintf(`{"seq":%d}`, seq))
		err := s.Fold(testevent.Of(11, noon, event.Encode(event.SegmentOpened{Ordinal: 3, Checkpoint: checkpoint}, "loop")))
		if (err == nil) != fits {
			t.Errorf("the state at event %d in a segment that begins with event 11: %v", seq, err)
		}
	}
}

func TestLaterCheckpointIsNotRestored(t *testing.T) {
	s := folded(t, started, begin, opened)
	if err := s.Fold(testevent.Of(4, noon, event.Encode(event.SegmentOpened{Checkpoint: json.RawMessage(`{"lifecycle":{"name":"other"}}`)}, "loop"))); err != nil {
		t.Fatal(err)
	}
	if s.Lifecycle.Name != "demo" || s.Seq != 4 {
		t.Errorf("%+v", s.Lifecycle)
	}
}

func throughJSON(t interface{ Fatal(...any) }, s *loopstate.State) *loopstate.State {
	again := new(loopstate.State)
	if err := json.Unmarshal(s.Checkpoint(), again); err != nil {
		t.Fatal(err)
	}
	return again
}

// stateMost bounds the JSON of a state, whatever happened.
const stateMost = 256 << 10

// anything draws an event that a journal could contain, whether it makes sense there or not.
var anything = rapid.Custom(func(t *rapid.T) event.Draft {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	n := func() int { return rapid.IntRange(0, 3).Draw(t, "n") }
	yes := func() bool { return rapid.Bool().Draw(t, "yes") }
	id := func() string { return pick("id", "a", "b", "c", "d", "e") }
	text := func() string {
		return pick("text", "", "x", "all is well\n", "<promise>COMPLETE</promise>", "```\n", "<response>done</response>", "ü\"\\\n\t日本🌍", "\u0000\u2028",
			strings.Repeat("long ", 60), strings.Repeat("a line of forty bytes, or nearly so, x\n", rapid.SampledFrom([]int{1, 1, 1, 500}).Draw(t, "lines")))
	}
	words := func() event.Text { return event.Plain(text()) }
	price := func() *float64 { return rapid.SampledFrom([]*float64{nil, usd(0), usd(0.25)}).Draw(t, "usd") }
	drawnRules := func() event.Rules {
		return event.Rules{
			MaximumIterations:  n(),
			Completion:         event.CompletionRules{Promise: "COMPLETE", Match: pick("match", "final", "anywhere"), DoneFile: yes(), Checklist: yes()},
			CompletionResponse: "DONE",
			Guardrails:         n(),
			Breaker:            event.BreakerRules{NoProgress: n(), SameError: n()},
			Restart:            event.RestartRules{WaitExitCode: n(), Max: n(), Delay: event.Duration(int64(n()))},
			Context:            pick("context", "fresh", "same"),
			Limits:             event.LimitRules{Cost: float64(n()), Tokens: int64(n()), Duration: event.Duration(int64(n())), Idle: event.Duration(int64(n()))},
		}
	}
	outcome := func() string {
		return pick("outcome", "", "done", "failed", "idle", "overlong", "aborted", "interrupted", "overspent", "limited", "ok", "error")
	}
	do := func() string {
		return pick("do", string(event.DoBegin), string(event.DoStart), string(event.DoSteer), string(event.DoRelease), string(event.DoAbort), string(event.DoKill), string(event.DoCheck), string(event.DoCommit), string(event.DoCancel), "moon.raise")
	}
	payloads := []func() event.Payload{
		func() event.Payload {
			return event.LoopStarted{Name: "demo", ID: id(), Agent: event.Agent{Protocol: "pi", Command: []string{text()}}, Rules: drawnRules(), Task: event.Source{Text: &event.Blob{Text: "do it"}}}
		},
		func() event.Payload {
			p := event.LoopResumed{Host: "h", PID: n(), Died: yes(), Swept: n(), AcceptedChanges: yes()}
			if yes() {
				r := drawnRules()
				p.Rules, p.Agent = &r, &event.Agent{Protocol: id()}
			}
			return p
		},
		func() event.Payload { return event.LoopConfigured{Key: id(), Value: text(), Rules: drawnRules()} },
		func() event.Payload { return event.LoopPaused{} },
		func() event.Payload { return event.LoopWaiting{For: event.WaitPerson, Why: "w"} },
		func() event.Payload { return event.LoopWaiting{For: event.WaitRate, Until: noon} },
		func() event.Payload { return event.LoopWaited{For: event.Wait(pick("for", "rate", "person"))} },
		func() event.Payload { return event.LoopUnpaused{} },
		func() event.Payload {
			return event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonFault, Why: text(), Hint: text()}
		},
		func() event.Payload {
			return event.SegmentOpened{Ordinal: n(), Checkpoint: json.RawMessage(`{"seq":0}`)}
		},
		func() event.Payload { return event.SegmentSealed{Events: n()} },
		func() event.Payload {
			return event.IterationStarted{N: n(), Prompt: event.Blob{Text: "go on", Bytes: 5}, Commands: []string{id()}}
		},
		func() event.Payload {
			return event.IterationEnded{N: n(), Outcome: event.Outcome(outcome()), Error: text(), Usage: event.Usage{In: 1, USD: price()}, Took: int64(1000 * n()), Refunded: yes()}
		},
		func() event.Payload {
			return event.AgentStarted{PID: n(), Argv: []string{text()}, Reused: yes(), Live: yes(), Costs: yes(), Tools: yes(), ExitEnds: yes()}
		},
		func() event.Payload {
			return event.AgentSaid{Block: pick("block", "1.0", "1.1", "2.0", "", "."), Text: words(), Final: yes(), Parent: pick("parent", "", "", "", "a")}
		},
		func() event.Payload { return event.AgentThought{Block: "1.0", Text: words(), Final: yes()} },
		func() event.Payload { return event.AgentUsed{In: int64(n()), Out: int64(n()), USD: price()} },
		func() event.Payload {
			return event.AgentPlanned{Todos: []event.Todo{{Text: text(), Status: "done"}}}
		},
		func() event.Payload {
			return event.AgentLimited{Kind: event.FaultKind(pick("kind", "rate", "network", "auth", "context")), Until: pick("until", "", "2026-11-21T13:00:00Z"), Text: text()}
		},
		func() event.Payload { return event.AgentRetried{Attempt: n(), Text: text()} },
		func() event.Payload { return event.AgentCompacted{} },
		func() event.Payload { return event.AgentNoticed{What: "x", Text: text()} },
		func() event.Payload { return event.AgentUnparsed{Line: words()} },
		func() event.Payload { return event.AgentFinished{Outcome: event.TurnOutcome(outcome()), Error: text()} },
		func() event.Payload { return event.AgentParked{Strays: n()} },
		func() event.Payload {
			return event.AgentExited{Code: n(), Signal: pick("signal", "", "SIGKILL"), Stderr: text()}
		},
		func() event.Payload { return event.ToolCalled{ID: id(), Name: "bash", Parent: pick("parent", "", "a")} },
		func() event.Payload { return event.ToolProgressed{ID: id(), Text: words()} },
		func() event.Payload { return event.ToolReturned{ID: id(), OK: yes(), Output: words()} },
		func() event.Payload {
			return event.CommandReceived{
				ID: id(), Kind: event.CommandKind(pick("kind", "steer", "follow-up", "stop", "stop-now", "pause", "resume", "set", "kill", "wait", "blocked", "dance")),
				From: pick("from", "", "cli:ada", "signal"), Text: "a few words", Key: "limits.cost", Val: "1",
			}
		},
		func() event.Payload { return event.CommandDelivered{ID: id(), How: "loop"} },
		func() event.Payload { return event.CommandRefused{ID: id(), Why: "x"} },
		func() event.Payload { return event.CompletionClaimed{How: "promise"} },
		func() event.Payload {
			return event.CompletionRefused{Missing: []string{"no work", id()}}
		},
		func() event.Payload { return event.CompletionAccepted{How: "promise"} },
		func() event.Payload {
			return event.Decided{Do: event.Effect(do()), Iteration: n(), Command: id(), Commands: []string{id()}, Outcome: event.Outcome(outcome())}
		},
		func() event.Payload {
			return event.EffectFailed{Do: event.Effect(do()), Command: id(), Error: text(), Class: event.ClassTransient}
		},
		func() event.Payload { return event.TimerFired{Name: "idle"} },
		func() event.Payload { return event.FaultRaised{Where: "inbox", Error: text()} },
		func() event.Payload {
			return event.FolderInspected{Done: yes(), Wait: yes(), Text: text(), Boxes: n(), Ticked: n(), Open: []string{text(), id()}, SHA256: pick("sum", "", "s")}
		},
		func() event.Payload {
			return event.RepoInspected{Root: id(), When: "end", Head: id(), Fingerprint: id()}
		},
		func() event.Payload { return event.GuardrailStarted{Name: text()} },
		func() event.Payload {
			return event.GuardrailEnded{Name: text(), OK: yes(), Action: "APPEND", Message: &event.Blob{Text: text()}}
		},
		func() event.Payload {
			return event.GuardrailSnapshotted{Files: []event.SnapshotFile{{Path: text(), Role: "program", Kind: pick("kind", "", "file"), SHA256: id(), Protected: yes()}}}
		},
		func() event.Payload {
			return event.GuardrailEdited{Path: text(), How: "changed", Restored: yes(), Is: id(), Guardrails: []string{text()}}
		},
		func() event.Payload { return event.IterationChecked{Guardrails: n(), Failed: n()} },
		func() event.Payload { return event.RepoCommitted{SHA: id(), Message: text()} },
		func() event.Payload { return event.SCMEnded{Error: text()} },
		func() event.Payload { return event.BudgetWarned{Limit: id(), Why: text()} },
		func() event.Payload {
			return event.BreakerTripped{Rule: pick("rule", policy.RuleNoProgress, policy.RuleSameError), Step: pick("step", policy.StepHint, policy.StepBackoff, policy.StepStop), Count: n(), Evidence: text(), Delay: 1000}
		},
		func() event.Payload { return event.ClockJumped{By: int64(1000 * (n() - 1))} },
	}
	i := rapid.IntRange(-1, len(payloads)-1).Draw(t, "type")
	if i < 0 {
		return event.Draft{Type: "moon.risen", By: "moon", Data: []byte(`{"full":true}`)}
	}
	return event.Encode(payloads[i](), "story")
})

// journalOf makes events of drafts: the clock goes on, stops, or is set back.
func journalOf(t *rapid.T, drafts []event.Draft) (events []event.Event) {
	when := noon
	for i, d := range drafts {
		when = when.Add(rapid.SampledFrom([]time.Duration{0, time.Microsecond, time.Second, time.Hour, -time.Minute}).Draw(t, "later"))
		events = append(events, testevent.Of(event.Seq(i+1), when, d))
	}
	return events
}

func foldAll(t interface{ Fatal(...any) }, s *loopstate.State, events []event.Event) string {
	for _, e := range events {
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	return string(s.Checkpoint())
}

// A crash may come after any event: a fold from a checkpoint there has to give the same state.
func TestCheckpointEqualsCompleteFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := journalOf(t, rapid.SliceOfN(anything, 0, 16).Draw(t, "events"))
		want := foldAll(t, new(loopstate.State), events)
		live := new(loopstate.State)
		for i, e := range events {
			opened := testevent.Of(e.Seq, e.At, event.Encode(event.SegmentOpened{Checkpoint: live.Checkpoint()}, "loop"))
			resumed := new(loopstate.State)
			if err := resumed.Fold(opened); err != nil {
				t.Fatal(err)
			}
			if got := foldAll(t, resumed, events[i:]); got != want {
				t.Fatalf("begun before event %d (%s):\n%s", e.Seq, e.Type, cmp.Diff(want, got))
			}
			foldAll(t, live, []event.Event{e})
		}
	})
}

// A state is written into every segment and read by every list of loops.
func TestStateStaysBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, viaJSON := new(loopstate.State), new(loopstate.State)
		for _, e := range journalOf(t, rapid.SliceOfN(anything, 10, 60).Draw(t, "events")) {
			a, b := foldAll(t, live, []event.Event{e}), foldAll(t, viaJSON, []event.Event{e})
			if a != b {
				t.Fatalf("after event %d (%s) they differ:\n%s", e.Seq, e.Type, cmp.Diff(a, b))
			}
			if len(a) > stateMost {
				t.Fatalf("after event %d the state has %d bytes", e.Seq, len(a))
			}
			// Whatever it is, it can be asked.
			_, _, _, _ = live.Status(), live.Waiting(), live.Summary(), loopstate.Encode(live)
			_, _ = live.Deadline()
			_, _ = live.Budget.Over(live.Rules)
			_, _ = live.Lifecycle.Outcome()
			_, _ = live.Budget.Warning(true, &live.Lifecycle)
			_, _ = live.Breaker.Trip(live.Rules, policy.Failing{})
			_, _, _ = live.Failover.Limits.Over(live.Rules)
			_, _, _ = live.Lifecycle.Refused(), live.Completion.Blocked(), live.Verification.Missing(live.Rules)
			viaJSON = throughJSON(t, viaJSON)
		}
	})
}

func TestLongLoopStateStaysBounded(t *testing.T) {
	s := folded(t, started)
	seq := s.Seq
	fold := func(p event.Payload) {
		seq++
		if err := s.Fold(testevent.Of(seq, noon, event.Encode(p, "story"))); err != nil {
			t.Fatal(err)
		}
	}
	line := event.Plain(strings.Repeat("words and more words; ", 200) + "\n")
	for n := range 1100 {
		fold(event.IterationStarted{N: n + 1})
		fold(event.CommandReceived{ID: fmt.Sprintf("%026d", n), Kind: event.CommandSteer, Text: "mind the gap"})
		fold(event.CommandDelivered{ID: fmt.Sprintf("%026d", n), How: "live"})
		for range 3 {
			fold(event.AgentSaid{Block: "1.0", Text: line})
		}
		fold(event.ToolCalled{ID: "t"})
		fold(event.ToolReturned{ID: "t", Output: line})
		fold(event.IterationEnded{N: n + 1, Outcome: event.OutcomeFailed, Error: strings.Repeat("x", 5000)})
	}
	if n := len(s.Checkpoint()); n > stateMost {
		t.Errorf("after 1100 iterations the state has %d bytes", n)
	}
}
