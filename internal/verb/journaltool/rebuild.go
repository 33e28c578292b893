package journaltool

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
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
)

// rebuilt is the result of Rebuild and CheckProjections.
type rebuilt struct {
	Journal    string    `json:"journal"`
	Seq        event.Seq `json:"seq"` // of the last event
	Iterations int       `json:"iterations"`
	OK         bool      `json:"ok"`
	// of a check: the file, and the key if it has one
	Differ []string `json:"differ,omitempty"`
}

// Rebuild writes the projections of a loop again.
func Rebuild(e *cli.Env, name string, asJSON bool) error {
	dir, err := logs.Folder(e, name)
	if err != nil {
		return err
	}
	r := rebuilt{Journal: dir, OK: true}
	// A live runner writes the same files, with a newer state.
	if err := launch.WithLock(dir, r.rebuild); err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, r, "")
	}
	fmt.Fprintf(e.Stdout, "state.json is at event %d; %d iterations written again\n", r.Seq, r.Iterations)
	return nil
}

func (r *rebuilt) rebuild() error {
	w := loopstate.NewWriter(r.Journal, nil)
	s, err := r.refold(func(s *loopstate.State, ended bool) {
		if ended {
			w.Iteration(*s.Last)
		}
	})
	if err == nil && s.Seq > 0 {
		w.State(&s)
	}
	return errors.Join(err, w.Close())
}

// refold folds a journal from the first segment that it still has. Later checkpoints are not
// used. each is called after every event; ended says that it ended an iteration, whose telemetry is
// the state's last.
func (r *rebuilt) refold(each func(s *loopstate.State, ended bool)) (loopstate.State, error) {
	var s loopstate.State
	for e, err := range (logs.Source{Path: r.Journal}).Events(0) {
		if err != nil {
			return s, err
		}
		if err := s.Fold(e); err != nil {
			return s, err
		}
		ended := e.Type == event.TypeIterationEnded
		if ended {
			r.Iterations++
		}
		each(&s, ended)
	}
	r.Seq = s.Seq
	return s, nil
}

const rebuildHint = "'ralph journal rebuild' writes them again; the journal is the truth"

// CheckProjections compares the projections of a loop with its journal.
func CheckProjections(e *cli.Env, name string, asJSON bool) error {
	dir, err := logs.Folder(e, name)
	if err != nil {
		return err
	}
	p, err := readProjections(dir)
	if err != nil {
		return err
	}
	if _, err = p.refold(p.compareAt); err != nil {
		return err
	}
	p.finish()
	lines := p.Differ
	if p.OK {
		lines = []string{fmt.Sprintf("state.json is what the journal says at event %d of %d, and so is the file of each of %s", p.head, p.Seq, units.Count{Begun: p.Iterations}.Iterations())}
	}
	if asJSON {
		err = cli.PrintJSON(e.Stdout, p.rebuilt, "")
	} else {
		_, err = fmt.Fprintln(e.Stdout, cli.Clean(strings.Join(lines, "\n")))
	}
	if err == nil && !p.OK {
		err = p.failure()
	}
	return err
}

// projections compares the projections of a loop with a fold of its journal. state.json may be
// older, since it is not written after every event; it must be the state after the event it names.
type projections struct {
	rebuilt
	saved    []byte    // state.json
	head     event.Seq // that it names
	expected []byte    // what it should be; nil until the fold is there
}

func readProjections(dir string) (*projections, error) {
	saved, err := safefile.Read(filepath.Join(dir, loopstate.StateFile), loopstate.MaxState)
	if err != nil {
		return nil, fmt.Errorf("check the projections: %w", err)
	}
	var head struct {
		Seq event.Seq `json:"seq"`
	}
	if err := json.Unmarshal(saved, &head); err != nil {
		return nil, &cli.Failure{Err: fmt.Errorf("check the projections: state.json is not JSON: %w", err), Code: event.ExitFailed, NextStep: rebuildHint}
	}
	return &projections{rebuilt: rebuilt{Journal: dir}, saved: saved, head: head.Seq}, nil
}

// compareAt takes the state after each event; ended says that it ended an iteration.
func (p *projections) compareAt(s *loopstate.State, ended bool) {
	if s.Seq == p.head {
		p.expected = loopstate.Encode(s)
	}
	if ended {
		// One that ended after state.json was written may not be there yet.
		p.compareIteration(*s.Last, s.Seq > p.head)
	}
}

// take is compareAt for a caller that reads the journal itself.
func (p *projections) take(s *loopstate.State, e event.Event) {
	ended := e.Type == event.TypeIterationEnded
	if ended {
		p.Iterations++
	}
	p.Seq = s.Seq
	p.compareAt(s, ended)
}

// finish compares state.json, after the last event.
func (p *projections) finish() {
	switch {
	case p.expected == nil:
		p.Differ = append(p.Differ, fmt.Sprintf("state.json is at event %d, and the journal ends with %d", p.head, p.Seq))
	case !bytes.Equal(p.saved, p.expected):
		p.compare(loopstate.StateFile, p.saved, p.expected)
	}
	p.OK = len(p.Differ) == 0
}

func (p *projections) failure() error {
	return &cli.Failure{Err: fmt.Errorf("the projections differ from the journal in %d places", len(p.Differ)), Code: event.ExitFailed, NextStep: rebuildHint}
}

func (r *rebuilt) compareIteration(want loopstate.Telemetry, mayLack bool) {
	name := filepath.Join(loopstate.IterationsDir, fmt.Sprintf("%03d.json", want.N))
	saved, err := safefile.Read(filepath.Join(r.Journal, name), loopstate.MaxState)
	if errors.Is(err, os.ErrNotExist) && mayLack {
		return
	}
	expected, failed := json.Marshal(want)
	if err := errors.Join(err, failed); err != nil {
		r.Differ = append(r.Differ, name+": "+err.Error())
		return
	}
	r.compare(name, saved, expected)
}

// compare adds the keys in which two JSON objects differ.
func (r *rebuilt) compare(file string, have, want []byte) {
	var a, b any
	if err := errors.Join(json.Unmarshal(have, &a), json.Unmarshal(want, &b)); err != nil {
		r.Differ = append(r.Differ, file+": "+err.Error())
		return
	}
	r.Differ = append(r.Differ, differences(file, a, b)...)
}

func differences(at string, have, want any) []string {
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
		found = append(found, differences(at+" "+key, a[key], b[key])...)
	}
	return found
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return units.Cut(string(text), 60)
}
