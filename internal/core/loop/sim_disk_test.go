package loop_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const segmentsDir = loopDir + "/journal"

// faultModel watches the journal's calls to the disk, so that the invariants know what is durable
// without the journal.
type faultModel struct {
	w *world
	// synced is how many bytes of each segment were made durable.
	synced map[string]int
	// unnamed are files whose name no sync of their folder has made durable.
	unnamed map[string]bool
	failed  error // the first write or sync that went wrong
}

func (l *faultModel) crash(how simfs.Loss) {
	l.failed = nil
	if how != simfs.Killed {
		l.synced, l.unnamed = map[string]int{}, map[string]bool{}
	}
}

// watched is the disk as the journal sees it.
type watched struct {
	*simfs.FS
	l *faultModel
}

func (w watched) OpenFolder(path string) (journalfs.Folder, error) {
	f, err := w.FS.OpenFolder(path)
	return watchedFolder{f, path, w.l}, err
}

type watchedFolder struct {
	journalfs.Folder
	path string
	l    *faultModel
}

func (f watchedFolder) Append(name string) (journalfs.File, error) {
	file, err := f.Folder.Append(name)
	if err != nil {
		return nil, err
	}
	return &watchedFile{file, f.path + "/" + name, f.l}, nil
}

func (f watchedFolder) Create(name string) (journalfs.File, error) {
	file, err := f.Folder.Create(name)
	if err != nil {
		return nil, err
	}
	f.l.unnamed[f.path+"/"+name] = true
	return &watchedFile{file, f.path + "/" + name, f.l}, nil
}

func (f watchedFolder) Rename(from, to string) error {
	err := f.Folder.Rename(from, to)
	if n, ok := f.l.synced[f.path+"/"+from]; ok && err == nil {
		delete(f.l.synced, f.path+"/"+from)
		f.l.synced[f.path+"/"+to] = n
		f.l.unnamed[f.path+"/"+to] = true
	}
	return err
}

func (f watchedFolder) SyncFolder(name string) error {
	err := f.Folder.SyncFolder(name)
	if err == nil {
		maps.DeleteFunc(f.l.unnamed, func(file string, _ bool) bool { return path.Dir(file) == path.Join(f.path, name) })
	}
	return err
}

type watchedFile struct {
	journalfs.File
	name string
	l    *faultModel
}

func (f *watchedFile) Write(p []byte) (int, error) {
	if f.l.w.broken.spoil != nil {
		if _, err := f.File.Write(f.l.w.broken.spoil(f.l.w, f.name, p)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	n, err := f.File.Write(p)
	f.l.took(err)
	return n, err
}

func (f *watchedFile) Sync() error {
	err := f.File.Sync()
	f.l.took(err)
	if err == nil {
		size, _ := f.File.Size()
		f.l.synced[f.name] = int(size)
	}
	return err
}

// took notes a failure after which a runner has to be silent.
func (l *faultModel) took(err error) {
	l.w.seen.failure(err)
	if err != nil && l.failed == nil && !errors.Is(err, simfs.ErrCrashed) {
		l.failed = err
	}
}

func isSegment(name string) bool {
	return strings.HasPrefix(name, segmentsDir+"/") && strings.HasSuffix(name, ".jsonl")
}

// segments lists the plain segments on a disk, oldest first.
func segments(disk *simfs.FS) []string {
	names, _ := disk.List(segmentsDir) // none before the first
	var paths []string
	for _, name := range names {
		if path := segmentsDir + "/" + name; isSegment(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// pages are all events on a disk as they were last read.
type pages struct {
	disk    *simfs.FS
	changes int
	events  []event.Event
	err     error
}

// journal returns all events on the disk, and the error that ends reading. It reads them again when
// something was written.
func (w *world) journal() ([]event.Event, error) {
	if n := w.disk.Changes(); w.pages.disk != w.disk || w.pages.changes != n {
		w.pages = pages{disk: w.disk, changes: n}
		w.pages.events, w.pages.err = read(w.disk, journal.ReadOptions{})
	}
	return w.pages.events, w.pages.err
}

// lose replaces the disk by what remains of it when the process dies.
func (w *world) lose(how simfs.Loss) {
	read := how == simfs.Killed && w.pages.disk == w.disk && w.pages.changes == w.disk.Changes()
	w.disk = w.disk.Crash(how)
	if read {
		w.pages.disk, w.pages.changes = w.disk, w.disk.Changes() // the kernel has it all
	}
}

func read(disk *simfs.FS, opt journal.ReadOptions) (events []event.Event, err error) {
	opt.FS = disk
	for e, err := range journal.Read(loopDir, opt) {
		if err != nil {
			return events, err
		}
		events = append(events, e.Clone())
	}
	return events, nil
}

// fold folds events up to a sequence number; 0 means all.
func fold(events []event.Event, upTo event.Seq) (s loopstate.State, err error) {
	for _, e := range events {
		if upTo > 0 && e.Seq > upTo {
			break
		}
		if err := s.Fold(e); err != nil {
			return s, err
		}
	}
	return s, nil
}

// wholeLines cuts an unfinished last line off.
func wholeLines(content []byte) []byte { return content[:bytes.LastIndexByte(content, '\n')+1] }

// reader is a follower: it reads the files at random moments and remembers everything.
type reader struct {
	w    *world
	seen map[string][]byte
	at   string // the segment that it reads

	changes int // of the disk, at its last look
	pace    time.Duration
}

func (r *reader) begin() {
	r.seen, r.pace = map[string][]byte{}, 100*time.Second
	r.w.faults.crash(simfs.PowerLost)
	r.w.after(r.w.span(0, 5*time.Second), r.again)
}

func (r *reader) again() {
	r.look()
	// If nothing is written, a reader of many days need not look every minute.
	if n := r.w.disk.Changes(); n != r.changes || r.w.scenario.edition < 2 {
		r.changes, r.pace = n, 100*time.Second
	} else {
		r.pace = min(r.pace*2, 3*time.Hour)
	}
	r.w.after(r.w.span(5*time.Millisecond, r.pace), r.again)
}

// look reads on, and checks that what it saw of earlier segments is still there.
func (r *reader) look() {
	for _, path := range segments(r.w.disk) {
		if path < r.at {
			continue
		}
		content, err := r.w.disk.ReadFile(path)
		if err != nil {
			r.w.violate(seenIsKept, "read %s: %v", path, err)
		}
		r.holds(path, content)
		r.seen[path], r.at = wholeLines(content), path
	}
}

func (r *reader) holds(path string, content []byte) {
	if !bytes.HasPrefix(content, r.seen[path]) {
		r.w.violate(seenIsKept, "%s had %d bytes that a reader saw, and they are gone or changed: %v", path, len(r.seen[path]), firstDifference(r.seen[path], content))
	}
}

// compare checks that everything it ever saw is still there.

func (r *reader) compare() {
	there := segments(r.w.disk)
	for _, path := range slices.Sorted(maps.Keys(r.seen)) {
		content, err := r.w.disk.ReadFile(path)
		if err != nil && r.w.scenario.keep > 0 && len(there) > 0 && path < there[0] {
			delete(r.seen, path) // dropped, as the settings ask for
			continue
		}
		r.holds(path, content)
	}
}

// forget is called before the machine loses power: what was not synced may go.
func (r *reader) forget() {
	clear(r.seen)
	r.at = ""
	for path, n := range r.w.faults.synced {
		if content, err := r.w.disk.ReadFile(path); err == nil && isSegment(path) && !r.w.faults.unnamed[path] {
			r.seen[path] = wholeLines(content[:min(n, len(content))])
		}
	}
}

func firstDifference(want, got []byte) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	from := bytes.LastIndexByte(want[:i], '\n') + 1
	return fmt.Sprintf("%.200q", want[from:])
}
