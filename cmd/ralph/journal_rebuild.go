package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

type journalRebuildVerb struct {
	journalPlace
	Check bool `help:"Write nothing; compare what is there with what the journal says."`
}

// rebuilt is what rebuild did or, with --check, found.
type rebuilt struct {
	Journal    string   `json:"journal"`
	Seq        uint64   `json:"seq"` // of the last event
	Iterations int      `json:"iterations"`
	OK         bool     `json:"ok"`
	Differ     []string `json:"differ,omitempty"` // with --check: file, and the key where it has one
}

// Run folds all that the journal still has, from its first segment on. Checkpoints
// within are not believed but for the first, which stands for what was dropped.
func (v *journalRebuildVerb) Run(e *env) error {
	dir, err := v.folder(e)
	if err != nil {
		return err
	}
	if v.Check {
		return v.check(e, dir)
	}
	// A live runner writes the same files, and knows better what is true now.
	return holding(dir, func() error { return v.rebuild(e, dir) })
}

// rebuild writes all projections anew.
func (v *journalRebuildVerb) rebuild(e *env, dir string) error {
	w := projector.NewWriter(dir, nil)
	r := rebuilt{Journal: dir, OK: true}
	s, err := refold(dir, func(s *projector.State, ended bool) {
		if ended {
			w.Iteration(*s.Last)
			r.Iterations++
		}
	})
	if err == nil && s.Seq > 0 {
		w.State(&s)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	r.Seq = s.Seq
	if v.JSON {
		return printJSON(e.stdout, r, "")
	}
	fmt.Fprintf(e.stdout, "state.json stands at event %d; %d iterations written anew\n", r.Seq, r.Iterations)
	return nil
}

// refold folds a journal from its beginning. each is called after every event;
// ended says that it ended an iteration, whose telemetry is the state's last.
func refold(dir string, each func(s *projector.State, ended bool)) (projector.State, error) {
	var s projector.State
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			return s, err
		}
		if err := s.Fold(e); err != nil {
			return s, err
		}
		each(&s, e.Type == event.TypeIterationEnded)
	}
	return s, nil
}

// check compares the projections with the journal. state.json may be behind, since it is
// written now and then; what it says must have been true at the event it stands at.
func (v *journalRebuildVerb) check(e *env, dir string) error {
	saved, err := os.ReadFile(filepath.Join(dir, projector.StateFile))
	if err != nil {
		return fmt.Errorf("check the projections: %w", err)
	}
	var head struct {
		Seq uint64 `json:"seq"`
	}
	if err := json.Unmarshal(saved, &head); err != nil {
		return &failure{err: fmt.Errorf("check the projections: state.json is not JSON: %w", err), code: event.ExitFailed, hint: rebuildHint}
	}
	r := rebuilt{Journal: dir}
	var atSaved []byte // what state.json should be
	s, err := refold(dir, func(s *projector.State, ended bool) {
		if s.Seq == head.Seq {
			atSaved = projector.Encode(s)
		}
		if ended {
			r.Iterations++
			// One that ended after state.json was written may not be there yet.
			r.Differ = append(r.Differ, differingIteration(dir, *s.Last, s.Seq > head.Seq)...)
		}
	})
	if err != nil {
		return err
	}
	r.Seq = s.Seq
	switch {
	case atSaved == nil:
		r.Differ = append(r.Differ, fmt.Sprintf("state.json stands at event %d, and the journal ends with %d", head.Seq, s.Seq))
	case !bytes.Equal(saved, atSaved):
		r.Differ = append(r.Differ, differences(projector.StateFile, saved, atSaved)...)
	}
	r.OK = len(r.Differ) == 0
	return r.tell(e, v.JSON, head.Seq)
}

const rebuildHint = "'ralph journal rebuild' writes them anew; the journal is the truth"

func (r rebuilt) tell(e *env, asJSON bool, stands uint64) error {
	if asJSON {
		if err := printJSON(e.stdout, r, ""); err != nil {
			return err
		}
	} else if r.OK {
		fmt.Fprintf(e.stdout, "state.json is what the journal says at event %d of %d, and so is the file of each of %s\n", stands, r.Seq, units.Count{Begun: r.Iterations}.Iterations())
	} else {
		for _, d := range r.Differ {
			fmt.Fprintln(e.stdout, clean(d))
		}
	}
	if !r.OK {
		return &failure{err: fmt.Errorf("the projections differ from the journal in %d places", len(r.Differ)), code: event.ExitFailed, hint: rebuildHint}
	}
	return nil
}

func differingIteration(dir string, want projector.Telemetry, mayLack bool) []string {
	name := filepath.Join(projector.IterationsDir, fmt.Sprintf("%03d.json", want.N))
	saved, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) && mayLack {
		return nil
	}
	if err != nil {
		return []string{name + ": " + err.Error()}
	}
	expected, err := json.Marshal(want)
	if err != nil {
		return []string{name + ": " + err.Error()}
	}
	return differences(name, saved, expected)
}

// differences names the keys in which two JSON objects differ.
func differences(file string, have, want []byte) []string {
	var a, b any
	if err := json.Unmarshal(have, &a); err != nil {
		return []string{file + ": " + err.Error()}
	}
	if err := json.Unmarshal(want, &b); err != nil {
		return []string{file + ": " + err.Error()}
	}
	return differ(file, a, b)
}

func differ(at string, have, want any) []string {
	a, ok := have.(map[string]any)
	b, ok2 := want.(map[string]any)
	if !ok || !ok2 {
		if reflect.DeepEqual(have, want) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %s, and the journal says %s", at, brief(have), brief(want))}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var found []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, differ(at+" "+key, a[key], b[key])...)
	}
	return found
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return cutTo(60, string(text))
}
