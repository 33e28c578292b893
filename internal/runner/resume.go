package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// ExistsError reports that a loop of that name exists and was not to be resumed.
type ExistsError struct {
	Name   string
	Died   bool   // its runner died
	Status string // how it ended, if it did
}

func (e *ExistsError) Error() string {
	if e.Died {
		return fmt.Sprintf("loop %s was left by a runner that died", e.Name)
	}
	return fmt.Sprintf("loop %s has ended (%s)", e.Name, e.Status)
}

// Hint returns the next step.
func (e *ExistsError) Hint() string {
	return fmt.Sprintf("'ralph start %s --resume' resumes it, --fresh archives it first", e.Name)
}

// Exists returns the error of a loop in that state which was not to be resumed.
func Exists(name string, s *loopstate.State) *ExistsError {
	return &ExistsError{Name: name, Died: s.Lifecycle.Ended == nil, Status: s.Status().String()}
}

// ErrNothingToResume reports that the journal does not have the loop's beginning.
var ErrNothingToResume = errors.New("there is nothing to resume: a loss of power took its beginning, or its folder was archived or removed meanwhile")

// checkResume checks under the lock what the starter checked before: the loop may have been
// started, ended or archived since.
func (r *runner) checkResume(state *loopstate.State) error {
	switch {
	case state.Begun() && !r.Resume:
		return Exists(r.Name, state)
	case !state.Begun() && r.Prompt == "" && r.PromptFile == "":
		return fmt.Errorf("loop %s: %w", r.Name, ErrNothingToResume)
	}
	return nil
}

// Edited returns the guardrails' files that changed since the last agent started, if no check has
// compared them. A resumed loop takes these changes for the agent's.
func Edited(dir, project string, s *loopstate.State) ([]guardrail.Change, error) {
	if !s.FileChanges.AgentRan {
		return nil, nil
	}
	tree, err := workspace.Tree(dir, project)
	if err != nil {
		return nil, err
	}
	snapshot, err := guardrail.Reopen(guardrail.Place{Work: tree, Settings: project}, dir, executor.Records(s.FileChanges.Files), nil)
	if err != nil {
		return nil, err
	}
	return snapshot.Changed()
}

// frozenFile is the loop's config.json.
const frozenFile = loopfolder.Config

// FrozenText reads the loop's config.json. The agent can replace it; a FIFO does not block.
func FrozenText(dir string) ([]byte, error) {
	return safefile.ReadLinked(filepath.Join(dir, frozenFile), MaxPrompt)
}

// Frozen reads the settings that a loop was started with, and those given on the command line.
func Frozen(dir string) (settings config.Settings, given map[string]string, err error) {
	text, err := FrozenText(dir)
	if err != nil {
		return config.Settings{}, nil, err
	}
	return config.Thaw(text)
}

// settingsEvent returns the journal's record of the settings.
func (r *runner) settingsEvent() *event.Settings {
	sum := sha256.Sum256(r.Frozen)
	return &event.Settings{Values: r.Given, SHA256: hex.EncodeToString(sum[:])}
}

// resumedRules returns the rules of a resumed loop: those it had, including raised limits, except
// for settings that a person has changed since it was started.
func (r *runner) resumedRules(had event.Rules) event.Rules {
	settings, _, err := Frozen(r.Dir)
	if err != nil {
		// The file is missing, of another version, or edited: the old settings are unknown.
		return Rules(r.Settings)
	}
	return changed(had, Rules(settings), Rules(r.Settings))
}

// changed returns had, with now's value in each field that differs between before and now.
func changed(had, before, now event.Rules) event.Rules {
	to, from, with := reflect.ValueOf(&had).Elem(), reflect.ValueOf(before), reflect.ValueOf(now)
	for i := range to.NumField() {
		if !reflect.DeepEqual(from.Field(i).Interface(), with.Field(i).Interface()) {
			to.Field(i).Set(with.Field(i))
		}
	}
	return had
}

// freeze writes config.json: the settings that the loop now runs with. It is durable: a resume
// without it would not know what a person gave the loop.
func (r *runner) freeze() error {
	if err := safefile.WriteFile(filepath.Join(r.Dir, frozenFile), r.Frozen, 0o600); err != nil {
		return err
	}
	if err := syncFolder(r.Dir); err != nil {
		return fmt.Errorf("make %s durable: %w", frozenFile, err)
	}
	return nil
}

// writeMissingIterations writes the telemetry that a dead runner did not write. It reads the
// journal from its beginning only if more than the last iteration is missing.
func (r *runner) writeMissingIterations(state *loopstate.State) error {
	missing := r.missingIterations(state)
	if len(missing) == 1 && missing[state.Last.N] {
		r.project.Iteration(*state.Last)
		return nil
	}
	if len(missing) == 0 {
		return nil
	}
	var s loopstate.State
	for e, err := range journal.Read(r.Dir, journal.ReadOptions{}) {
		if err != nil {
			return err
		}
		if err := s.Fold(e); err != nil {
			return err
		}
		if e.Type == event.TypeIterationEnded && missing[s.Last.N] {
			r.project.Iteration(*s.Last)
		}
	}
	return nil
}

// missingIterations returns the ended iterations that are in the journal and have no file.
func (r *runner) missingIterations(state *loopstate.State) map[int]bool {
	missing := map[int]bool{}
	if state.Last == nil {
		return missing
	}
	first := max(firstKept(r.Dir), 1) // it looks at each segment
	for n := state.Last.N; n >= first; n-- {
		name := filepath.Join(r.Dir, loopstate.IterationsDir, fmt.Sprintf("%03d.json", n))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			missing[n] = true
		}
	}
	return missing
}
