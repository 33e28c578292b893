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

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/effect"
	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// ExistsError says that there is a loop of that name already, and that nobody asked to
// go on with it.
type ExistsError struct {
	Name   string
	Died   bool   // its runner died
	Status string // how it ended, where it did
}

func (e *ExistsError) Error() string {
	if e.Died {
		return fmt.Sprintf("loop %s was left by a runner that died", e.Name)
	}
	return fmt.Sprintf("loop %s has ended (%s)", e.Name, e.Status)
}

// Hint returns the next step.
func (e *ExistsError) Hint() string {
	return fmt.Sprintf("'ralph start %s --resume' goes on with it, --fresh archives it first", e.Name)
}

// Exists returns the error of a loop that stands in a state and was not to be resumed.
func Exists(name string, s *projector.State) *ExistsError {
	return &ExistsError{Name: name, Died: s.Life.Ended == nil, Status: s.Status()}
}

var errNothingToResume = errors.New("there is nothing to resume: its folder was archived or removed meanwhile")

// agreed holds what the starter saw before it had the lock against what is there now:
// another one may have begun, ended or archived the loop in between.
func (r *runner) agreed(state *projector.State) error {
	switch {
	case state.Begun() && !r.Resume:
		return Exists(r.Name, state)
	case !state.Begun() && r.Prompt == "" && r.PromptFile == "":
		return fmt.Errorf("loop %s: %w", r.Name, errNothingToResume)
	}
	return nil
}

// Edited returns which files that guardrails consist of are not what they were when an agent was let
// at them last, where no check has looked since: a resumed loop takes that for the agent's doing.
func Edited(dir, project string, s *projector.State) ([]guardrail.Change, error) {
	if !s.Seal.Held {
		return nil, nil
	}
	seal, err := guardrail.Reopen(project, dir, effect.Records(s.Seal.Files), nil)
	if err != nil {
		return nil, err
	}
	changes, err := seal.Changed()
	return guardrail.Defining(changes), err
}

// frozenFile is the loop's config.json.
const frozenFile = "config.json"

// FrozenText reads the loop's config.json. The agent may write there too: what it put into the file's place is not waited for.
func FrozenText(dir string) ([]byte, error) { return readFile(filepath.Join(dir, frozenFile)) }

// Frozen reads what a loop was started with: its settings, and which of them were given on the command line.
func Frozen(dir string) (settings config.Settings, given map[string]string, err error) {
	text, err := FrozenText(dir)
	if err != nil {
		return config.Settings{}, nil, err
	}
	return config.Thaw(text)
}

// given is what the journal says of the settings.
func (r *runner) given() *event.Settings {
	sum := sha256.Sum256(r.Frozen)
	return &event.Settings{Values: r.Given, SHA256: hex.EncodeToString(sum[:])}
}

// carried returns the rules that a resumed loop goes on with: those it had, raised
// limits included, but for what a person has changed in the settings since it was started.
func (r *runner) carried(had event.Rules) event.Rules {
	settings, _, err := Frozen(r.Dir)
	if err != nil {
		// Gone, of another version, or edited: what the loop was started with is not known.
		return Rules(r.Settings)
	}
	return changed(had, Rules(settings), Rules(r.Settings))
}

// changed returns had with the fields that differ between before and now as they are now.
func changed(had, before, now event.Rules) event.Rules {
	to, from, with := reflect.ValueOf(&had).Elem(), reflect.ValueOf(before), reflect.ValueOf(now)
	for i := range to.NumField() {
		if !reflect.DeepEqual(from.Field(i).Interface(), with.Field(i).Interface()) {
			to.Field(i).Set(with.Field(i))
		}
	}
	return had
}

// freeze writes config.json: the settings that the loop now runs with. It is durable: a resume without it would not know what a person
// gave the loop.
func (r *runner) freeze() error {
	if err := projector.Replace(filepath.Join(r.Dir, frozenFile), r.Frozen); err != nil {
		return err
	}
	if err := syncFolder(r.Dir); err != nil {
		return fmt.Errorf("make %s durable: %w", frozenFile, err)
	}
	return nil
}

// mend writes the telemetry that a runner which died had planned and not yet written. The
// journal is read again from its beginning only where more than the last is missing.
func (r *runner) mend(state *projector.State) error {
	missing := r.unwritten(state)
	if len(missing) == 1 && missing[state.Last.N] {
		r.project.Iteration(*state.Last)
		return nil
	}
	if len(missing) == 0 {
		return nil
	}
	var s projector.State
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

// unwritten returns the iterations that ended, of which the journal still tells, and that have no file.
func (r *runner) unwritten(state *projector.State) map[int]bool {
	missing := map[int]bool{}
	if state.Last == nil {
		return missing
	}
	for n := state.Last.N; n >= max(firstKept(r.Dir), 1); n-- {
		name := filepath.Join(r.Dir, projector.IterationsDir, fmt.Sprintf("%03d.json", n))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			missing[n] = true
		}
	}
	return missing
}
