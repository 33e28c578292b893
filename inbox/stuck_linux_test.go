package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// unprivileged makes a test's folder one that another user owns, and takes root's rights on files
// from the test, if it has them.
func unprivileged(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if os.Geteuid() != 0 {
		return dir
	}
	const nobody = 65534
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // the right is a thread's
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = unix.SetfsuidRetUid(0)
		runtime.UnlockOSThread()
	})
	return dir
}

func refuseAll(t *testing.T, b *Box) (refused int) {
	t.Helper()
	for {
		items, err := b.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			if item.Reject == nil {
				t.Fatalf("%+v is a command", item.Command)
			}
			if err := b.Reject(item.Reject.Name, item.Reject.Reason); !errors.Is(err, fs.ErrPermission) {
				t.Fatalf("reject %s: %v", item.Reject.Name, err)
			}
			refused++
		}
		if len(items) < PassLimit {
			return refused
		}
	}
}

// Files that cannot be moved away are returned once, delay no command, and send no wake-up.
func TestUnremovableFileIsReturnedOnce(t *testing.T) {
	dir := unprivileged(t)
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, Folder)
	if err := os.Mkdir(filepath.Join(in, RejectedFolder), 0o500); err != nil {
		t.Fatal(err)
	}
	const many = PassLimit + 44
	for n := range many { // under names that are before any command's
		put(t, filepath.Join(in, fmt.Sprintf("00000000000000000000000%03d.json", n)), "garbage")
	}
	if got := refuseAll(t, b); got != many {
		t.Errorf("%d files were refused, there are %d", got, many)
	}
	if got := refuseAll(t, b); got != 0 {
		t.Errorf("%d are refused again", got)
	}
	if found, err := b.hasDropped(); found || err != nil {
		t.Errorf("they wake the runner: %v, %v", found, err)
	}

	id, err := Drop(dir, Command{Kind: Stop})
	if err != nil {
		t.Fatal(err)
	}
	items, err := b.Pending()
	if err != nil || len(items) != 1 || items[0].Command == nil || items[0].Command.ID != id {
		t.Fatalf("a command that sorts after them: %+v, %v", items, err)
	}

	// A new file of the same name is not stuck. A file that has gone is forgotten.
	put(t, filepath.Join(in, ".new"), "other garbage")
	if err := os.Rename(filepath.Join(in, ".new"), filepath.Join(in, "00000000000000000000000000.json")); err != nil {
		t.Fatal(err)
	}
	if err := b.Done(id); err != nil {
		t.Fatal(err)
	}
	if got := refuseAll(t, b); got != 1 {
		t.Errorf("%d are refused after one was replaced", got)
	}
	if err := os.Remove(filepath.Join(in, "00000000000000000000000007.json")); err != nil {
		t.Fatal(err)
	}
	if got := refuseAll(t, b); got != 0 || len(b.stuck) != many-1 {
		t.Errorf("%d are refused after one has gone, %d remembered", got, len(b.stuck))
	}
}

// A command that was done and cannot be removed is not returned again; one that cannot be claimed
// is refused once.
func TestCommandsInReadOnlyInbox(t *testing.T) {
	dir := unprivileged(t)
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, Folder)
	first, err := Drop(dir, Command{Kind: Pause})
	if err != nil {
		t.Fatal(err)
	}
	if items, err := b.Pending(); err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	if _, err := Drop(dir, Command{Kind: Resume}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(in, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(in, 0o700)
	if err := b.Done(first); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("done: %v", err)
	}
	if got := refuseAll(t, b); got != 1 {
		t.Errorf("%d are refused, one cannot be claimed", got)
	}
	if items, err := b.Pending(); err != nil || len(items) != 0 {
		t.Errorf("then %+v, %v", items, err)
	}
}
