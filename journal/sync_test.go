package journal_test

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/journal"
)

// syncedFS reports each sync of a segment that is being written.
type syncedFS struct {
	synced chan struct{}
	fail   *atomic.Bool
}

type syncedFolder struct {
	journalfs.Folder
	fs syncedFS
}

type syncedFile struct {
	journalfs.File
	fs syncedFS
}

func (s syncedFS) OpenFolder(path string) (journalfs.Folder, error) {
	f, err := journal.OSFolder(path)
	return syncedFolder{f, s}, err
}

func (s syncedFolder) Append(name string) (journalfs.File, error) {
	f, err := s.Folder.Append(name)
	return syncedFile{f, s.fs}, err
}

func (s syncedFile) Sync() error {
	err := s.File.Sync()
	if s.fs.fail.Load() {
		err = syscall.EIO
	}
	s.fs.synced <- struct{}{}
	return err
}

func TestTheBackgroundSyncs(t *testing.T) {
	disk := syncedFS{make(chan struct{}, 100), new(atomic.Bool)}
	wait := func(why string) {
		t.Helper()
		select {
		case <-disk.synced:
		case <-time.After(2 * time.Minute):
			t.Fatal("no sync after two minutes: " + why)
		}
	}
	w, _ := begin(t, t.TempDir(), journal.Options{FS: disk, SyncEvery: time.Millisecond})
	add(t, w, notice("x"))
	wait("the first byte")
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	if since, dirty := w.Dirty(); dirty {
		t.Errorf("dirty since %v", since)
	}
	select {
	case <-disk.synced:
		t.Error("a sync while nothing was dirty")
	default:
	}

	disk.fail.Store(true)
	add(t, w, notice("y"))
	wait("one that fails")
	var err error
	for err == nil { // its result reaches the writer a moment later
		_, err = w.Append(notices(1, 1))
	}
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("append says %v", err)
	}
	if err := w.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close says %v", err)
	}
}

func TestManyDirtyBytesSyncEarly(t *testing.T) {
	disk := syncedFS{make(chan struct{}, 100), new(atomic.Bool)}
	w, _ := begin(t, t.TempDir(), journal.Options{FS: disk, SyncEvery: time.Hour})
	for range 9 {
		add(t, w, notice(string(make([]byte, 170<<10)))) // 1 MiB: a NUL is six bytes of JSON
	}
	select {
	case <-disk.synced:
	case <-time.After(2 * time.Minute):
		t.Fatal("no sync after 9 MiB")
	}
}
