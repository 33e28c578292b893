package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// enrol writes what stands beside the journal: the settings, the room for the end, and the
// entry in the registry. Some of it is synced, and so is what Create makes, so that all of it is
// done at the same time. What it returns waits for the end of that, however often it is asked.
func (r *runner) enrol(state *projector.State) func() error {
	if r.id = state.Life.ID; r.id == "" {
		r.id = NewID(r.clock())
	}
	host, _ := os.Hostname()
	entry := registry.Entry{
		Name: r.Name, Dir: r.Dir, Project: r.Project, ID: r.id, Agent: cmp.Or(r.about()[0].Name, r.about()[0].Protocol), Host: host,
		PID: os.Getpid(), Started: r.clock().UTC().Truncate(time.Microsecond), Version: r.Version,
	}
	var all sync.WaitGroup
	var frozen, reserved, entered, named error
	all.Go(func() { frozen = r.freeze() })
	all.Go(func() { reserved = r.reserve() })
	all.Go(func() { entered = registry.Put(r.Home, entry) })
	all.Go(func() { named = r.name() })
	return func() error {
		all.Wait()
		if err := cmp.Or(frozen, reserved, entered, named); err != nil {
			return &enrolError{err}
		}
		return nil
	}
}

// name makes the loop's folder durable under its name, and the project's folder of loops: without them no sync of the
// journal promises anything. It is done again by each runner, since the one before may have been killed before it had.
func (r *runner) name() error {
	for _, folder := range []string{filepath.Dir(r.Dir), filepath.Dir(filepath.Dir(r.Dir))} {
		// A folder that may not be read cannot be synced, and is no reason not to begin.
		if err := syncFolder(folder); err != nil && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("make the loop's folder durable: %w", err)
		}
	}
	return nil
}

// syncFolder is what a test replaces, to see which names are durable when the agent starts.
var syncFolder = func(path string) error { return safefile.Dir(path).Sync() }

// enrolError says that a loop could not be enrolled. It was not begun, whatever its journal holds.
type enrolError struct{ error }

func (e *enrolError) Unwrap() error { return e.error }

// founded is the journal of a loop that is being enrolled: nothing in it counts as durable, and so
// nothing is done that cannot be undone, before all of what stands beside it is there as well.
type founded struct {
	*journal.Writer
	enrolled func() error
}

func (f founded) Sync() error { return cmp.Or(f.Writer.Sync(), f.enrolled()) }
