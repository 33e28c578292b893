//go:build unix

package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

func entryOf(name, project string) Entry {
	return Entry{
		Name: name, Dir: filepath.Join(project, ".ralph", name), Project: project, ID: "01JD0000000000000000000000", Agent: "pi",
		Host: "mill", PID: 4711, Started: time.Date(2026, 11, 21, 1, 52, 28, 123456000, time.UTC), Version: "1.0.0",
	}
}

// list returns the entries of a registry, and the errors of files that are none.
func list(t *testing.T, home string) (entries []Entry, bad []error) {
	t.Helper()
	statuses, err := Survey(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statuses {
		if _, ok := errors.AsType[*EntryError](s.Err); ok {
			bad = append(bad, s.Err)
		} else {
			entries = append(entries, s.Entry)
		}
	}
	return entries, bad
}

func TestPutListRemove(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home") // Put makes it
	a, b := entryOf("a", "/p"), entryOf("b", "/p")
	odd := entryOf("odd", `/p/größe "x" \ `+"\n")
	for _, e := range []Entry{b, odd, a, a} {
		if err := Put(home, e); err != nil {
			t.Fatal(err)
		}
	}
	got, bad := list(t, home)
	if diff := cmp.Diff([]Entry{a, b, odd}, got); diff != "" || bad != nil {
		t.Fatalf("%v\n%s", bad, diff)
	}
	a.PID = 4712
	if err := errors.Join(Put(home, a), Remove(home, b.Project, b.Name), Remove(home, b.Project, b.Name)); err != nil {
		t.Fatal(err)
	}
	got, bad = list(t, home)
	if diff := cmp.Diff([]Entry{a, odd}, got); diff != "" || bad != nil {
		t.Fatalf("%v\n%s", bad, diff)
	}
	for path, want := range map[string]fs.FileMode{Folder(home): 0o700 | fs.ModeDir, filepath.Join(Folder(home), a.File()): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	names, err := os.ReadDir(Folder(home))
	if err != nil || len(names) != 2 {
		t.Errorf("the folder holds %v, %v: want the two entries and no temporary file", names, err)
	}
}

func TestPutRefusesInvalidEntries(t *testing.T) {
	for _, tt := range []struct {
		title string
		spoil func(*Entry)
	}{
		{"a name that is none", func(e *Entry) { e.Name = "../x" }},
		{"a relative loop folder", func(e *Entry) { e.Dir = ".ralph/x" }},
		{"a relative project", func(e *Entry) { e.Project = "" }},
	} {
		t.Run(tt.title, func(t *testing.T) {
			home, e := t.TempDir(), entryOf("x", "/p")
			tt.spoil(&e)
			if err := Put(home, e); err == nil {
				t.Fatal("taken")
			}
			if _, err := os.Stat(Folder(home)); !errors.Is(err, fs.ErrNotExist) {
				t.Error("something was written")
			}
		})
	}
}

func TestPutKeepsTheErrorClass(t *testing.T) {
	home := t.TempDir()
	testfile.Write(t, Folder(home), "")
	if err := Put(home, entryOf("x", "/p")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v, want one that is ENOTDIR", err)
	}
}

func TestFileNamesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, project := range []string{"/a/b", "/a-b", "/a/b-", "/a b", "/A/b", "/" + strings.Repeat("x", 4000), "/y" + strings.Repeat("x", 4000), "/"} {
		name := FileName(project, strings.Repeat("n", MaxName))
		if other, double := seen[name]; double {
			t.Errorf("%.40s and %.40s share %s", project, other, name)
		}
		seen[name] = project
		if len(name)+len(".-1234567890") > 255 {
			t.Errorf("%s has no room for a temporary suffix", name)
		}
		if filepath.Base(name) != name || !strings.HasPrefix(name, "--") {
			t.Errorf("%q is no entry's name", name)
		}
	}
	if FileName("/a/b/", "n") != FileName("/a/b", "n") {
		t.Error("a trailing slash makes another project")
	}
}

func TestSurveyReportsOtherFiles(t *testing.T) {
	home := t.TempDir()
	good := entryOf("good", "/p")
	if err := Put(home, good); err != nil {
		t.Fatal(err)
	}
	line := testfile.Read(t, filepath.Join(Folder(home), good.File()))
	write := func(name string, content []byte) {
		t.Helper()
		testfile.Write(t, filepath.Join(Folder(home), name), content)
	}
	write(".--left-over.json-123", line[:10])
	write("a-empty", nil)
	write("b-garbage", []byte("hello"))
	write("c-torn", line[:len(line)/2])
	write("d-copied", line)
	write("e-evil-name", []byte(strings.ReplaceAll(string(line), `"good"`, `"../../x"`)))
	write("f-huge", []byte(`{"name":"`+strings.Repeat("x", 128<<10)+`"}`))
	if err := os.Mkdir(filepath.Join(Folder(home), "g-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(good.File(), filepath.Join(Folder(home), "h-link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(Folder(home), "i-fifo"), 0o600); err != nil {
		t.Fatal(err)
	}

	entries, bad := list(t, home)
	if diff := cmp.Diff([]Entry{good}, entries); diff != "" {
		t.Error(diff)
	}
	var files []string
	for _, err := range bad {
		e, ok := errors.AsType[*EntryError](err)
		if !ok {
			t.Fatalf("%v is no *EntryError", err)
		}
		files = append(files, e.File)
	}
	want := []string{"a-empty", "b-garbage", "c-torn", "d-copied", "e-evil-name", "f-huge", "g-folder", "h-link", "i-fifo"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	for _, name := range want {
		if _, err := os.Lstat(filepath.Join(Folder(home), name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestReformattedEntryIsRead(t *testing.T) {
	home, e := t.TempDir(), entryOf("x", "/p")
	if err := Put(home, e); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(Folder(home), e.File())
	line := testfile.Read(t, path)
	spaced := strings.ReplaceAll(string(line), `,"`, ",\n  \"") + "\n"
	spaced = strings.Replace(spaced, "{", `{"later":[1,2],`, 1)
	testfile.Write(t, path, spaced)
	got, bad := list(t, home)
	if diff := cmp.Diff([]Entry{e}, got); diff != "" || bad != nil {
		t.Errorf("%v\n%s", bad, diff)
	}
}
