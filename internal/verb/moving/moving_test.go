package moving

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/registry"
)

const loopID = "01M8BNGX9EWD5NWXM83V7K72KS"

func manifest() Manifest {
	return Manifest{Format: formatVersion, Name: "demo", ID: loopID, Host: "mill", Inside: "."}
}

// synced records the size that each file had when it was synced, and the folders.
func synced(t *testing.T) (files map[string]int64, folders map[string]bool) {
	files, folders = map[string]int64{}, map[string]bool{}
	file, folder := fsync, syncFolder
	t.Cleanup(func() { fsync, syncFolder = file, folder })
	fsync = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		files[filepath.Base(f.Name())] = info.Size()
		return file(f)
	}
	syncFolder = func(path string) error {
		entries, _ := os.ReadDir(path)
		for _, entry := range entries {
			folders[entry.Name()] = true
		}
		return folder(path)
	}
	return files, folders
}

// TestExportIsDurable shows that the file is complete on the disk before its loop counts as
// exported, and that a leftover of a killed export is removed.
func TestExportIsDurable(t *testing.T) {
	files, folders := synced(t)
	project, out := t.TempDir(), t.TempDir()
	dir := filepath.Join(project, ".ralph", "demo")
	write(t, filepath.Join(dir, "journal", "000001-i0000.jsonl"), strings.Repeat("line\n", 1000))
	write(t, filepath.Join(dir, "run.lock"), "")
	write(t, filepath.Join(out, ".demo.ralph"+making+loopID, "bundle"), "cut off")
	m := manifest()
	x := Exported{Name: "demo", File: filepath.Join(out, "demo.ralph")}
	err := x.write(t.Context(), &cli.Env{Stderr: io.Discard}, registry.Status{Entry: registry.Entry{Name: "demo", Dir: dir, Project: project}}, &m)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(x.File)
	if err != nil {
		t.Fatal(err)
	}
	if files["whole"] != info.Size() || !folders["demo.ralph"] {
		t.Errorf("synced were %v and a folder with %v; want all %d bytes, and the name", files, folders, info.Size())
	}
	entries, _ := os.ReadDir(out)
	if len(entries) != 1 {
		t.Errorf("beside the file there is %v", entries)
	}
	if err := x.write(t.Context(), &cli.Env{Stderr: io.Discard}, registry.Status{Entry: registry.Entry{Dir: dir, Project: project}}, &m); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second export to the same file: %v", err)
	}
}

// TestImportIsDurable shows that what is unpacked is synced, and that locks stay behind.
func TestImportIsDurable(t *testing.T) {
	files, _ := synced(t)
	dir, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "journal", "000001-i0000.jsonl"), "line\n")
	for _, name := range []string{"run.lock", "reserve", "moved.json", "worktree/a", "worktree.json", "inbox/rejected/a", ".git/HEAD"} {
		write(t, filepath.Join(dir, name), "stays")
	}
	name := filepath.Join(t.TempDir(), "demo.ralph")
	write(t, filepath.Join(dir, "notes", "a.md"), "stays")
	left, err := pack(name, manifest(), dir, "", filepath.Join(dir, "none.json"), "", holdout.Store{}, false)
	if err != nil || !slices.Equal(left, []string{"notes"}) {
		t.Fatalf("left are %v: %v", left, err)
	}
	a, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if err := a.unpack(opened(t, folder)); err != nil {
		t.Fatal(err)
	}
	if files["000001-i0000.jsonl"] != 5 {
		t.Errorf("synced were %v", files)
	}
	if entries, _ := os.ReadDir(filepath.Join(folder, "loop")); len(entries) != 1 {
		t.Errorf("unpacked were %v; want the journal alone", entries)
	}
}

// TestHostileFilesAreRefused gives import files that no export writes. Nothing is written outside
// of the folder.
func TestHostileFilesAreRefused(t *testing.T) {
	changed := func(change func(*Manifest)) Manifest {
		m := manifest()
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m    Manifest
		more tar.Header
		want string
	}{
		"a path that leads out": {manifest(), tar.Header{Name: "loop/../../out"}, "it has"},
		"an absolute path":      {manifest(), tar.Header{Name: "/tmp/out"}, "it has"},
		"a link":                {manifest(), tar.Header{Name: "loop/task.md", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, "it has"},
		"held out, and out":     {manifest(), tar.Header{Name: "held-out/../../x/files/out"}, "it has"},
		"held out of files":     {manifest(), tar.Header{Name: "held-out/x/files/../../../out"}, "it has"},
		"another name":          {manifest(), tar.Header{Name: "hooks/x"}, "it has"},
		"a newer format":        {changed(func(m *Manifest) { m.Format = 9 }), tar.Header{Name: "loop/task.md"}, "newer"},
		"a wrong name":          {changed(func(m *Manifest) { m.Name = "../x" }), tar.Header{Name: "loop/task.md"}, "name"},
		"a wrong id":            {changed(func(m *Manifest) { m.ID = "../x" }), tar.Header{Name: "loop/task.md"}, "id"},
		"a wrong project":       {changed(func(m *Manifest) { m.Inside = "../x" }), tar.Header{Name: "loop/task.md"}, "project"},
		"git's own folder":      {changed(func(m *Manifest) { m.Inside = ".git/hooks" }), tar.Header{Name: "loop/task.md"}, "project"},
		"git's, spelled":        {changed(func(m *Manifest) { m.Inside = "b/.GIT" }), tar.Header{Name: "loop/task.md"}, "project"},
		"a commit's other name": {changed(func(m *Manifest) { m.Repo = &Repo{Head: "HEAD~0", Tree: strings.Repeat("a", 40)} }), tar.Header{Name: "loop/task.md"}, "commits"},
	} {
		t.Run(name, func(t *testing.T) {
			around := t.TempDir()
			folder := filepath.Join(around, "a", "b")
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(around, "file")
			write(t, file, string(packed(t, c.m, c.more)))
			a, err := open(file)
			if err == nil {
				err = a.unpack(opened(t, folder))
				a.close()
			}
			if err == nil {
				t.Fatal("it was unpacked")
			}
			if failure, ok := errors.AsType[*cli.Failure](err); ok {
				err = errors.New(failure.Error() + failure.NextStep)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
			if entries, _ := os.ReadDir(around); len(entries) != 2 {
				t.Errorf("outside there is %v", entries)
			}
		})
	}
}

// TestCutOffFileIsRefused shows that an incomplete copy is noticed wherever it ends.
func TestCutOffFileIsRefused(t *testing.T) {
	whole := packed(t, manifest(), tar.Header{Name: "loop/runner.log", Size: 5000})
	for _, n := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, string(whole[:n]))
		a, err := open(file)
		if err == nil {
			err = a.unpack(opened(t, t.TempDir()))
			a.close()
		}
		if err == nil {
			t.Errorf("the first %d of %d bytes were taken for all", n, len(whole))
		}
	}
}

func packed(t *testing.T, m Manifest, more tar.Header) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var to bytes.Buffer
	z, err := zstd.NewWriter(&to)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	body := make([]byte, more.Size)
	for i := range body {
		body[i] = byte(time.Duration(i) * 7 % 251)
	}
	err = errors.Join(
		w.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text))}), second(w.Write(text)),
		w.WriteHeader(&more), second(w.Write(body)), w.Close(), z.Close())
	if err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

func opened(t *testing.T, folder string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func second(_ int, err error) error { return err }

func write(t *testing.T, name, text string) {
	t.Helper()
	testfile.Write(t, name, text)
}
