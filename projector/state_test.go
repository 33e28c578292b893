package projector_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func usd(x float64) *float64 { return &x }

// at returns a draft as an event that was read from a journal's line.
func at(t interface{ Fatal(...any) }, seq uint64, when time.Time, d event.Draft) event.Event {
	line, _ := event.AppendLine(nil, event.Stamp{Seq: seq, At: when}, d, 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// folded returns the state of a story whose events happen a second apart from noon on.
func folded(t testing.TB, story ...event.Payload) *projector.State {
	t.Helper()
	s := &projector.State{}
	for i, p := range story {
		e := at(t, uint64(i+1), noon.Add(time.Duration(i)*time.Second), event.Encode(p, "story"))
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var rules = event.Rules{
	MaximumIterations: 9, CompletionPromise: "COMPLETE", CompletionResponse: "DONE", CompletionMatch: "final",
	IdleAfter: 60_000, IterationLimit: 600_000, AfterResult: 5000, RestartMax: 3, RestartDelay: 60_000,
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
	limited = event.IterationEnded{N: 1, Outcome: event.OutcomeLimited, Refunded: true}
	failed  = event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Error: "x", Took: 5000}
)

func TestWhereALoopStands(t *testing.T) {
	stop, granted := event.CommandReceived{ID: "c", Kind: policy.Stop}, event.CommandDelivered{ID: "c"}
	for name, row := range map[string]struct {
		story    []event.Payload
		status   string
		waiting  string
		deadline string
	}{
		"a journal without a loop has no status":    {nil, "", "", ""},
		"a loop starts":                             {[]event.Payload{started}, event.StatusStarting, "", ""},
		"it starts until its first agent runs":      {[]event.Payload{started, begin, opened, start}, event.StatusStarting, "", policy.TimerIteration},
		"it runs":                                   {[]event.Payload{started, begin, opened, start, agentUp}, event.StatusRunning, "", policy.TimerIdle},
		"it runs between two iterations":            {[]event.Payload{started, begin, opened, start, agentUp, over, exited, done}, event.StatusRunning, "", ""},
		"its second agent starts while it runs":     {[]event.Payload{started, begin, opened, start, agentUp, over, exited, done, begin, event.IterationStarted{N: 2}, start}, event.StatusRunning, "", policy.TimerIteration},
		"it waits after a failure":                  {[]event.Payload{started, begin, opened, start, agentUp, exited, failed}, event.StatusWaiting, "restart delay until 2026-11-21T12:01:06Z", policy.TimerRestart},
		"it waits no longer when the time has come": {[]event.Payload{started, begin, opened, start, agentUp, exited, event.IterationEnded{N: 1, Outcome: event.OutcomeDone}}, event.StatusRunning, "", ""},
		"it rests": {[]event.Payload{started, event.LoopPaused{}}, event.StatusPaused, "", ""},
		"one that rests does not count the time to restart": {[]event.Payload{started, begin, opened, start, agentUp, exited, failed, event.LoopPaused{}}, event.StatusPaused, "", ""},
		"it stops":                        {[]event.Payload{started, begin, opened, start, agentUp, stop, granted}, event.StatusStopping, "", policy.TimerIdle},
		"it stops though it rests":        {[]event.Payload{started, event.LoopPaused{}, stop, granted}, event.StatusStopping, "", ""},
		"it has ended":                    {[]event.Payload{started, stop, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop}}, event.StatusStopped, "", ""},
		"an ended loop waits for nothing": {[]event.Payload{started, begin, opened, start, agentUp, exited, failed, event.LoopEnded{Status: event.StatusFailed}}, event.StatusFailed, "", ""},
		"it waits for a limit":            {[]event.Payload{started, begin, opened, start, agentUp, event.AgentLimited{Kind: "rate", Until: "2026-11-21T13:00:00Z"}, exited, limited}, event.StatusWaiting, "rate limit until 2026-11-21T13:00:03Z", policy.TimerLimit},
		"it waits because it gets nowhere": {[]event.Payload{started, begin, opened, start, agentUp, over, exited, done, event.BreakerTripped{Rule: policy.RuleNoProgress, Step: policy.StepBackoff, Count: 4, Delay: 10_000}},
			event.StatusWaiting, "no progress until 2026-11-21T12:00:18Z", policy.TimerBreaker},
		"the later of two delays counts": {[]event.Payload{started, begin, opened, start, agentUp, exited, failed, event.BreakerTripped{Step: policy.StepBackoff, Delay: 600_000}},
			event.StatusWaiting, "no progress until 2026-11-21T12:10:07Z", policy.TimerBreaker},
		"whichever that is": {[]event.Payload{started, begin, opened, start, agentUp, exited, failed, event.BreakerTripped{Step: policy.StepBackoff, Delay: 10_000}},
			event.StatusWaiting, "restart delay until 2026-11-21T12:01:06Z", policy.TimerRestart},
		"it waits for a person":                          {[]event.Payload{started, begin, opened, start, agentUp, event.CommandReceived{ID: "c", Kind: policy.Wait, Text: "which key?"}, event.CommandDelivered{ID: "c", How: "loop"}, over, exited, done, event.LoopPaused{For: "person"}}, event.StatusWaiting, "a person: which key?", ""},
		"it no longer does when one resumed it":          {[]event.Payload{started, event.LoopPaused{For: "person"}, event.LoopUnpaused{}}, event.StatusStarting, "", ""},
		"its guardrails run without a deadline":          {[]event.Payload{started, begin, opened, start, agentUp, over, exited, event.Decided{Do: event.DoCheck}}, event.StatusRunning, "", ""},
		"a process that is being killed has no deadline": {[]event.Payload{started, begin, opened, start, agentUp, over, event.Decided{Do: event.DoRelease}, event.Decided{Do: event.DoKill}}, event.StatusRunning, "", ""},
		"one that is released has":                       {[]event.Payload{started, begin, opened, start, agentUp, over, event.Decided{Do: event.DoRelease}}, event.StatusRunning, "", policy.TimerAfterResult},
		"it is taken up again":                           {[]event.Payload{started, begin, opened, start, agentUp, exited, done, event.LoopEnded{Status: event.StatusStopped}, event.LoopResumed{}}, event.StatusRunning, "", ""},
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

func TestWhatIsStillToCome(t *testing.T) {
	taken := func(kind string) []event.Payload {
		return []event.Payload{event.CommandReceived{ID: "c", Kind: kind}, event.CommandDelivered{ID: "c", How: "loop"}}
	}
	turning := []event.Payload{started, begin, opened, start, agentUp}
	between := append(slices.Clone(turning), over, exited, done)
	resumed := []event.Payload{event.CommandReceived{ID: "d", Kind: policy.Resume}, event.LoopUnpaused{}, event.CommandDelivered{ID: "d", How: "loop"}}
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"nothing":                          {turning, ""},
		"a pause after this iteration":     {slices.Concat(turning, taken(policy.Pause)), "pausing after iteration 1"},
		"a stop after this iteration":      {slices.Concat(turning, taken(policy.Stop)), "stopping after iteration 1"},
		"a stop wins over a pause":         {slices.Concat(turning, taken(policy.Pause), taken(policy.Stop)), "stopping after iteration 1"},
		"a stop at once":                   {slices.Concat(turning, taken(policy.StopNow)), "stopping now"},
		"a kill":                           {slices.Concat(turning, taken(policy.Kill)), "stopping now"},
		"a pause that is not taken yet":    {slices.Concat(turning, taken(policy.Pause)[:1]), ""},
		"a pause that was taken back":      {slices.Concat(turning, taken(policy.Pause), resumed), ""},
		"between two iterations":           {slices.Concat(between, taken(policy.Pause)), "pausing"},
		"a stop between two iterations":    {slices.Concat(between, taken(policy.Stop)), "stopping"},
		"a pause that has come":            {slices.Concat(between, taken(policy.Pause), []event.Payload{event.LoopPaused{}}), ""},
		"a stop of a loop that has paused": {slices.Concat(between, []event.Payload{event.LoopPaused{}}, taken(policy.Stop)), "stopping"},
		"a loop that has ended":            {slices.Concat(turning, taken(policy.Stop), []event.Payload{event.LoopEnded{Status: event.StatusStopped}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := folded(t, row.story...)
			if got := s.Pending(); got != row.want || s.Summary().Pending != row.want {
				t.Errorf("pending %q, want %q; the summary has %q", got, row.want, s.Summary().Pending)
			}
		})
	}
}

func TestADelayIsOverWhenItsTimeHasCome(t *testing.T) {
	s := folded(t, started, begin, opened, start, agentUp, exited, failed)
	deadline, ok := s.Deadline()
	if !ok {
		t.Fatal("nothing is waited for")
	}
	if err := s.Fold(at(t, s.Seq+1, deadline.At, event.Encode(event.TimerFired{Name: deadline.Name}, "clock"))); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Deadline(); ok || s.Status() == event.StatusWaiting {
		t.Errorf("the loop is %s for %q", s.Status(), s.Waiting())
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
	want := &projector.Telemetry{
		N: 1, Outcome: event.OutcomeDone, Error: "e", Started: noon.Add(2 * time.Second), Ended: noon.Add(17 * time.Second), Took: 4000,
		Usage: usage, Tools: 1, ToolsFailed: 1, Turns: 2, Messages: 1, Summary: "I looked, and \n" + strings.Repeat("é", 985), Retries: 1, Refunded: true, Claimed: "promise", Refused: []string{"x"}, LastSeq: 18,
	}
	if diff := cmp.Diff(want, s.Last); diff != "" {
		t.Error(diff)
	}
}

func TestTelemetryOfWhatWasChecked(t *testing.T) {
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
		t.Errorf("the iteration behind it has %+v", next.Last)
	}
}

func TestTheFileSaysHowALoopEndedAndUntilWhenOneWaits(t *testing.T) {
	var file projector.File
	read := func(story ...event.Payload) {
		file = projector.File{}
		if err := json.Unmarshal(projector.Encode(folded(t, story...)), &file); err != nil {
			t.Fatal(err)
		}
	}
	read(started, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonBlocked, Why: "no key", Hint: "give it", Result: "R"})
	if file.Why != "no key" || file.Hint != "give it" || file.Result != "R" || file.ExitCode == nil || *file.ExitCode != event.ExitPerson || file.Until != nil {
		t.Errorf("%+v", file)
	}
	read(started, begin, opened, start, agentUp, exited, failed)
	if file.ExitCode != nil || file.Until == nil || !strings.HasSuffix(file.Waiting, file.Until.Format(time.RFC3339)) {
		t.Errorf("waits %q until %v, exit code %v", file.Waiting, file.Until, file.ExitCode)
	}
	read(started, event.LoopPaused{Why: "w", For: "person"})
	if file.Status != event.StatusWaiting || file.Until != nil {
		t.Errorf("%s until %v", file.Status, file.Until)
	}
}

func TestAnEventThatCannotBeReadNamesItself(t *testing.T) {
	for _, typ := range []event.Type{event.TypeLoopStarted, event.TypeIterationEnded, event.TypeAgentUsed, event.TypeSegmentOpened} {
		s := &projector.State{}
		err := s.Fold(at(t, 7, noon, event.Draft{Type: typ, Data: []byte(`[]`)}))
		if err == nil || !strings.Contains(err.Error(), "event 7") {
			t.Errorf("%s: %v", typ, err)
		}
	}
	s := &projector.State{}
	err := s.Fold(at(t, 1, noon, event.Encode(event.SegmentOpened{Ordinal: 3, Checkpoint: json.RawMessage(`{"life":7}`)}, "loop")))
	if err == nil || !strings.Contains(err.Error(), "checkpoint of segment 3") {
		t.Errorf("a checkpoint of another kind: %v", err)
	}
}

func TestATypeOfALaterVersionChangesTheSequenceOnly(t *testing.T) {
	s := folded(t, started, begin, opened, start, agentUp)
	want := throughJSON(t, s)
	if err := s.Fold(at(t, 99, noon.Add(time.Hour), event.Draft{Type: "moon.risen", Data: []byte(`{"full":true}`)})); err != nil {
		t.Fatal(err)
	}
	want.Seq, want.At, want.Budget.Now = 99, noon.Add(time.Hour), noon.Add(time.Hour)
	if diff := cmp.Diff(string(want.Checkpoint()), string(s.Checkpoint())); diff != "" {
		t.Error(diff)
	}
}

// A checkpoint is of the event before its segment, or of the one before a seal.
func TestACheckpointOfAnotherPlaceIsRefused(t *testing.T) {
	for seq, fits := range map[uint64]bool{8: false, 9: true, 10: true, 11: false} {
		s := new(projector.State)
		checkpoint := json.RawMessage(fmt.Sprintf(`{"seq":%d}`, seq))
		err := s.Fold(at(t, 11, noon, event.Encode(event.SegmentOpened{Ordinal: 3, Checkpoint: checkpoint}, "loop")))
		if (err == nil) != fits {
			t.Errorf("the state at event %d in a segment that begins with event 11: %v", seq, err)
		}
	}
}

func TestACheckpointInTheMiddleIsNotAStateToBeginFrom(t *testing.T) {
	s := folded(t, started, begin, opened)
	if err := s.Fold(at(t, 4, noon, event.Encode(event.SegmentOpened{Checkpoint: json.RawMessage(`{"life":{"name":"other"}}`)}, "loop"))); err != nil {
		t.Fatal(err)
	}
	if s.Life.Name != "demo" || s.Seq != 4 {
		t.Errorf("%+v", s.Life)
	}
}

func throughJSON(t interface{ Fatal(...any) }, s *projector.State) *projector.State {
	again := new(projector.State)
	if err := json.Unmarshal(s.Checkpoint(), again); err != nil {
		t.Fatal(err)
	}
	return again
}

// stateMost bounds the JSON of a state, whatever happened.
const stateMost = 256 << 10

// anything draws an event that could stand in a journal, whether it makes sense there or not.
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
			MaximumIterations: n(), CompletionPromise: "COMPLETE", CompletionResponse: "DONE", CompletionMatch: pick("match", "final", "anywhere"),
			DoneFile: yes(), Checklist: yes(), Guardrails: n(), NoProgress: n(), SameError: n(), WaitExitCode: n(), Context: pick("context", "fresh", "same"),
			LimitCost: float64(n()), LimitTokens: int64(n()), LimitDuration: int64(n()), IdleAfter: int64(n()), RestartMax: n(), RestartDelay: int64(n()),
		}
	}
	outcome := func() string {
		return pick("outcome", "", "done", "failed", "idle", "overlong", "aborted", "interrupted", "overspent", "limited", "ok", "error")
	}
	do := func() string {
		return pick("do", event.DoBegin, event.DoStart, event.DoSteer, event.DoRelease, event.DoAbort, event.DoKill, event.DoCheck, event.DoCommit, event.DoCancel, "moon.raise")
	}
	payloads := []func() event.Payload{
		func() event.Payload {
			return event.LoopStarted{Name: "demo", ID: id(), Agent: event.Agent{Protocol: "pi", Command: []string{text()}}, Rules: drawnRules(), Task: event.Source{Text: &event.Blob{Text: "do it"}}}
		},
		func() event.Payload {
			p := event.LoopResumed{Host: "h", PID: n(), Died: yes(), Swept: n(), Resealed: yes()}
			if yes() {
				r := drawnRules()
				p.Rules, p.Agent = &r, &event.Agent{Protocol: id()}
			}
			return p
		},
		func() event.Payload { return event.LoopConfigured{Key: id(), Value: text(), Rules: drawnRules()} },
		func() event.Payload { return event.LoopPaused{For: pick("for", "", "person")} },
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
			return event.AgentLimited{Kind: pick("kind", "rate", "network", "auth", "context"), Until: pick("until", "", "2026-11-21T13:00:00Z"), Text: text()}
		},
		func() event.Payload { return event.AgentRetried{Attempt: n(), Text: text()} },
		func() event.Payload { return event.AgentCompacted{} },
		func() event.Payload { return event.AgentNoticed{What: "x", Text: text()} },
		func() event.Payload { return event.AgentUnread{Line: words()} },
		func() event.Payload { return event.AgentFinished{Outcome: outcome(), Error: text()} },
		func() event.Payload { return event.AgentRested{Strays: n()} },
		func() event.Payload {
			return event.AgentExited{Code: n(), Signal: pick("signal", "", "SIGKILL"), Stderr: text()}
		},
		func() event.Payload { return event.ToolCalled{ID: id(), Name: "bash", Parent: pick("parent", "", "a")} },
		func() event.Payload { return event.ToolProgressed{ID: id(), Text: words()} },
		func() event.Payload { return event.ToolReturned{ID: id(), OK: yes(), Output: words()} },
		func() event.Payload {
			return event.CommandReceived{
				ID: id(), Kind: pick("kind", "steer", "follow-up", "stop", "stop-now", "pause", "resume", "set", "kill", "wait", "blocked", "dance"),
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
			return event.Decided{Do: do(), Iteration: n(), Command: id(), Commands: []string{id()}, Outcome: outcome()}
		},
		func() event.Payload {
			return event.EffectFailed{Do: do(), Command: id(), Error: text(), Class: event.ClassTransient}
		},
		func() event.Payload { return event.TimerFired{Name: "idle"} },
		func() event.Payload { return event.FaultRaised{Where: "inbox", Error: text()} },
		func() event.Payload {
			return event.FolderSeen{Done: yes(), Wait: yes(), Text: text(), Boxes: n(), Ticked: n(), Open: []string{text(), id()}, SHA256: pick("sum", "", "s")}
		},
		func() event.Payload {
			return event.RepoSeen{Root: id(), When: "end", Head: id(), Fingerprint: id()}
		},
		func() event.Payload { return event.GuardrailStarted{Name: text()} },
		func() event.Payload {
			return event.GuardrailEnded{Name: text(), OK: yes(), Action: "APPEND", Message: &event.Blob{Text: text()}}
		},
		func() event.Payload {
			return event.GuardrailSealed{Files: []event.SealedFile{{Path: text(), Role: "program", Kind: pick("kind", "", "file"), SHA256: id(), Protected: yes()}}}
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

// journalOf gives drafts their places: the clock goes on, stands, or is set back.
func journalOf(t *rapid.T, drafts []event.Draft) (events []event.Event) {
	when := noon
	for i, d := range drafts {
		when = when.Add(rapid.SampledFrom([]time.Duration{0, time.Microsecond, time.Second, time.Hour, -time.Minute}).Draw(t, "later"))
		events = append(events, at(t, uint64(i+1), when, d))
	}
	return events
}

func foldAll(t interface{ Fatal(...any) }, s *projector.State, events []event.Event) string {
	for _, e := range events {
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	return string(s.Checkpoint())
}

// A crash may come after any event: whoever begins at a checkpoint there has to come to the same state.
func TestAStateBegunAtAnyCheckpointIsTheStateOfAllEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := journalOf(t, rapid.SliceOfN(anything, 0, 16).Draw(t, "events"))
		want := foldAll(t, new(projector.State), events)
		live := new(projector.State)
		for i, e := range events {
			opened := at(t, e.Seq, e.At, event.Encode(event.SegmentOpened{Checkpoint: live.Checkpoint()}, "loop"))
			resumed := new(projector.State)
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
func TestAStateStaysSmallAndWholeWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, viaJSON := new(projector.State), new(projector.State)
		for _, e := range journalOf(t, rapid.SliceOfN(anything, 10, 60).Draw(t, "events")) {
			a, b := foldAll(t, live, []event.Event{e}), foldAll(t, viaJSON, []event.Event{e})
			if a != b {
				t.Fatalf("after event %d (%s) they differ:\n%s", e.Seq, e.Type, cmp.Diff(a, b))
			}
			if len(a) > stateMost {
				t.Fatalf("after event %d the state has %d bytes", e.Seq, len(a))
			}
			// Whatever it is, it can be asked.
			_, _, _, _ = live.Status(), live.Waiting(), live.Summary(), projector.Encode(live)
			_, _ = live.Deadline()
			_, _ = live.Budget.Over()
			_, _ = live.Life.Outcome()
			_, _ = live.Budget.Warning(true, live.Life.Process)
			_, _ = live.Breaker.Trip(live.Budget.Rules)
			_, _, _ = live.Limits.Over(live.Budget.Rules)
			_, _, _ = live.Life.Refused(), live.Completion.Blocked(), live.Gate.Missing(live.Budget.Rules)
			viaJSON = throughJSON(t, viaJSON)
		}
	})
}

func TestAStateStaysSmallOverALongLife(t *testing.T) {
	s := folded(t, started)
	seq := s.Seq
	fold := func(p event.Payload) {
		seq++
		if err := s.Fold(at(t, seq, noon, event.Encode(p, "story"))); err != nil {
			t.Fatal(err)
		}
	}
	line := event.Plain(strings.Repeat("words and more words; ", 200) + "\n")
	for n := range 1100 {
		fold(event.IterationStarted{N: n + 1})
		fold(event.CommandReceived{ID: fmt.Sprintf("%026d", n), Kind: policy.Steer, Text: "mind the gap"})
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
