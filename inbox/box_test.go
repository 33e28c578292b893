//go:build unix

package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `{"v":1,"id":"` + anID + `","kind":"stop"}`

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHostileFilesAreRejected(t *testing.T) {
	for _, tt := range []struct {
		title, name string
		make        func(path string) error
		reason      string
	}{
		{"garbage under an id", anID + ".json", func(p string) error { return os.WriteFile(p, []byte("\x00\x01"), 0o600) }, "not a command"},
		{"an empty file", anID + ".json", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a command"},
		{"the command of another id", "01JD0000000000000000000001.json", func(p string) error { return os.WriteFile(p, []byte(good), 0o600) }, "not its file's name"},
		{"a link to a good command", anID + ".json", func(p string) error {
			target := filepath.Join(filepath.Dir(filepath.Dir(p)), "target")
			return errors.Join(os.WriteFile(target, []byte(good), 0o600), os.Symlink(target, p))
		}, "symbolic link"},
		{"a link within the inbox", anID + ".json", func(p string) error {
			target := filepath.Join(filepath.Dir(p), ".target")
			return errors.Join(os.WriteFile(target, []byte(good), 0o600), os.Symlink(".target", p))
		}, "symbolic link"},
		{"a link to nowhere", anID + ".json", func(p string) error { return os.Symlink("absent", p) }, "symbolic link"},
		{"a link to a device without end", anID + ".json", func(p string) error { return os.Symlink("/dev/zero", p) }, "symbolic link"},
		{"a folder", anID + ".json", func(p string) error { return os.MkdirAll(filepath.Join(p, "full"), 0o700) }, "folder"},
		{"a FIFO without a writer", anID + ".json", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "named pipe"},
		{"a socket", "s.json", func(p string) error {
			l, err := net.Listen("unix", p)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		}, "name"},
		{"2 GB", anID + ".json", func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 2<<30)) }, "larger"},
		{"one byte too many", anID + ".json", func(p string) error {
			return os.WriteFile(p, []byte(good+strings.Repeat(" ", MaxSize+1-len(good))), 0o600)
		}, "larger"},
		{"a name that is no id", "steer.json", func(p string) error { return os.WriteFile(p, []byte(good), 0o600) }, "name"},
		{"an id in lower case", strings.ToLower(anID) + ".json", func(p string) error { return os.WriteFile(p, []byte(good), 0o600) }, "name"},
		{"an id of another suffix", anID + ".txt", func(p string) error { return os.WriteFile(p, []byte(good), 0o600) }, "name"},
		{"a name with a newline and no UTF-8", "a\n\xff", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "name"},
		{"a name of 255 bytes", strings.Repeat("ü", 125) + ".json", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "name"},
		{"a claim without a command", anID + ".claimed", func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) }, "not a command"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			dir := t.TempDir()
			box := mustOpen(t, dir)
			first := mustDrop(t, dir, Command{Kind: Pause})
			if err := tt.make(filepath.Join(dir, Folder, tt.name)); err != nil {
				if runtime.GOOS == "darwin" && errors.Is(err, syscall.EILSEQ) {
					t.Skip("macOS makes no such name")
				}
				t.Fatal(err)
			}
			last := mustDrop(t, dir, Command{Kind: Resume})

			var ids []string
			var rejects []Reject
			items, err := box.Pending()
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if item.Reject != nil {
					rejects = append(rejects, *item.Reject)
				} else {
					ids = append(ids, item.Command.ID)
				}
			}
			if diff := cmp.Diff([]string{first, last}, ids); diff != "" {
				t.Error(diff)
			}
			if len(rejects) != 1 || rejects[0].Name != tt.name || !strings.Contains(rejects[0].Reason, tt.reason) {
				t.Fatalf("rejects %q, want one for %q", rejects, tt.reason)
			}

			for range 2 { // the second finds it gone
				if err := box.Reject(tt.name, rejects[0].Reason); err != nil {
					t.Fatal(err)
				}
			}
			if items, err := box.Pending(); err != nil || len(items) != 2 {
				t.Errorf("the next pass has %d items, %v", len(items), err)
			}
			names, err := os.ReadDir(filepath.Join(dir, Folder, RejectedFolder))
			if err != nil || len(names) != 2 {
				t.Fatalf("%v, %v: want the file and its reason", names, err)
			}
			reason, err := os.ReadFile(filepath.Join(dir, Folder, RejectedFolder, names[0].Name()+".reason"))
			if err != nil || string(reason) != rejects[0].Reason+"\n" {
				t.Errorf("%q, %v", reason, err)
			}
		})
	}
}

func TestHiddenFilesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	put(t, filepath.Join(dir, Folder, ".drop-abc"), `{"v":1`)
	put(t, filepath.Join(dir, Folder, ".DS_Store"), "")
	if err := os.Mkdir(filepath.Join(dir, Folder, RejectedFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if items, err := box.Pending(); err != nil || len(items) != 0 {
		t.Errorf("%v, %v", items, err)
	}
	for _, name := range []string{"", ".", "..", "rejected", ".drop-abc", "../run.lock", "a/b"} {
		if err := box.Reject(name, "because"); err == nil {
			t.Errorf("%q was rejected", name)
		}
	}
	for _, id := range []string{"", "..", "../x", strings.ToLower(anID)} {
		if err := box.Done(id); err == nil {
			t.Errorf("%q was done", id)
		}
	}
}

func TestRejectOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	for i := range 3 {
		put(t, filepath.Join(dir, Folder, "x"), fmt.Sprint(i))
		if err := box.Reject("x", fmt.Sprintf("reason %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"x", "x.1", "x.2"} {
		path := filepath.Join(dir, Folder, RejectedFolder, name)
		content, err1 := os.ReadFile(path)
		reason, err2 := os.ReadFile(path + ".reason")
		if err1 != nil || err2 != nil || string(content) != fmt.Sprint(i) || string(reason) != fmt.Sprintf("reason %d\n", i) {
			t.Errorf("%s: %q, %q, %v, %v", name, content, reason, err1, err2)
		}
	}
}

func TestLinkNamedRejectedIsMoved(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	victim := filepath.Join(dir, Folder, ".victim")
	if err := errors.Join(os.Mkdir(victim, 0o700), os.Symlink(".victim", filepath.Join(dir, Folder, RejectedFolder))); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, Folder, "x"), "")
	if err := box.Reject("x", "because"); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(victim); len(names) != 0 {
		t.Errorf("the link was followed: %v", names)
	}
	if _, err := os.Lstat(filepath.Join(dir, Folder, RejectedFolder, "x")); err != nil {
		t.Error(err)
	}
}

func TestRepeatedIDIsRejected(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	put(t, filepath.Join(dir, Folder, anID+".json"), good)
	if c := pending(t, box); len(c) != 1 {
		t.Fatalf("%+v", c)
	}
	put(t, filepath.Join(dir, Folder, anID+".json"), good)
	items, err := box.Pending()
	if err != nil || len(items) != 2 || items[0].Command == nil || items[1].Reject == nil {
		t.Fatalf("%+v, %v", items, err)
	}
	if err := errors.Join(box.Reject(items[1].Reject.Name, items[1].Reject.Reason), box.Done(anID)); err != nil {
		t.Error(err)
	}
	if items, err := box.Pending(); err != nil || len(items) != 0 {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestPendingIsBounded(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	const n = 3*PassLimit + 10
	for i := range n {
		put(t, filepath.Join(dir, Folder, fmt.Sprintf("!junk-%04d", i)), "")
	}
	var want []string
	for i := range PassLimit + 5 {
		id := fmt.Sprintf("01JD%022d", i)
		put(t, filepath.Join(dir, Folder, id+".json"), strings.Replace(good, anID, id, 1))
		want = append(want, id)
	}
	var got []string
	rejected := 0
	for pass := 0; ; pass++ {
		items, err := box.Pending()
		if err != nil || len(items) > PassLimit {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for _, item := range items {
			if item.Reject == nil {
				if rejected > 0 {
					t.Fatal("a command came after a reject")
				}
				got = append(got, item.Command.ID)
				err = errors.Join(err, box.Done(item.Command.ID))
			} else {
				rejected++
				err = errors.Join(err, box.Reject(item.Reject.Name, item.Reject.Reason))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(items) < PassLimit {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || rejected != n {
		t.Errorf("%d rejected\n%s", rejected, diff)
	}
}

func TestAVanishedInboxIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "loop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	box := mustOpen(t, dir)
	mustDrop(t, dir, Command{Kind: Stop})
	if err := os.RemoveAll(filepath.Join(dir, Folder)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Done(anID), box.Reject("x", "because")); err != nil {
		t.Error(err)
	}
	if c, err := box.Pending(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made again: %v", err)
	}
	box = mustOpen(t, dir) // the next runner
	mustDrop(t, dir, Command{Kind: Stop})
	if c := pending(t, box); len(c) != 1 {
		t.Errorf("%+v", c)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Pending(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the loop's folder: %v", err)
	}
}

func TestUnreadableFileIsRejected(t *testing.T) {
	err := unreadable(&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES})
	if !errors.Is(err, errRefused) || !bytes.Contains([]byte(reason(err)), []byte("permission")) {
		t.Errorf("%v", err)
	}
	if err := unreadable(syscall.EMFILE); errors.Is(err, errRefused) {
		t.Error("a runner out of descriptors rejects a good command")
	}
}
