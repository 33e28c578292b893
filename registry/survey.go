package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Status is what Survey found out about one loop.
type Status struct {
	Entry
	File string   // the entry's file name in the registry
	Live Liveness // whether a runner holds the lock
	// Head is the first line of state.json. If that cannot be read, its status is starting with a
	// live runner, which writes it soon, else unknown.
	Head Summary
	// Died is set if state.json says that the loop runs, but no runner holds the lock. 'ralph start
	// NAME --resume' continues it.
	Died bool
	Gone bool // the loop's folder is no longer there
	// Err is set if something could not be read: an *EntryError, with only File known, or the
	// error of the probe.
	Err error
}

// maxWorkers bounds the goroutines of one Survey. Two cores read 1,000 loops in two thirds of the
// time of one.
const maxWorkers = 4

// Survey lists all loops with their liveness and their summary, ordered by project and name. keep,
// unless nil, chooses entries before their folders are read; it is called from several goroutines.
// A file that is not an entry is returned as a Status with Err, without asking keep. The error is
// about the registry folder itself. A registry that does not exist is empty.
//
// The statuses are not of one instant: each was true while that loop was read.
func Survey(home string, keep func(Entry) bool) ([]Status, error) {
	root, err := os.OpenRoot(Folder(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("survey registry: %w", err)
	}
	defer root.Close()
	files, err := entryFiles(root)
	if err != nil {
		return nil, fmt.Errorf("survey registry: %w", err)
	}
	found := make([]*Status, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				found[i] = survey(root, files[i], keep)
			}
		})
	}
	workers.Wait()
	statuses := make([]Status, 0, len(files))
	for _, s := range found {
		if s != nil {
			statuses = append(statuses, *s)
		}
	}
	return statuses, nil
}

// entryFiles returns the sorted names of what may be entries. Names with a dot at their beginning
// are temporary files.
func entryFiles(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
	slices.Sort(names)
	return names, err
}

// survey returns nil for an entry that keep does not choose, or that was removed meanwhile.
func survey(root *os.Root, file string, keep func(Entry) bool) *Status {
	s := &Status{File: file, Head: Summary{Status: event.StatusUnknown}}
	entry, err := readEntry(root, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		s.Err = err
		if _, ok := errors.AsType[*EntryError](err); !ok {
			s.Err = &EntryError{file, "entry-unreadable", err}
		}
		return s
	case keep != nil && !keep(entry):
		return nil
	}
	s.Entry = entry
	if err := s.examine(); err != nil {
		s.Err = fmt.Errorf("probe loop lock: %w", err)
	}
	return s
}

func readEntry(root *os.Root, file string) (Entry, error) {
	text, err := safefile.ReadIn(root, file, maxEntry)
	if err != nil {
		return Entry{}, err
	}
	return decodeEntry(text, file)
}

// examine probes the lock, then reads the state. A runner writes its last state before it releases
// the lock. So if the lock is free and the state says that the loop runs, the runner died, unless a
// new one began in between: the lock is probed again.
func (s *Status) examine() error {
	lock, err := openLock(s.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	alive, err := held(lock)
	if err != nil {
		return err
	}
	var found bool
	s.Head, found = readSummary(filepath.Join(s.Dir, stateFile))
	if !alive && s.Head.Status.Active() {
		if alive, err = held(lock); err != nil {
			return err
		}
		s.Died = !alive
	}
	s.Live = liveness(lock, alive)
	if alive && s.Head.Status == event.StatusUnknown { // its runner has not written state.json yet
		s.Head.Status = event.StatusStarting
	}
	if !found && !alive {
		_, err := os.Lstat(s.Dir)
		s.Gone = errors.Is(err, fs.ErrNotExist)
	}
	return nil
}
