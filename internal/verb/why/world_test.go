package why

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A world is a loop whose rules, engine and journal are real, and whose executor is the test.
type world struct {
	t      *testing.T
	dir    string
	now    time.Time
	engine *loop.Engine
	writer *journal.Writer
	todo   []todo // decided effects that have no outcome yet
}

type todo struct {
	do  event.Effect
	seq event.Seq
}

// Do is the executor of the engine.
func (w *world) Do(d event.Decided, cause event.Seq, _ *loop.State) {
	w.todo = append(w.todo, todo{d.Do, cause})
}

// usual are the rules of a loop, unless a test changes them.
func usual() event.Rules {
	return event.Rules{
		MaximumIterations: 10, CompletionResponse: "DONE", Context: "fresh",
		Completion: event.CompletionRules{Promise: "COMPLETE", Match: "final", MinToolCalls: 1, OnPromiseNoWork: "reject", Checklist: true, DoneFile: true},
		Limits:     event.LimitRules{Idle: event.Duration(10 * time.Minute), Tool: event.Duration(time.Hour), Iteration: event.Duration(2 * time.Hour), MaxOutage: event.Duration(6 * time.Hour)},
		Restart:    event.RestartRules{Max: 10, Delay: event.Duration(2 * time.Second), WaitExitCode: 42},
		Breaker:    event.BreakerRules{NoProgress: 5, SameError: 5, Environment: 3},
	}
}

// start begins a loop.
func start(t *testing.T, change func(*event.Rules), given ...event.Setting) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	w.open(journal.Recovery{})
	rules := usual()
	if change != nil {
		change(&rules)
	}
	w.step("loop", event.LoopStarted{
		Name: "demo", ID: "01JD000000000000000000000A", Dir: "/p/.ralph/demo", Project: "/p", Rules: rules, Version: "1",
		Agent: event.Agent{Name: agentOf(rules), Protocol: "pi"}, Settings: &event.Settings{Values: given, SHA256: "ab"},
	})
	return w
}

func agentOf(rules event.Rules) string {
	if len(rules.Agents) > 0 {
		return rules.Agents[0].Name
	}
	return ""
}

// open begins a segment and an engine, as a runner does.
func (w *world) open(rec journal.Recovery) {
	w.t.Helper()
	n := 0
	opt := journal.Options{
		Now: func() time.Time { return w.now },
		NewID: func(time.Time) (id [26]byte) {
			copy(id[:], "01JD0000000000000000000000")
			n++
			copy(id[22:], fmt.Sprintf("%04d", n))
			return id
		},
	}
	e := &loop.Engine{Executor: w}
	checkpoint := json.RawMessage(nil)
	if w.engine != nil {
		e.Restore(*w.engine.State())
		checkpoint = w.engine.State().Checkpoint()
	}
	writer, opened, err := journal.Create(w.dir, rec, 0, checkpoint, opt)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = writer.Close() })
	e.Journal, w.engine, w.writer, w.todo = writer, e, writer, nil
	if err := e.Fold(opened); err != nil {
		w.t.Fatal(err)
	}
}

// crash ends the runner without an end; the next one resumes.
func (w *world) crash() {
	w.t.Helper()
	_ = w.writer.Close()
	// A runner that is killed leaves no seal.
	list, err := journal.Segments(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.dir, "journal", list[len(list)-1].Name)
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, withoutLastLine(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	rec, err := journal.Recover(w.dir, journal.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.open(rec)
	w.step("loop", event.LoopResumed{Died: true, Settings: &event.Settings{SHA256: "ab"}})
}

func withoutLastLine(text []byte) []byte {
	at := len(text) - 1
	for at > 0 && text[at-1] != '\n' {
		at--
	}
	return text[:at]
}

// step records what one author reports at once, a second after the last.
func (w *world) step(by string, payloads ...event.Payload) {
	w.t.Helper()
	w.after(time.Second, by, 0, payloads...)
}

func (w *world) after(d time.Duration, by string, cause event.Seq, payloads ...event.Payload) {
	w.t.Helper()
	w.now = w.now.Add(d)
	var drafts []event.Draft
	for _, p := range payloads {
		draft := event.Encode(p, by)
		draft.Cause = cause
		drafts = append(drafts, draft)
	}
	if err := w.engine.Step(drafts); err != nil {
		w.t.Fatal(err)
	}
}

// answer reports the outcome of the oldest effect that has none.
func (w *world) answer(do event.Effect, by string, payloads ...event.Payload) {
	w.t.Helper()
	if len(w.todo) == 0 || w.todo[0].do != do {
		w.t.Fatalf("decided are %v, not %s", w.todo, do)
	}
	first := w.todo[0]
	w.todo = w.todo[1:]
	w.after(time.Second, by, first.seq, payloads...)
}

// begin composes the prompt of the next iteration and starts the agent.
func (w *world) begin() {
	w.t.Helper()
	n := w.engine.State().Iteration + 1
	w.answer(event.DoBegin, "loop", event.FolderInspected{}, event.IterationStarted{N: n, Mode: "work", Prompt: event.Blob{Text: "do it", Bytes: 5}})
	w.answer(event.DoStart, "agent:pi", event.AgentStarted{PID: 7, Live: true, Costs: true, Tools: true})
}

const agent = "agent:pi"

// said ends a turn with a message, after some tools were used.
func (w *world) said(text string, tools int) {
	w.t.Helper()
	for i := range tools {
		id := string(rune('a' + i))
		w.step(agent, event.ToolCalled{ID: id, Name: "bash"}, event.ToolReturned{ID: id, OK: true})
	}
	w.step(agent, event.AgentSaid{Block: "1", Text: event.Plain(text), Final: true})
	w.step(agent, event.AgentFinished{Outcome: "ok"})
	w.parked()
}

// fails ends a turn with an error.
func (w *world) fails(kind event.FaultKind, text string) {
	w.t.Helper()
	w.step(agent, event.AgentFinished{Outcome: "error", Kind: kind, Error: text})
	w.parked()
}

func (w *world) parked() {
	w.t.Helper()
	w.answer(event.DoRelease, agent, event.AgentParked{})
}

// looked is the outcome of a check without guardrails.
func (w *world) looked(more ...event.Payload) {
	w.t.Helper()
	w.answer(event.DoCheck, "loop", append([]event.Payload{event.FolderInspected{}}, append(more, event.IterationChecked{})...)...)
}

func repo(fingerprint string) event.Payload {
	return event.RepoInspected{Root: ".", When: "end", Dirty: true, Fingerprint: fingerprint, Files: 1, Insertions: 2}
}

// exits ends the agent's process because the loop ends.
func (w *world) exits() {
	w.t.Helper()
	w.answer(event.DoAbort, agent, event.AgentExited{Code: 0, Took: 9000})
}

func usd(amount float64) *float64 { return &amount }

// overStories starts a loop over stories.
func overStories(t *testing.T) *world {
	return start(t, func(r *event.Rules) { r.Stories, r.Review.Cap = true, 5 })
}

// beginStory begins an iteration on the first of the stories.
func (w *world) beginStory(mode event.StoryMode, states ...event.StoryState) {
	n := w.engine.State().Iteration + 1
	w.answer(event.DoBegin, "loop", event.StoriesRead{Mode: mode, Story: states[0].ID, Stories: states},
		event.IterationStarted{N: n, Mode: string(mode), Prompt: event.Blob{Text: "do it", Bytes: 5}})
	w.answer(event.DoStart, agent, event.AgentStarted{PID: 7, Live: true, Costs: true, Tools: true})
}

// judged is the check after a turn.
func (w *world) judged(mode event.StoryMode, problem string, states ...event.StoryState) {
	p := event.StoriesJudged{Mode: mode, Stories: states}
	if problem != "" {
		p.Problems = []event.StoryProblem{{Story: states[0].ID, Field: "passes", Text: problem, Undone: true}}
	}
	w.looked(p)
}
