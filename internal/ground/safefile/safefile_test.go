package safefile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// disk is a simulated one with a durable folder dir.
type disk struct {
	*simfs.FS
	dir safefile.Folder
}

func newDisk(t *testing.T, seed uint64) disk {
	t.Helper()
	fs := simfs.New(rand.New(rand.NewPCG(seed, 0)))
	must(t, fs.MkdirAll("dir"))
	root, err := fs.Folder(".")
	must(t, err)
	must(t, root.Sync())
	folder, err := fs.Folder("dir")
	must(t, err)
	return disk{fs, folder}
}

var must = testfile.Must

var unordered = []simfs.Loss{simfs.Killed, simfs.PowerLost, simfs.PowerLostAnyOrder}

func TestReplaceSurvivesAtEveryChange(t *testing.T) {
	for _, how := range unordered {
		for crash := 1; crash <= 8; crash++ {
			for seed := range uint64(30) {
				d := newDisk(t, seed)
				must(t, safefile.Replace(d.dir, "a", []byte("the old text"), 0o600))
				must(t, d.dir.Sync())
				d.Plan(simfs.Plan{CrashAt: d.Changes() + crash})
				err := safefile.Replace(d.dir, "a", []byte("the new one"), 0o600)
				if err == nil {
					err = d.dir.Sync()
				}
				text, failed := d.Crash(how).ReadFile("dir/a")
				if got := string(text); failed != nil || got != "the new one" && (err == nil || got != "the old text") {
					t.Fatalf("loss %d at change %d, seed %d (%v): the file holds %q, %v", how, crash, seed, err, got, failed)
				}
			}
		}
	}
}

func TestFailedReplaceLeavesNothing(t *testing.T) {
	for _, plan := range []simfs.Plan{{FailWrite: 1}, {FailSync: 1}, {Space: 3}} {
		d := newDisk(t, 1)
		d.Plan(plan)
		if safefile.Replace(d.dir, "a", []byte("text"), 0o600) == nil {
			t.Errorf("%+v: no error", plan)
		}
		if names, err := d.List("dir"); len(names) > 0 || err != nil {
			t.Errorf("%+v: left %q, %v", plan, names, err)
		}
	}
}

func TestMkdirIsDurable(t *testing.T) {
	for seed := range uint64(20) {
		d := newDisk(t, seed)
		must(t, safefile.Mkdir(d.dir, "in"))
		must(t, safefile.Mkdir(d.dir, "in"))
		if _, err := d.Crash(simfs.PowerLostAnyOrder).List("dir/in"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// folders are those of the operating system, over the same path.
func folders(t *testing.T, path string) map[string]safefile.Folder {
	t.Helper()
	root, err := os.OpenRoot(path)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return map[string]safefile.Folder{"a path": safefile.Dir(path), "an open folder": safefile.Within(root)}
}

func TestReplaceOnDisk(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "full", "x"), 0o700))
	for name, folder := range folders(t, dir) {
		for _, mode := range []os.FileMode{0o644, 0o600} {
			must(t, safefile.Replace(folder, "a.json", []byte(name), mode))
			must(t, folder.Sync())
			info, err := os.Stat(filepath.Join(dir, "a.json"))
			must(t, err)
			text, err := os.ReadFile(filepath.Join(dir, "a.json"))
			if err != nil || string(text) != name || info.Mode().Perm() != mode {
				t.Errorf("%s: %q with mode %v, want %v; %v", name, text, info.Mode(), mode, err)
			}
		}
		// A folder that holds something cannot be replaced by a file.
		if safefile.Replace(folder, "full", nil, 0o600) == nil {
			t.Errorf("%s: a folder was replaced", name)
		}
		must(t, safefile.Mkdir(folder, "new"))
		must(t, safefile.Mkdir(folder, "new"))
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 3 {
		t.Errorf("left over: %v", left)
	}
}

func TestWriteFileReplacesPath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, text := range []string{"a long first version", "short"} {
		must(t, safefile.WriteFile(path, []byte(text), 0o600))
		if got, err := safefile.Read(path, 99); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestWriteFileNeedsItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "link")))
	for folder, want := range map[string]error{"missing": os.ErrNotExist, "file": syscall.ENOTDIR, "link": syscall.ENOTDIR} {
		if err := safefile.WriteFile(filepath.Join(dir, folder, "f"), nil, 0o600); !errors.Is(err, want) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder was made")
	}
}

// Both folders know of the move before anything else takes the old name.
func TestMoveIsDurable(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "archive"), 0o700))
	must(t, os.MkdirAll(filepath.Join(dir, "loop"), 0o700))
	var synced []string
	safefile.Synced(t, func(path string) {
		if _, err := os.Stat(filepath.Join(dir, "archive", "loop")); err != nil {
			t.Errorf("%s is synced before the move: %v", path, err)
		}
		synced = append(synced, path)
	})
	must(t, safefile.Move(filepath.Join(dir, "loop"), filepath.Join(dir, "archive", "loop")))
	if want := []string{filepath.Join(dir, "archive"), dir}; !slices.Equal(synced, want) {
		t.Errorf("synced are %q, want %q", synced, want)
	}
	if err := safefile.Move(filepath.Join(dir, "loop"), filepath.Join(dir, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestLeftoverKnowsItsFile(t *testing.T) {
	d := newDisk(t, 1)
	d.Plan(simfs.Plan{CrashAt: d.Changes() + 3})
	for _, name := range []string{"a.json", ".hidden"} {
		err := safefile.Replace(d.dir, name, []byte(fmt.Sprint("text of ", name)), 0o600)
		names, _ := d.Crash(simfs.Killed).List("dir")
		if len(names) == 0 {
			t.Fatal(err)
		}
		if of, ok := safefile.Leftover(names[0]); !ok || of != strings.TrimPrefix(name, ".") {
			t.Errorf("%q is left of %q", names[0], of)
		}
		d = newDisk(t, 2)
		d.Plan(simfs.Plan{CrashAt: d.Changes() + 2})
	}
	for _, name := range []string{"a.json", ".a.json", "a.json.new-X"} {
		if of, ok := safefile.Leftover(name); ok {
			t.Errorf("%q is taken for what is left of %q", name, of)
		}
	}
}
