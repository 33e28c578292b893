package scratch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// long is long before a tree is swept.
var long = time.Now().Add(-time.Hour)

func TestMain(m *testing.M) { testgit.Main(m) }

func open(t *testing.T, dir, tree, home string) *scratch.Tree {
	t.Helper()
	made, err := scratch.Open(t.Context(), scratch.Config{Dir: dir, Tree: tree, Home: home})
	testfile.Must(t, err)
	t.Cleanup(func() { _ = made.Close() })
	return made
}

// A tree has the files as they are, committed or not, and the repository that it is made from does
// not change.
func TestTreeLeavesRepositoryAlone(t *testing.T) {
	for _, format := range testgit.Formats {
		t.Run(format, func(t *testing.T) {
			w := testgit.Born(t, "--object-format="+format)
			w.Write("sub/new", "not committed")
			w.Write(".gitignore", "ignored\n")
			w.Write("ignored", "x")
			now, err := keep.FilesNow(t.Context(), w.Dir)
			testfile.Must(t, err)
			state := func() string {
				return w.Git("for-each-ref") + w.Git("worktree", "list") + w.Git("count-objects", "-v") + w.Index()
			}
			before := state()

			made := open(t, filepath.Join(w.Dir, "sub"), now, t.TempDir())
			inside := testgit.Tree{T: t, Dir: made.Root}
			if got := inside.Content("sub/new"); got != "not committed" {
				t.Errorf("the new file is %q", got)
			}
			if made.Project != filepath.Join(made.Root, "sub") {
				t.Errorf("the project is %s", made.Project)
			}
			if _, err := os.Stat(filepath.Join(made.Root, "ignored")); err == nil {
				t.Error("an ignored file is there")
			}
			inside.Write("a", "changed")
			inside.Write("left/behind", "x")
			inside.Commit("A commit of a test.")
			testfile.Must(t, made.Reset(t.Context(), w.Head()))
			if got := inside.Content("a"); got == "changed" {
				t.Error("a change survived the reset")
			}
			for _, name := range []string{"left", "sub/new"} {
				if _, err := os.Stat(filepath.Join(made.Root, name)); err == nil {
					t.Errorf("%s survived the reset", name)
				}
			}
			testfile.Must(t, made.Close())
			if _, err := os.Stat(made.Root); err == nil {
				t.Error("the tree is still there")
			}
			if after := state(); after != before {
				t.Errorf("the repository was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// A tree has what the repository tracks in ralph's folders, as a fresh clone does, though what is
// kept of a work tree has not; and nothing else of them.
func TestTrackedSettingsAreThere(t *testing.T) {
	w := testgit.Born(t)
	w.Write(".ralph/settings.json", "{}")
	w.Write("sub/.ralph/prompt.md", "x")
	w.Commit("The settings.")
	w.Write(".ralph/demo/journal", "x")
	w.Write("new", "x")
	now, err := keep.FilesNow(t.Context(), w.Dir)
	testfile.Must(t, err)
	made := open(t, filepath.Join(w.Dir, "sub"), now, t.TempDir())
	inside := testgit.Tree{T: t, Dir: made.Root}
	for range 2 {
		if got := inside.Content(".ralph/settings.json") + inside.Content("sub/.ralph/prompt.md") + inside.Content("new"); got != "{}xx" {
			t.Errorf("the files are %q", got)
		}
		if _, err := os.Stat(filepath.Join(made.Root, ".ralph", "demo")); err == nil {
			t.Error("a loop is there")
		}
		if status := inside.Git("status", "--porcelain"); status != "" {
			t.Errorf("not committed: %s", status)
		}
		testfile.Must(t, made.Reset(t.Context(), now))
	}
}

// What a killed process leaves is removed by the next one; a tree in use stays.
func TestNextOneRemovesRemains(t *testing.T) {
	w, home := testgit.Born(t), t.TempDir()
	used := open(t, w.Dir, w.Head(), home)
	left := filepath.Join(home, scratch.Folder, "tree-left")
	testfile.Must(t, os.MkdirAll(filepath.Join(left, "work", "closed"), 0o700))
	testfile.Must(t, os.WriteFile(filepath.Join(left, "work", "closed", "file"), nil, 0o600))
	testfile.Must(t, os.WriteFile(filepath.Join(left, "lock"), nil, 0o600))
	testfile.Must(t, os.Chmod(filepath.Join(left, "work", "closed"), 0o500))
	for _, name := range []string{filepath.Join(left, "lock"), filepath.Join(filepath.Dir(used.Root), "lock")} {
		testfile.Must(t, os.Chtimes(name, long, long))
	}
	open(t, w.Dir, w.Head(), home)
	if _, err := os.Stat(left); err == nil {
		t.Error("what a dead process left is still there")
	}
	if _, err := os.Stat(used.Root); err != nil {
		t.Errorf("a tree in use is gone: %v", err)
	}
}

// The lock of a tree that is being made is free for its process, however many others are opened.
func TestYoungLockIsLeftAlone(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	young := filepath.Join(home, scratch.Folder, "tree-young")
	testfile.Must(t, os.MkdirAll(young, 0o700))
	lock, err := os.Create(filepath.Join(young, "lock"))
	testfile.Must(t, err)
	defer lock.Close()
	var opened atomic.Bool
	go func() {
		defer opened.Store(true)
		for range 200 {
			made, err := scratch.OpenCopy(t.Context(), scratch.Config{Dir: dir, Home: home})
			if err != nil || made.Close() != nil {
				t.Errorf("a tree beside it: %v", err)
				return
			}
		}
	}()
	for !opened.Load() {
		if mine, err := filelock.TryExclusive(lock); !mine || err != nil {
			t.Fatalf("another process has the lock: %v", err)
		}
		testfile.Must(t, filelock.Release(lock))
	}
}

// What runs in a tree cannot have git run a program when the files of another state are written.
func TestResetRunsNoFilter(t *testing.T) {
	w, home, ran := testgit.Born(t), t.TempDir(), filepath.Join(t.TempDir(), "ran")
	w.Write(".gitattributes", "* filter=x\n")
	w.Write("file", "text")
	w.Commit("Attributes.")
	for name, change := range map[string]func(made testgit.Tree){
		"config": func(made testgit.Tree) { made.Git("config", "filter.x.smudge", "touch "+ran+"; cat") },
		"commondir": func(made testgit.Tree) {
			made.Git("init", "--quiet", "--bare", "other")
			made.Git("--git-dir=other", "config", "filter.x.smudge", "touch "+ran+"; cat")
			made.Write(".git/commondir", "../other\n")
		},
		"a repository in its place": func(made testgit.Tree) {
			made.Git("init", "--quiet", "other")
			made.Git("--git-dir=other/.git", "config", "filter.x.smudge", "touch "+ran+"; cat")
			testfile.Must(t, os.Rename(filepath.Join(made.Dir, ".git"), filepath.Join(made.Dir, "old")))
			made.Write(".git", "gitdir: other/.git\n")
		},
	} {
		made := open(t, w.Dir, w.Head(), home)
		change(testgit.Tree{T: t, Dir: made.Root})
		testfile.Must(t, os.Remove(filepath.Join(made.Root, "file")))
		_ = made.Reset(t.Context(), w.Head()) // it may be refused
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("%s: it ran a filter", name)
		}
	}
}

func TestUnknownTreeIsAnError(t *testing.T) {
	w, home := testgit.Born(t), t.TempDir()
	if _, err := scratch.Open(t.Context(), scratch.Config{Dir: w.Dir, Tree: "refs/heads/none", Home: home}); err == nil {
		t.Fatal("no error")
	}
	entries, err := os.ReadDir(filepath.Join(home, scratch.Folder))
	testfile.Must(t, err)
	if len(entries) > 0 {
		t.Errorf("it left %s", entries[0].Name())
	}
}

// A tree of its own has all objects of its files, and of another state of them that no commit
// has, and no way to those of the repository.
func TestOwnObjects(t *testing.T) {
	w, home := testgit.Born(t), t.TempDir()
	w.Write("a", "before the loop, not committed")
	before, err := keep.FilesNow(t.Context(), w.Dir)
	testfile.Must(t, err)
	w.Write("a", "after it")
	w.Commit("The work.")
	made, err := scratch.Open(t.Context(), scratch.Config{Dir: w.Dir, Tree: w.Head(), Home: home, Also: []string{before}})
	testfile.Must(t, err)
	defer made.Close()
	testfile.Must(t, made.Own(t.Context()))
	testfile.Must(t, os.RemoveAll(filepath.Join(w.Dir, ".git")))
	inside := testgit.Tree{T: t, Dir: made.Root}
	inside.Git("fsck", "--full")
	if got := inside.Git("status", "--porcelain"); got != "" {
		t.Errorf("the status is %q", got)
	}
	if got := inside.Git("for-each-ref", "refs/also"); got != "" {
		t.Errorf("the commands find %q", got)
	}
	testfile.Must(t, made.Own(t.Context()))
	testfile.Must(t, made.Reset(t.Context(), before))
	if got := inside.Content("a"); got != "before the loop, not committed" {
		t.Errorf("the other state has %q", got)
	}
}

// A command that a killed process left in its tree ends when the next tree is made, a minute later.
func TestOpenEndsDeadCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process there can be found by its mark")
	}
	w, home := testgit.Born(t), t.TempDir()
	dead := open(t, w.Dir, w.Head(), home)
	testfile.Must(t, dead.Close())
	folder := filepath.Dir(dead.Root)
	testfile.Must(t, os.MkdirAll(folder, 0o700))
	testfile.Must(t, os.WriteFile(filepath.Join(folder, "lock"), nil, 0o600))
	testfile.Must(t, os.Chtimes(filepath.Join(folder, "lock"), long, long))
	orphan := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 >/dev/null 2>&1 &")
	orphan.Env = append(os.Environ(), process.MarkVariable+"="+dead.Mark)
	testfile.Must(t, orphan.Run())

	open(t, w.Dir, w.Head(), home)
	marked, err := process.Marked()
	testfile.Must(t, err)
	if left := marked[dead.Mark]; len(left) > 0 {
		t.Errorf("%v still run", left)
		_, _ = process.Sweep(t.Context(), dead.Mark, 0)
	}
}

// A tree whose repository was broken is never taken for a part of one around ralph's home.
func TestResetStaysInTree(t *testing.T) {
	w := testgit.Born(t)
	made := open(t, w.Dir, w.Head(), w.At("home").Dir)
	w.Write("a", "a person's change")
	w.Write("new", "a person's file")
	now, err := keep.FilesNow(t.Context(), w.Dir)
	testfile.Must(t, err)
	testfile.Must(t, os.Remove(filepath.Join(made.Root, ".git", "HEAD")))
	for _, tree := range []string{w.Head(), now} {
		if err := made.Reset(t.Context(), tree); err == nil {
			t.Error("no error")
		}
	}
	w.Write("b", "")
	if a, added := w.Content("a"), w.Content("new"); a != "a person's change" || added != "a person's file" {
		t.Errorf("the repository around it has %q and %q", a, added)
	}
}

// What ralph has not made there stays.
func TestSweepLeavesOtherFolders(t *testing.T) {
	w, home := testgit.Born(t), t.TempDir()
	other := filepath.Join(home, scratch.Folder, "notes")
	testfile.Must(t, os.MkdirAll(other, 0o700))
	testfile.Must(t, os.Chtimes(other, long, long))
	open(t, w.Dir, w.Head(), home)
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a folder of a person is gone: %v", err)
	}
}
