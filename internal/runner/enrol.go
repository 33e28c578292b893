package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// enrol writes what stands beside the journal: the settings, the room for the end, and the
// entry in the registry. Some of it is synced, and so is what Create makes, so that all of it is
// done at the same time. What it returns waits for the end of that, however often it is asked.
//
// The settings of a resumed loop come last, when nothing else has failed: which of them a person has changed is known
// by those of the time before, also when a loop is resumed that could not be resumed at the first try.
func (r *runner) enrol(state *projector.State) func() error {
	if r.id = state.Life.ID; r.id == "" {
		r.id = NewID(r.clock())
	}
	host, _ := os.Hostname()
	entry := registry.Entry{
		Name: r.Name, Dir: r.Dir, Project: r.Project, ID: r.id, Agent: cmp.Or(r.about()[0].Name, r.about()[0].Protocol), Host: host,
		PID: os.Getpid(), Started: r.clock().UTC().Truncate(time.Microsecond), Version: r.Version,
		Mount: registry.Mount(r.Dir),
	}
	var all sync.WaitGroup
	var frozen, reserved, founded, entered error
	if !state.Begun() {
		all.Go(func() { frozen = r.freeze() })
	}
	all.Go(func() { reserved = r.reserve() })
	all.Go(func() { founded = r.settleFolders() })
	all.Go(func() {
		if entered = registry.Put(r.Home, entry); entered == nil {
			entered = r.settleEntry()
		}
	})
	resumed := state.Begun()
	return sync.OnceValue(func() error {
		all.Wait()
		err := cmp.Or(frozen, reserved, founded, entered)
		if err == nil && resumed {
			err = r.freeze()
		}
		if err != nil {
			return &enrolError{err}
		}
		return nil
	})
}

// settleFolders makes the names of the loop's folder and of the one around it durable: without them, nothing that
// is synced in the loop's folder is found after a power cut. Both may be new, whoever made them.
func (r *runner) settleFolders() error {
	around := filepath.Dir(r.Dir)
	if err := cmp.Or(syncFolder(around), syncFolder(filepath.Dir(around))); err != nil {
		return fmt.Errorf("make the loop's folder durable: %w", err)
	}
	return nil
}

// settleEntry does the same for the entry in the registry: a loop that is known to run is found.
func (r *runner) settleEntry() error {
	for _, folder := range []string{registry.Folder(r.Home), r.Home, filepath.Dir(r.Home)} {
		if err := syncFolder(folder); err != nil {
			return fmt.Errorf("make the registry entry durable: %w", err)
		}
	}
	return nil
}

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
