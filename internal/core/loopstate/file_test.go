package loopstate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func stateIn(t *testing.T, data []byte) loopstate.State {
	t.Helper()
	var f loopstate.File
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.State
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	data := testfile.Read(t, filepath.Join(path...))
	return data
}

// Other programs read the head of state.json and stop there.
func TestStateJSONBeginsWithSummary(t *testing.T) {
	s := folded(t, append([]event.Payload{started}, iteration(1)...)...)
	data := loopstate.Encode(s)
	var keys []string
	dec := json.NewDecoder(bytes.NewReader(data))
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if delim, ok := token.(json.Delim); ok {
			depth += map[bool]int{true: 1, false: -1}[delim == '{' || delim == '[']
			continue
		}
		if depth == 1 {
			keys = append(keys, fmt.Sprint(token))
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{"seq", "status", "reason", "iteration", "maximumIterations", "since", "at", "cost", "tokensIn", "tokensOut", "agent", "waiting", "state"}
	if !slices.Equal(keys, want) {
		t.Errorf("the keys are %q,\nwant %q", keys, want)
	}
	if !bytes.HasSuffix(data, []byte("}\n")) || bytes.Count(data, []byte("\n")) != 2 {
		t.Error("state.json has other lines than its summary and the rest")
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	var summary registry.Summary
	if err := json.Unmarshal(append(line, '}'), &summary); err != nil || !cmp.Equal(summary, s.Summary()) {
		t.Errorf("the first line says %+v, %v", summary, err)
	}
}

func TestSurveyShowsStateJSON(t *testing.T) {
	for name, story := range map[string][]event.Payload{
		"a loop that starts":         {started},
		"a loop that runs":           append([]event.Payload{started}, iteration(1)[:6]...),
		"a loop of unknown cost":     {started, begin, opened, start, agentUp, event.AgentUsed{In: 1, CacheRead: 2, CacheWrite: 3, Out: 4}},
		"a loop with a refund":       {started, begin, opened, start, agentUp, exited, event.IterationEnded{N: 1, Outcome: event.OutcomeEmpty, Refunded: true}},
		"a loop that waits":          {started, begin, opened, start, agentUp, exited, failed},
		"a loop that has ended":      {started, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop, Why: "a \"person\" stopped it ✋"}},
		"a loop with a strange name": {event.LoopStarted{Agent: event.Agent{Protocol: "ä<b>\"\\\n"}, Rules: rules}},
	} {
		t.Run(name, func(t *testing.T) {
			home, project := t.TempDir(), t.TempDir()
			dir := filepath.Join(project, ".ralph", "demo")
			if err := errors.Join(os.MkdirAll(dir, 0o700), registry.Put(home, registry.Entry{Name: "demo", Dir: dir, Project: project, Started: noon})); err != nil {
				t.Fatal(err)
			}
			s := folded(t, story...)
			w := loopstate.NewWriter(dir, nil)
			w.State(s)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			loops, err := registry.Survey(home, nil)
			if err != nil || len(loops) != 1 || loops[0].Err != nil {
				t.Fatalf("%+v, %v", loops, err)
			}
			if diff := cmp.Diff(s.Summary(), loops[0].Head); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fleet.json is written for a fleet alone, and again by the next writer if it was deleted.
func TestFleetJSON(t *testing.T) {
	dir := t.TempDir()
	write := func(s *loopstate.State) {
		w := loopstate.NewWriter(dir, nil)
		w.State(s)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, loopstate.FleetFile)
	write(folded(t, started))
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a loop that is no fleet has one: %v", err)
	}
	s := folded(t, started, event.FleetOpened{Parallel: 1, Tasks: []event.FleetTask{{ID: "a", Loop: "x-a"}, {ID: "b", Loop: "x-b", DependsOn: []string{"a"}, Step: event.FleetMerged, Commit: "4b825dc"}}},
		event.FleetDecided{Do: event.FleetGiveUp, Task: "a", Why: "it changed nothing"})
	want := `{"tasks": [{"id": "a", "loop": "x-a", "step": "failed", "why": "it changed nothing"}, {"id": "b", "loop": "x-b", "step": "merged", "commit": "4b825dc"}]}`
	for range 2 {
		write(s)
		var got, wanted any
		if err := errors.Join(json.Unmarshal(read(t, path), &got), json.Unmarshal([]byte(want), &wanted), os.Remove(path)); err != nil || !cmp.Equal(got, wanted) {
			t.Errorf("%v: %s", err, cmp.Diff(wanted, got))
		}
	}
}

func TestSummaryCounts(t *testing.T) {
	s := folded(t, started, begin, opened, start, agentUp, event.AgentUsed{In: 1, CacheRead: 20, CacheWrite: 300, Out: 4000, USD: usd(0.5)})
	want := registry.Summary{
		Seq: 6, Status: event.StatusRunning, Iteration: 1, MaximumIterations: 9, Since: noon, At: noon.Add(5 * time.Second),
		Cost: usd(0.5), TokensIn: new(int64(321)), TokensOut: new(int64(4000)), Agent: "pi",
	}
	if diff := cmp.Diff(want, s.Summary()); diff != "" {
		t.Error(diff)
	}
}

func TestUnreportedTokensAreNull(t *testing.T) {
	plain := event.AgentStarted{PID: 9, ExitEnds: true, Uncounted: true}
	s := folded(t, started, begin, opened, start, plain)
	if got := s.Summary(); got.TokensIn != nil || got.TokensOut != nil {
		t.Errorf("%d in, %d out", *got.TokensIn, *got.TokensOut)
	}
	if file := string(loopstate.Encode(s)); !strings.Contains(file, `"cost":null,"tokensIn":null,"tokensOut":null,`) {
		t.Error(file)
	}
	if got := folded(t, started).Summary(); got.TokensIn == nil || *got.TokensIn != 0 {
		t.Errorf("of a loop in which no agent has started: %v", got.TokensIn)
	}
}

func TestSummaryHasReason(t *testing.T) {
	data := loopstate.Encode(folded(t, started, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonCost, Why: "$2.00 of $1.00 are spent"}))
	var f loopstate.File
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if f.Reason != "cost" || f.Why != "$2.00 of $1.00 are spent" || f.Status != event.StatusStopped {
		t.Errorf("%+v, %q", f.Summary, f.Why)
	}
}

// The first file fails and holds the writer, while others are planned after it.
func TestWriterWritesLatestVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "loop")
	var once sync.Once
	blocked, goOn := make(chan struct{}), make(chan struct{})
	failures := 0 // counted on the writer's goroutine, read after Close
	w := loopstate.NewWriter(dir, func(error) {
		failures++
		once.Do(func() { close(blocked); <-goOn })
	})
	w.State(folded(t, started))
	<-blocked
	mkdir(t, dir)
	for n := 1; n <= 3; n++ {
		w.State(folded(t, append([]event.Payload{started}, iteration(n)...)...))
		w.Iteration(loopstate.Telemetry{N: 1, Took: int64(n)})
	}
	w.Iteration(loopstate.Telemetry{N: 12})
	close(goOn)
	if err := w.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first error is lost: %v", err)
	}
	if failures != 1 {
		t.Errorf("%d failures were reported", failures)
	}
	if got := stateIn(t, read(t, dir, loopstate.StateFile)).Lifecycle.Iteration; got != 3 {
		t.Errorf("state.json is of iteration %d", got)
	}
	var telemetry loopstate.Telemetry
	if err := json.Unmarshal(read(t, dir, loopstate.IterationsDir, "001.json"), &telemetry); err != nil || telemetry.Took != 3 {
		t.Errorf("%+v, %v", telemetry, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, loopstate.IterationsDir))
	if err != nil || len(entries) != 2 || entries[1].Name() != "012.json" {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestWriterReportsErrors(t *testing.T) {
	dir := t.TempDir()
	// A folder where a file should be: no rename can replace it.
	mkdir(t, filepath.Join(dir, loopstate.StateFile))
	mkdir(t, filepath.Join(dir, loopstate.StateFile, "full"))
	testfile.Write(t, filepath.Join(dir, loopstate.IterationsDir), "")
	reported := make(chan error)
	w := loopstate.NewWriter(dir, func(err error) { reported <- err })
	w.State(folded(t, started))
	if err := <-reported; !strings.Contains(err.Error(), "write state.json") {
		t.Errorf("reported %v", err)
	}
	w.Iteration(loopstate.Telemetry{N: 1})
	if err := <-reported; !strings.Contains(err.Error(), "001.json") {
		t.Errorf("reported %v", err)
	}
	for range 2 {
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "write state.json") {
			t.Errorf("Close returns %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "state.json?*"))
	if err != nil || len(left) != 0 {
		t.Errorf("half-written files are left: %v", left)
	}
}

func TestIdleWriterWritesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := loopstate.NewWriter(dir, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestWriterRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, loopstate.IterationsDir))
	mkdir(t, filepath.Join(dir, "folder.json9"))
	keep := []string{"state.json", "config.json", "notes.json.bak", "state.json1a", "1234", filepath.Join(loopstate.IterationsDir, "001.json")}
	gone := []string{"state.json1234567", "state.json0", filepath.Join(loopstate.IterationsDir, "001.json42")}
	for _, name := range slices.Concat(keep, gone) {
		testfile.Write(t, filepath.Join(dir, name), "x")
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link.json9")); err != nil {
		t.Fatal(err)
	}
	if err := loopstate.NewWriter(dir, nil).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(keep, "folder.json9", "link.json9") {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s was removed", name)
		}
	}
	for _, name := range gone {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// A writer makes iterations/ for the first file in it, and not again after it was removed: a new
// file would prevent the removal of the loop's folder.
func TestWriterMakesFolderOnce(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, loopstate.IterationsDir)
	write := func(n int) error {
		w := loopstate.NewWriter(dir, nil)
		w.Iteration(loopstate.Telemetry{N: n})
		return w.Close()
	}
	if err := write(1); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	reported := make(chan error, 9)
	w := loopstate.NewWriter(dir, func(err error) { reported <- err })
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w.Iteration(loopstate.Telemetry{N: 2})
	if err := w.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of an iteration was written to a folder that had been removed: %v", err)
	}
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made again: %v", err)
	}
	if err := write(3); err != nil {
		t.Errorf("the next runner: %v", err)
	}
}
