package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Reserved space grows with a segment: a thousand silent loops do not fill a disk. It does not
// change the length, and none is left after a seal: neither after a rotation nor at the end.
func TestReservedSpaceIsReleased(t *testing.T) {
	dir := t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 0, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := segmentPath(dir, w.Position().Segment)
	size, held := disk(t, first)
	if size != w.Position().Offset {
		t.Errorf("the segment is %d bytes long, its first line %d", size, w.Position().Offset)
	}
	if roomy(t, dir) && (held < 1<<20 || held > 2<<20) {
		t.Errorf("%d bytes are reserved at the beginning", held)
	}
	for w.Position().Offset < 3<<20 {
		if _, err := w.Append([]event.Draft{draft500()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, held := disk(t, first); roomy(t, dir) && (held < 16<<20 || held > 17<<20) {
		t.Errorf("%d bytes are reserved for a segment of 3 MiB", held)
	}
	if _, err := w.Rotate(1, nil); err != nil {
		t.Fatal(err)
	}
	second := segmentPath(dir, w.Position().Segment)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{first, second} {
		if size, held := disk(t, name); held >= size+1<<19 { // the second, of one line, had 1 MiB
			t.Errorf("%s of %d bytes still takes %d on the disk", name, size, held)
		}
	}
}

func disk(t *testing.T, name string) (size, held int64) {
	t.Helper()
	var file unix.Stat_t
	if err := unix.Stat(name, &file); err != nil {
		t.Fatal(&os.PathError{Op: "stat", Path: name, Err: err})
	}
	return file.Size, file.Blocks * 512
}

// roomy reports whether the journal reserves space in dir.
func roomy(t *testing.T, dir string) bool {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	return fs.Type == unix.EXT4_SUPER_MAGIC && int64(fs.Bavail)*int64(fs.Bsize) > 64*65<<20 //nolint:unconvert // as in fs_linux.go
}

// The kernel cannot sync files in /proc and returns an error, so that an error shows a real sync.
func TestSyncsReachTheKernel(t *testing.T) {
	proc, err := journal.OSFolder("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	if err := proc.SyncFolder("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sync of a missing folder returned %v", err)
	}
	f, err := proc.Open("version")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the sync of a file without a disk says %v", err)
	}
}

func TestRenameMovesFile(t *testing.T) {
	folder, err := journal.OSFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f, err := folder.Create("old")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := folder.Rename("old", "new"); err != nil {
		t.Fatal(err)
	}
	if names, err := folder.List("."); err != nil || len(names) != 1 || names[0] != "new" {
		t.Errorf("%v, %v", names, err)
	}
}
