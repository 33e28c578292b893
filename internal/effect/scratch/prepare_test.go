package scratch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// What git ignores and the settings name is brought along, and worktree.setup has run.
func TestPrepareBringsIgnoredFiles(t *testing.T) {
	w := testgit.Born(t)
	w.Write(".gitignore", "local*\n")
	w.Write("local.conf", "a secretless setting")
	w.Write("local.other", "x")
	w.Commit("Ignore local files.")
	made := open(t, w.Dir, w.Head(), t.TempDir())
	var wrapped []string
	testfile.Must(t, made.Prepare(t.Context(), scratch.Preparation{
		From: w.Dir, Copy: []string{"local.conf"}, Setup: "pwd > ready",
		Wrap: func(argv, env []string) ([]string, []string, error) { wrapped = argv; return argv, env, nil },
	}))
	inside := testgit.Tree{T: t, Dir: made.Root}
	if got := inside.Content("local.conf"); got != "a secretless setting" {
		t.Errorf("local.conf is %q", got)
	}
	if _, err := os.Stat(filepath.Join(made.Root, "local.other")); err == nil {
		t.Error("a file that no pattern names is there")
	}
	if got := strings.TrimSpace(inside.Content("ready")); got != made.Project {
		t.Errorf("worktree.setup ran in %s", got)
	}
	if len(wrapped) == 0 {
		t.Error("worktree.setup ran outside of the sandbox")
	}
	err := made.Prepare(t.Context(), scratch.Preparation{From: w.Dir, Setup: "echo no network; exit 3"})
	if err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("the error of worktree.setup is %v", err)
	}
}

// A folder without git is copied, without what is ralph's.
func TestCopyOfPlainFolder(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	for _, name := range []string{"sub/a", ".ralph/demo/state", "home/held-out/x"} {
		testfile.Must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		testfile.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	if _, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Home: home}); !repo.Absent(err) {
		t.Fatalf("without a repository: %v", err)
	}
	made, err := scratch.OpenCopy(t.Context(), scratch.Config{Dir: dir, Home: home})
	testfile.Must(t, err)
	defer made.Close()
	entries, err := os.ReadDir(made.Project)
	testfile.Must(t, err)
	if len(entries) != 1 || entries[0].Name() != "sub" {
		t.Errorf("the copy has %v", entries)
	}
}

// Files are laid over whatever is in their way, and never follow a link out of the tree.
func TestLayReplacesWhatIsThere(t *testing.T) {
	w := testgit.Born(t)
	outside := t.TempDir()
	testfile.Must(t, os.Symlink(outside, filepath.Join(w.Dir, "tests")))
	w.Write("conf", "the agent's")
	w.Write("file", "a file where a folder is needed")
	w.Commit("What is in the way.")
	made := open(t, w.Dir, w.Head(), t.TempDir())
	source := t.TempDir()
	names := []string{"tests/a", "conf", "file/b"}
	for _, name := range names {
		testfile.Must(t, os.MkdirAll(filepath.Join(source, filepath.Dir(name)), 0o700))
		testfile.Must(t, os.WriteFile(filepath.Join(source, name), []byte("held out"), 0o600))
	}
	from, err := os.OpenRoot(source)
	testfile.Must(t, err)
	defer from.Close()
	testfile.Must(t, made.Lay(from, names))
	inside := testgit.Tree{T: t, Dir: made.Root}
	for _, name := range names {
		if got := inside.Content(name); got != "held out" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("a link led outside: %v, %v", entries, err)
	}
	if err := made.Lay(from, []string{"../x"}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a name that leads out of the tree: %v", err)
	}
}
