package loopstate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// File is state.json.
type File struct {
	registry.Summary
	Why    string `json:"why,omitempty"`    // of an ended loop
	Hint   string `json:"hint,omitempty"`   // of an ended loop: the next step for a person
	Result string `json:"result,omitempty"` // of an ended loop: as loop.ended has it
	// of an ended loop: the exit code of a foreground run
	ExitCode *int       `json:"exitCode,omitempty"`
	Until    *time.Time `json:"until,omitempty"` // of a loop that waits until a moment
	// Edited are the files of guardrails and settings that the agent changed and no person has
	// accepted.
	Edited []event.EditedFile `json:"edited,omitempty"`
	// Questions are the open ones, and the last of those that have an answer.
	Questions []policy.Question `json:"questions,omitempty"`
	State     State             `json:"state"`
}

// Summary returns what a list shows of the loop.
func (s *State) Summary() registry.Summary {
	used := s.Budget.Used()
	summary := registry.Summary{
		Seq: s.Seq, Status: s.Status(), Iteration: s.Lifecycle.Iteration,
		MaximumIterations: s.Rules.MaximumIterations,
		Since:             s.Lifecycle.Started, At: s.At, Cost: used.USD,
		Agent: cmp.Or(s.Lifecycle.Agent.Name, s.Lifecycle.Agent.Protocol), Waiting: s.Waiting(), Pending: s.Pending(), Refunded: s.Budget.Refunded,
		Stories: s.Stories.Total, StoriesDone: s.Stories.Done,
		Questions: len(s.Questions.Open()), ContinuesOn: s.Ownership.Elsewhere(),
	}
	if in := used.In + used.CacheRead + used.CacheWrite; !used.TokensUnknown {
		summary.TokensIn, summary.TokensOut = &in, &used.Out
	}
	if summary.Status == event.StatusWaiting {
		summary.Awaited, _ = s.Questions.Awaited()
	}
	if s.Lifecycle.Ended != nil {
		summary.Reason = string(s.Lifecycle.Ended.Reason)
		if strength := s.Lifecycle.Ended.Strength; strength != nil {
			summary.Strength = strength.Grade
		}
	}
	return summary
}

// Names of projections in a loop's folder.
const (
	StateFile     = loopfolder.State
	FleetFile     = loopfolder.Fleet // of a fleet's loop
	IterationsDir = loopfolder.Iterations
)

// Encode returns state.json. Its first line holds only the summary, so that package registry can
// read it without the rest.
func Encode(s *State) []byte {
	f := FileOf(s)
	data, err := json.Marshal(f)
	summary, failed := json.Marshal(f.Summary)
	if err = cmp.Or(err, failed); err != nil {
		panic(fmt.Sprintf("loopstate: state.json: %v", err))
	}
	comma := len(summary) - 1
	data = slices.Insert(data, comma, '\n')
	return append(data, '\n')
}

// FileOf returns the content of state.json for a state.
func FileOf(s *State) File {
	f := File{Summary: s.Summary(), Edited: s.FileChanges.Unaccepted(), Questions: s.Questions.List, State: *s}
	if ended := s.Lifecycle.Ended; ended != nil {
		code := ended.Reason.ExitCode()
		f.Why, f.Hint, f.Result, f.ExitCode = ended.Why, ended.Hint, ended.Result, &code
	}
	if s.Status() == event.StatusWaiting && !s.Wait.Until.IsZero() {
		f.Until = &s.Wait.Until
	}
	return f
}

// Writer writes projections on a goroutine of its own, so that a slow disk does not hold the loop
// back. If several versions of one file wait, only the latest is written. The loop does not stop if
// a projection cannot be written, because the journal has everything; Close returns the error.
type Writer struct {
	dir  string
	wake chan struct{}
	done chan struct{}

	// failed, unless nil, is called with each error on the writer's goroutine.
	failed func(error)
	made   bool // iterations/ existed once, and is not made again; used by the writer's goroutine only
	fleet  int  // the events of the fleet in the last fleet.json; used by the caller of State only

	mu     sync.Mutex
	next   map[string][]byte
	closed bool
	err    error
}

// NewWriter returns a writer for a loop's folder, and removes the half-written files of a killed
// writer. failed, unless nil, is called with each error on the writer's goroutine. An error that
// satisfies errors.Is with fs.ErrNotExist means that the loop's folder, or iterations/ in it, was
// removed: neither is made again.
func NewWriter(dir string, failed func(error)) *Writer {
	removeLeftovers(dir)
	w := &Writer{dir: dir, failed: failed, wake: make(chan struct{}, 1), done: make(chan struct{}), next: map[string][]byte{}}
	_, err := os.Lstat(filepath.Join(dir, IterationsDir))
	w.made = err == nil
	go w.run()
	return w
}

// State plans state.json, and fleet.json if it differs from what this writer planned last.
func (w *Writer) State(s *State) {
	w.plan(StateFile, Encode(s))
	if s.Fleet.Events != w.fleet {
		w.fleet = s.Fleet.Events
		w.plan(FleetFile, EncodeFleet(s))
	}
}

// EncodeFleet returns fleet.json: how far each task of a fleet is.
func EncodeFleet(s *State) []byte {
	type task struct {
		ID     string          `json:"id"`
		Loop   string          `json:"loop,omitempty"`
		Step   event.FleetStep `json:"step"`
		Tries  int             `json:"tries,omitempty"`
		Commit string          `json:"commit,omitempty"`
		Why    string          `json:"why,omitempty"`
	}
	f := struct {
		Tasks []task `json:"tasks"`
	}{[]task{}}
	for _, t := range s.Fleet.Tasks {
		f.Tasks = append(f.Tasks, task{t.ID, t.Loop, t.Step, t.Tries, t.Commit, t.Why})
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("loopstate: %s: %v", FleetFile, err))
	}
	return append(data, '\n')
}

// Iteration plans iterations/NNN.json.
func (w *Writer) Iteration(t Telemetry) {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("loopstate: telemetry: %v", err))
	}
	w.plan(filepath.Join(IterationsDir, fmt.Sprintf("%03d.json", t.N)), append(data, '\n'))
}

// leftover reports whether a file has a temporary name of a killed writer. Earlier versions wrote
// under the projection's name with digits after it.
func leftover(name string) bool {
	if of, ok := safefile.Leftover(name); ok {
		return strings.HasSuffix(of, ".json")
	}
	projection := strings.TrimRight(name, "0123456789")
	return projection != name && strings.HasSuffix(projection, ".json")
}

func removeLeftovers(dir string) {
	for _, folder := range []string{dir, filepath.Join(dir, IterationsDir)} {
		// If the folder cannot be read, writing there returns the error.
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if entry.Type().IsRegular() && leftover(entry.Name()) {
				_ = os.Remove(filepath.Join(folder, entry.Name()))
			}
		}
	}
}

func (w *Writer) plan(name string, data []byte) {
	w.mu.Lock()
	w.next[name] = data
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Close writes what is planned and returns the first error there was.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.wake)
	}
	w.mu.Unlock()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) run() {
	defer close(w.done)
	for range w.wake {
		w.write()
	}
	w.write()
}

func (w *Writer) write() {
	w.mu.Lock()
	files := w.next
	w.next = map[string][]byte{}
	w.mu.Unlock()
	for name, data := range files {
		err := w.makeFolder(name)
		if err == nil {
			err = safefile.WriteFile(filepath.Join(w.dir, name), data, 0o600)
		}
		if err != nil {
			w.fail(fmt.Errorf("write %s: %w", filepath.Base(name), err))
		}
	}
}

// makeFolder makes iterations/ for the first file in it.
func (w *Writer) makeFolder(name string) error {
	if w.made || filepath.Dir(name) != IterationsDir {
		return nil
	}
	if err := os.Mkdir(filepath.Join(w.dir, IterationsDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	w.made = true
	return nil
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	if w.failed != nil {
		w.failed(err)
	}
}
