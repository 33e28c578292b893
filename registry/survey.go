package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// stateFile is the name of the projection in a loop's folder whose head Survey reads.
const stateFile = "state.json"

// maxState bounds in bytes what is read of a state.json that is spelled otherwise than the projector spells it.
const maxState = 8 << 20

// Status is what Survey found out about one loop.
type Status struct {
	Entry
	File string   // the entry's file name in the registry
	Live Liveness // whether a runner holds the lock
	Head Head     // how state.json begins; Status is StatusUnknown where it cannot be read
	Died bool     // state.json says that it goes on, and no runner holds the lock: ralph start NAME --resume
	Gone bool     // the loop's folder is no longer there
	// Err is set where something could not be found out: an *EntryError, with nothing else but File known, or the error of the probe.
	Err error
}

// Survey lists all loops with their liveness and the head of their state.json, ordered by project and name. keep, unless nil, chooses
// entries before anything is asked about them; it is called from several goroutines. Files that are not entries come as a Status with Err,
// whatever keep says. The error is about the registry folder itself; one that is not there yet is empty.
//
// The statuses are not of one instant: each is what held while that loop was asked. Ten thousand loops take some 0.1 s.
func Survey(home string, keep func(Entry) bool) ([]Status, error) {
	r, err := openReader(Folder(home))
	if err != nil {
		return nil, fmt.Errorf("survey registry: %w", err)
	}
	if r == nil {
		return nil, nil
	}
	defer r.close()
	files, err := r.names()
	if err != nil {
		return nil, fmt.Errorf("survey registry: %w", err)
	}
	statuses := make([]Status, len(files))
	wanted := make([]bool, len(files))
	inParallel(len(files), func(next func() (int, bool)) {
		buf := make([]byte, 0, firstRead)
		for i, ok := next(); ok; i, ok = next() {
			wanted[i] = r.survey(&statuses[i], files[i], keep, &buf)
		}
	})
	kept := statuses[:0]
	for i := range statuses {
		if wanted[i] {
			kept = append(kept, statuses[i])
		}
	}
	return kept, nil
}

// surveyors bounds the workers of one Survey. Beyond a few, they wait for each other in the kernel's file table.
const surveyors = 4

// inParallel runs work in as many goroutines as are worth it and returns when all are done. next hands out 0 to n-1, each once, in runs of
// neighbours so that workers seldom write to one cache line.
func inParallel(n int, work func(next func() (int, bool))) {
	const run = 32
	var taken atomic.Int64
	worker := func() {
		i, end := 0, 0
		work(func() (int, bool) {
			if i == end {
				i = int(taken.Add(run)) - run
				end = min(i+run, n)
			}
			if i >= n {
				return 0, false
			}
			i++
			return i - 1, true
		})
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), surveyors, n/run) {
		workers.Go(worker)
	}
	worker() // the caller is one of them
	workers.Wait()
}

// survey fills s and reports whether it is wanted.
func (r *reader) survey(s *Status, file string, keep func(Entry) bool, buf *[]byte) bool {
	s.File, s.Head.Status = file, StatusUnknown
	var (
		e   Entry
		err error
	)
	e, *buf, err = r.entry(file, *buf)
	if errors.Is(err, fs.ErrNotExist) {
		return false // removed since the folder was read
	}
	if err != nil {
		s.Err = &EntryError{File: file, Err: err}
		return true
	}
	s.Entry = e
	if keep != nil && !keep(e) {
		return false
	}
	if err := s.examine(buf); err != nil {
		s.Err = fmt.Errorf("probe loop lock: %w", err)
	}
	return true
}

// examine asks the lock, then reads the state. A runner writes its last state before it gives the lock back, so a state read after the lock
// was found free is that of no runner, unless one began in between: a loop has died only if the lock is free again after the reading.
func (s *Status) examine(buf *[]byte) error {
	dir := s.Dir + string(filepath.Separator)
	lock, err := openProbe(dir + lockFile)
	if err != nil {
		return err
	}
	defer lock.close()
	alive, err := lock.alive()
	if err != nil {
		return err
	}
	var there bool
	s.Head, there, *buf = readHead(dir+stateFile, *buf)
	if !alive && goesOn(s.Head.Status) {
		if alive, err = lock.alive(); err != nil {
			return err
		}
		s.Died = !alive
	}
	s.Live = decodeHolder(alive, lock.facts(*buf))
	if !there && !alive {
		_, err := os.Lstat(s.Dir)
		s.Gone = errors.Is(err, fs.ErrNotExist)
	}
	return nil
}

// goesOn reports whether a loop in this status has a runner, if nothing has gone wrong.
func goesOn(status string) bool {
	switch status {
	case "starting", "running", "waiting", "paused", "stopping":
		return true
	}
	return false
}

// Ended reports whether state.json says that the loop has ended. Its runner may have yet to go.
func (h Head) Ended() bool { return h.Status != StatusUnknown && h.Status != "" && !goesOn(h.Status) }

// readHead reads the head of a state.json, in the general spelling if it must. there is false if no such file exists.
func readHead(path string, buf []byte) (h Head, there bool, _ []byte) {
	unknown := Head{Status: StatusUnknown}
	buf, err := readHeadBytes(path, buf)
	if err != nil {
		return unknown, !errors.Is(err, fs.ErrNotExist), buf
	}
	if h, _, ok := scanHead(buf); ok {
		return h, true, buf
	}
	if buf, err = readState(path, buf); err != nil {
		return unknown, true, buf
	}
	if h, ok := decodeHead(buf); ok {
		return h, true, buf
	}
	return unknown, true, buf
}
