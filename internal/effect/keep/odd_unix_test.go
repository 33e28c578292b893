//go:build unix

package keep

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no file comes back, or is named.
func TestRestoreNamesWhatIsGone(t *testing.T) {
	w := born(t)
	w.Write(".gitignore", "ignored/\n")
	w.Write("tool", "one")
	w.Write("same", "one")
	w.Write("inside/a", "one")
	w.at("inside").Git("init", "-q")
	w.at("inside").Commit("begin")
	for _, name := range []string{"empty/deep", "filled", "stays", "sticky", "ignored/empty"} {
		must(t, os.MkdirAll(filepath.Join(w.Dir, name), 0o755))
	}
	for name, bit := range map[string]os.FileMode{"tool": os.ModeSetuid, "same": os.ModeSetgid, "sticky": os.ModeSticky} {
		must(t, os.Chmod(filepath.Join(w.Dir, name), 0o755|bit))
	}
	for _, name := range []string{"pipe", "stays/pipe"} {
		must(t, unix.Mkfifo(filepath.Join(w.Dir, name), 0o600))
	}
	t.Chdir(w.Dir) // a socket's path is short
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "socket")
	must(t, err)
	commit, before := w.keepIteration(1, 5), w.files()
	must(t, listener.Close())
	for _, name := range []string{"empty", "pipe", "sticky"} {
		w.Remove(name)
	}
	w.Write("tool", "two")
	w.Write("filled/new", "two")
	w.Write("inside/a", "two")

	for _, dry := range []bool{true, false} {
		done, err := Restore(t.Context(), w.Dir, bundleID, commit, dry)
		if (err == nil) != dry {
			t.Errorf("dry %v: %v", dry, err)
		}
		want := Restored{
			Files: []string{"empty/deep/", "filled/new", "tool"},
			Left:  []SkippedFile{{"inside", "it is a repository of its own"}},
			Gone:  []SkippedFile{{"tool", "a mode with setuid"}, {"sticky", "a mode with sticky"}, {"pipe", "a pipe"}, {"socket", "a socket"}},
			Ref:   done.Ref,
		}
		if !reflect.DeepEqual(done, want) || (done.Ref == "") != dry {
			t.Errorf("dry %v: %+v\nwant %+v", dry, done, want)
		}
	}
	for _, name := range []string{"empty/deep", "filled"} {
		if entries, err := os.ReadDir(filepath.Join(w.Dir, name)); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.Dir, "same")); err != nil || info.Mode()&os.ModeSetgid == 0 {
		t.Errorf("the mode of a file that was not changed is %v, %v", info, err)
	}
	after := w.files()
	for _, name := range []string{"pipe", "socket", "inside/a"} {
		delete(before, name)
		delete(after, name)
	}
	same(t, "the files", after, before)
}

// A folder that is made again has the permissions that it had.
func TestRestoreBringsFolderModes(t *testing.T) {
	w := born(t)
	folders := map[string]os.FileMode{"private": 0o700, "private/open": 0o755, "empty": 0o710, "closed": 0o500}
	for _, name := range []string{"private", "private/open", "empty", "closed"} {
		must(t, os.Mkdir(filepath.Join(w.Dir, name), 0o755))
	}
	w.Write("private/open/a", "one")
	w.Write("closed/a", "one")
	for name, mode := range folders {
		must(t, os.Chmod(filepath.Join(w.Dir, name), mode))
	}
	commit := w.keepIteration(1, 5)
	must(t, os.Chmod(filepath.Join(w.Dir, "closed"), 0o700))
	for _, name := range []string{"private", "empty", "closed"} {
		w.Remove(name)
	}
	if _, err := Restore(t.Context(), w.Dir, bundleID, commit, false); err != nil {
		t.Fatal(err)
	}
	for name, mode := range folders {
		info, err := os.Stat(filepath.Join(w.Dir, name))
		must(t, err)
		if info.Mode().Perm() != mode {
			t.Errorf("%s: %v, want %v", name, info.Mode(), mode)
		}
	}
	must(t, os.Chmod(filepath.Join(w.Dir, "closed"), 0o700)) // so that it can be removed
}

// An undone review leaves a folder that was empty.
func TestUndoKeepsEmptyFolders(t *testing.T) {
	w := born(t)
	must(t, os.MkdirAll(filepath.Join(w.Dir, "empty"), 0o755))
	base := w.keep()
	w.Write("empty/new", "x")
	w.Write("made/new", "x")
	if u := w.mustUndo(base); !slices.Equal(u.Files, []string{"empty/new", "made/new"}) {
		t.Errorf("%+v", u)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "empty")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("a folder that the reviewer made is there")
	}
}
