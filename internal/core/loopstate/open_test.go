package loopstate_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// runner writes a loop's journal as the real one does: it folds what it writes, and
// begins each iteration after the first with a segment and a checkpoint.
type runner struct {
	t       *testing.T
	journal *journal.Writer
	state   loopstate.State
}

func begun(t *testing.T, dir string, opt journal.Options) *runner {
	t.Helper()
	when := noon
	opt.Now = func() time.Time { when = when.Add(time.Millisecond); return when }
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t}
	w, events, err := journal.Create(dir, rec, 1, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r.journal = w
	r.fold(events)
	return r
}

func (r *runner) fold(events []event.Event) {
	r.t.Helper()
	for _, e := range events {
		if err := r.state.Fold(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *runner) write(story ...event.Payload) {
	r.t.Helper()
	for _, p := range story {
		if begins, ok := p.(event.IterationStarted); ok && begins.N > 1 {
			events, err := r.journal.Rotate(begins.N, r.state.Checkpoint())
			if err != nil {
				r.t.Fatal(err)
			}
			r.fold(events)
		}
		events, err := r.journal.Append([]event.Draft{event.Encode(p, "loop")})
		if err != nil {
			r.t.Fatal(err)
		}
		r.fold(events)
	}
}

// iteration is an iteration that says something.
func iteration(n int) []event.Payload {
	return []event.Payload{
		event.Decided{Do: event.DoBegin, Iteration: n}, event.IterationStarted{N: n}, event.Decided{Do: event.DoStart, Iteration: n}, agentUp,
		event.AgentSaid{Block: "1.0", Text: event.Plain("working\n")}, event.AgentUsed{In: 10, Out: 1, USD: usd(0.01)}, over,
		event.Decided{Do: event.DoRelease, Iteration: n}, exited, event.IterationEnded{N: n, Outcome: event.OutcomeDone},
	}
}

func same(t *testing.T, want, got loopstate.State) {
	t.Helper()
	if diff := cmp.Diff(string(want.Checkpoint()), string(got.Checkpoint())); diff != "" {
		t.Errorf("the states differ (-live +read):\n%s", diff)
	}
}

func TestOpenEqualsRunnerState(t *testing.T) {
	// earlier is state.json as it was in the middle of the second iteration, last as it is now.
	for name, spoil := range map[string]func(t *testing.T, dir string, earlier, last []byte){
		"it is up to date": func(t *testing.T, dir string, _, last []byte) { put(t, dir, last) },
		"it is older":      func(t *testing.T, dir string, earlier, _ []byte) { put(t, dir, earlier) },
		"it is not there":  func(t *testing.T, dir string, _, _ []byte) {},
		"it is empty":      func(t *testing.T, dir string, _, _ []byte) { put(t, dir, nil) },
		"it is torn":       func(t *testing.T, dir string, _, last []byte) { put(t, dir, last[:len(last)/2]) },
		"it is torn after its head": func(t *testing.T, dir string, _, last []byte) {
			put(t, dir, last[:bytes.Index(last, []byte(`"state"`))])
		},
		"it is no JSON":                func(t *testing.T, dir string, _, _ []byte) { put(t, dir, []byte("\x00\x01")) },
		"it is another kind of JSON":   func(t *testing.T, dir string, _, _ []byte) { put(t, dir, []byte(`{"seq":"x","state":[]}`)) },
		"it is an empty object":        func(t *testing.T, dir string, _, _ []byte) { put(t, dir, []byte(`{}`)) },
		"it is a head without a state": func(t *testing.T, dir string, _, _ []byte) { put(t, dir, []byte(`{"seq":5,"status":"running"}`)) },
		"its head is of another moment": func(t *testing.T, dir string, earlier, _ []byte) {
			put(t, dir, bytes.Replace(earlier, []byte(`{"seq":`), []byte(`{"seq":1`), 1))
		},
		"it is of another journal":      func(t *testing.T, dir string, _, _ []byte) { put(t, dir, foreign(t)) },
		"it is ahead of the journal":    func(t *testing.T, dir string, _, last []byte) { put(t, dir, moved(t, last, 1000)) },
		"it is of an event of long ago": func(t *testing.T, dir string, _, last []byte) { put(t, dir, moved(t, last, -30)) },
		"it is a folder":                func(t *testing.T, dir string, _, _ []byte) { mkdir(t, filepath.Join(dir, loopstate.StateFile)) },
		"it has keys of a later version": func(t *testing.T, dir string, _, last []byte) {
			put(t, dir, bytes.Replace(last, []byte(`,"state":{`), []byte(`,"moon":1,"state":{"moon":2,`), 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := begun(t, dir, journal.Options{})
			r.write(started)
			r.write(iteration(1)...)
			second := iteration(2)
			r.write(second[:5]...)
			earlier := loopstate.Encode(&r.state)
			r.write(second[5:]...)
			r.write(iteration(3)[:6]...)
			spoil(t, dir, earlier, loopstate.Encode(&r.state))
			before := listing(t, dir)

			s, err := loopstate.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			same(t, r.state, s)
			if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
				t.Errorf("reading changed the folder:\n%s", diff)
			}
			rebuilt, err := loopstate.Rebuild(dir)
			if err != nil {
				t.Fatal(err)
			}
			same(t, r.state, rebuilt)
		})
	}
}

func put(t *testing.T, dir string, data []byte) {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, loopstate.StateFile), data)
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// moved returns a state.json with another last event.
func moved(t *testing.T, data []byte, by int) []byte {
	t.Helper()
	s := stateIn(t, data)
	s.Seq = event.Seq(int(s.Seq) + by)
	return loopstate.Encode(&s)
}

// foreign returns the state of a loop of the same length, at another time.
func foreign(t *testing.T) []byte {
	t.Helper()
	return loopstate.Encode(folded(t, append([]event.Payload{started}, iteration(1)...)...))
}

// listing describes everything in a folder that a reader could change.
func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			lines = append(lines, strings.Join([]string{path, info.Mode().String(), info.ModTime().String()}, " "))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// The use of state.json shows only if it says more than the journal.
func TestOpenBeginsWithStateJSON(t *testing.T) {
	for name, later := range map[string]int{"at its last event": 0, "before it": 4} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := begun(t, dir, journal.Options{})
			r.write(append([]event.Payload{started}, iteration(1)[:5]...)...)
			marked := r.state
			marked.Lifecycle.Host = "from state.json"
			put(t, dir, loopstate.Encode(&marked))
			r.write(iteration(1)[5 : 5+later]...)

			s, err := loopstate.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if s.Lifecycle.Host != "from state.json" {
				t.Errorf("state.json was not read: %q", s.Lifecycle.Host)
			}
			s.Lifecycle.Host = ""
			same(t, r.state, s)
		})
	}
}

func TestOpenRefusesMixedStateJSON(t *testing.T) {
	dir := t.TempDir()
	r := begun(t, dir, journal.Options{})
	r.write(append([]event.Payload{started}, iteration(1)[:5]...)...)
	marked := r.state
	marked.Lifecycle.Host = "from state.json"
	put(t, dir, bytes.Replace(loopstate.Encode(&marked), []byte(`{"seq":`), []byte(`{"seq":1`), 1))
	s, err := loopstate.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r.state, s)
}

func TestOpenReadsShortenedJournal(t *testing.T) {
	dir := t.TempDir()
	r := begun(t, dir, journal.Options{KeepIterations: 1})
	r.write(started)
	r.write(iteration(1)...)
	earlier := loopstate.Encode(&r.state)
	for n := 2; n <= 5; n++ {
		r.write(iteration(n)...)
	}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 1 {
			t.Fatal("nothing was dropped of the journal")
		}
		break
	}
	put(t, dir, earlier)
	s, err := loopstate.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r.state, s)
}

func TestOpenWithoutJournal(t *testing.T) {
	dir := t.TempDir()
	for name, open := range map[string]func(string) (loopstate.State, error){"open": loopstate.Open, "rebuild": loopstate.Rebuild} {
		s, err := open(dir)
		if err != nil || s.Seq != 0 || s.Status() != "" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestOpenReportsDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	r := begun(t, dir, journal.Options{})
	r.write(started)
	r.write(iteration(1)...)
	segments, err := journal.Segments(dir)
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	path := filepath.Join(dir, "journal", segments[0].Name)
	data := testfile.Read(t, path)
	testfile.Write(t, path, bytes.Replace(data, []byte("working"), []byte("WORKING"), 1))
	for name, open := range map[string]func(string) (loopstate.State, error){"open": loopstate.Open, "rebuild": loopstate.Rebuild} {
		if _, err := open(dir); err == nil {
			t.Errorf("%s: a changed line was folded", name)
		} else if damage, ok := errors.AsType[*journal.CorruptError](err); !ok {
			t.Errorf("%s: %v (%T)", name, err, damage)
		}
	}
}
