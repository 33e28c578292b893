package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Step is how far a task is.
type Step string

// The steps of a task.
const (
	Waiting Step = "waiting" // it has not begun
	Working Step = "working" // its loop works
	Merging Step = "merging" // its loop has ended, and its work is being merged
	Merged  Step = "merged"
	Failed  Step = "failed" // it is left to a person
)

// An Entry is one task of a fleet.
type Entry struct {
	ID     string `json:"id"`
	Loop   string `json:"loop,omitempty"`
	Step   Step   `json:"step"`
	Tries  int    `json:"tries,omitempty"` // how often its loop was sent back or resumed
	Commit string `json:"commit,omitempty"`
	Why    string `json:"why,omitempty"` // it failed
}

// State is what a fleet has come to.
type State struct {
	Tasks []Entry `json:"tasks"`
	// Plan is ralph/tasks.json as it was before the merge that is being made, with what a person
	// changed; empty between merges. What an agent wrote into its own does not count.
	Plan string `json:"plan,omitempty"`
}

// StateFile is its place in the folder of the fleet's loop.
const StateFile = loopfolder.Fleet

const maxState = 16 << 20 // bytes

// ReadState reads the state of the fleet in a loop's folder; of a loop that is none, it is empty.
func ReadState(loopDir string) (s State, err error) {
	text, err := safefile.Read(filepath.Join(loopDir, StateFile), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		err = fmt.Errorf("read the state of the fleet: %w", err)
	}
	return s, err
}

func (s State) write(loopDir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = safefile.WriteFile(filepath.Join(loopDir, StateFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("keep the state of the fleet: %w", err)
	}
	return err
}

// of returns the entry of a task, which is made if it is new.
func (s *State) of(t Task, fleet string) *Entry {
	at := slices.IndexFunc(s.Tasks, func(e Entry) bool { return e.ID == t.ID })
	if at < 0 {
		e := Entry{ID: t.ID, Loop: loopOf(fleet, t.ID), Step: Waiting}
		if t.Done {
			e.Step = Merged
		}
		for slices.ContainsFunc(s.Tasks, func(o Entry) bool { return o.Loop == e.Loop }) {
			e.Loop += "x"
		}
		s.Tasks = append(s.Tasks, e)
		at = len(s.Tasks) - 1
	}
	return &s.Tasks[at]
}

func (s *State) step(id string) Step {
	for _, e := range s.Tasks {
		if e.ID == id {
			return e.Step
		}
	}
	return Waiting
}

// count returns how many tasks are at one of these steps.
func (s *State) count(steps ...Step) int {
	n := 0
	for _, e := range s.Tasks {
		if slices.Contains(steps, e.Step) {
			n++
		}
	}
	return n
}

// startable returns the tasks that may begin now: in order, as many as there is room for, and only
// when all that they depend on is merged.
func startable(tasks []Task, s *State, parallel int) (ids []string) {
	room := parallel - s.count(Working, Merging)
	for _, t := range tasks {
		if len(ids) >= room {
			break
		}
		if s.step(t.ID) != Waiting || slices.ContainsFunc(t.DependsOn, func(on string) bool { return s.step(on) != Merged }) {
			continue
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// kept are the tasks that cannot begin, because one that they depend on has failed, with that one.
func kept(tasks []Task, s *State) map[string]string {
	found := map[string]string{}
	for again := true; again; {
		again = false
		for _, t := range tasks {
			if s.step(t.ID) != Waiting || found[t.ID] != "" {
				continue
			}
			for _, on := range t.DependsOn {
				if s.step(on) == Failed || found[on] != "" {
					found[t.ID], again = on, true
				}
			}
		}
	}
	return found
}

// over reports whether nothing can be done any more.
func over(tasks []Task, s *State) bool {
	return s.count(Working, Merging) == 0 && s.count(Waiting) == len(kept(tasks, s))
}
