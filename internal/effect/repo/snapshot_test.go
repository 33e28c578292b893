package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotInEachHashKind(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := unborn(t, "--object-format="+format)
			clean := w.see()
			if diff := cmp.Diff(Snapshot{Branch: clean.Branch, Fingerprint: clean.Fingerprint}, clean); diff != "" || len(clean.Fingerprint) != 64 {
				t.Fatalf("an empty repository (-want +got):\n%s", diff)
			}
			w.Write("a", "one\ntwo\n")
			w.Write("b", "no newline")
			w.Git("add", "a")
			if s := w.see(); !s.Dirty || s.Stat != (Stat{Files: 2, Insertions: 3}) || s.Head != "" {
				t.Fatalf("one file added and one untracked: %+v", s)
			}
			head := w.Commit("begin")
			if s := w.see(); s.Head != head || s.Dirty || s.Fingerprint != clean.Fingerprint || s.Files != 0 {
				t.Fatalf("after the commit: %+v", s)
			}
			w.Write("a", "one\nzwei\ndrei\n")
			w.Remove("b")
			if s := w.see(); s.Stat != (Stat{Files: 2, Insertions: 2, Deletions: 2}) {
				t.Fatalf("a changed and b gone: %+v", s)
			}
			w.Git("checkout", "-q", "--detach")
			if s := w.see(); s.Head != head {
				t.Fatalf("detached: %+v", s)
			}
		})
	}
}

// Each step changes one thing. The fingerprint must differ from all earlier ones, and stay if
// nothing changes.
func TestFingerprintFollowsEveryByte(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("image", "x\x00y")
	w.Commit("with an image")
	seen := map[string]string{}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing yet", func() {}},
		{"a line is changed", func() { w.Write("a", "one\ntwo\nthreE\n") }},
		{"another byte in the same length", func() { w.Write("a", "one\ntwo\nthrEE\n") }},
		{"a byte in a binary file", func() { w.Write("image", "x\x00z") }},
		{"an untracked file", func() { w.Write("new", "1") }},
		{"its only byte is another one", func() { w.Write("new", "2") }},
		{"it is empty", func() { w.Write("new", "") }},
		{"it is moved", func() { w.Git("add", "new"); w.Git("mv", "new", "newer") }},
		{"it can be executed", func() { must(t, os.Chmod(filepath.Join(w.Dir, "newer"), 0o755)) }},
		{"it is a link", func() { w.Remove("newer"); must(t, os.Symlink("a", filepath.Join(w.Dir, "newer"))) }},
		{"the link leads elsewhere", func() { w.Remove("newer"); must(t, os.Symlink("b", filepath.Join(w.Dir, "newer"))) }},
		{"a tracked file is gone", func() { w.Remove("image") }},
		{"a folder is in its place", func() { w.Write("image/file", "x") }},
		{"a file deep in new folders", func() { w.Write("p/q/r/file", "x") }},
		{"a tracked file is moved in the index", func() { w.Git("mv", "a", "moved") }},
		{"names that must be quoted", func() { w.Write("p/ \"quoted\"\n\tünï 'x'", "x") }},
	} {
		step.do()
		first, again := w.see(), w.see()
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%s: two snapshots differ:\n%s", step.name, diff)
		}
		if before, ok := seen[first.Fingerprint]; ok {
			t.Errorf("%s: same fingerprint as when %s", step.name, before)
		}
		if first.Partial {
			t.Errorf("%s: seen in part only", step.name)
		}
		seen[first.Fingerprint] = step.name
	}

	full := w.see().Fingerprint
	w.Git("add", "-A")
	if s := w.see(); s.Fingerprint != full {
		t.Error("adding everything to the index changed the fingerprint")
	}
	w.Git("commit", "-qm", "all")
	if _, ok := seen[w.see().Fingerprint]; !ok {
		t.Error("the fingerprint of a clean tree depends on HEAD")
	}
}

func TestFingerprintCoversHEAD(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "other\n")
	first := w.see()
	w.Git("stash", "-q")
	w.Write("a", "between\n")
	w.Commit("between")
	w.Write("a", "other\n")
	if second := w.see(); second.Fingerprint == first.Fingerprint {
		t.Error("the same file against another HEAD has the same fingerprint")
	}
}

func TestRalphFolderIsLeftOut(t *testing.T) {
	t.Parallel()
	w := born(t)
	clean := w.see()
	w.Write(".ralph/settings.json", "{}")
	w.Write("sub/.ralph/loop/task.md", "x")
	if s := w.see(); s != clean {
		t.Fatalf("untracked: %+v", s)
	}
	w.Git("add", "-A")
	if s := w.see(); s != clean {
		t.Fatalf("added: %+v", s)
	}
	w.Write("b", "x\n")
	w.Git("add", "b")
	if s := w.see(); s.Stat != (Stat{Files: 1, Insertions: 1}) {
		t.Fatalf("its lines are counted: %+v", s)
	}
	w.Write("my.ralph", "x\n")
	if s := w.see(); s.Files != 2 {
		t.Fatalf("a file of a similar name is not seen: %+v", s)
	}
}

func TestIgnoredFilesAreLeftOut(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write(".gitignore", "*.log\nbuild/\n")
	w.Commit("ignore")
	clean := w.see()
	w.Write("x.log", "x")
	w.Write("build/out", "x")
	if s := w.see(); s != clean {
		t.Fatalf("%+v", s)
	}
}

func TestSnapshotChangesNothing(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("new", "x")
	// For a file that only seems changed, git status would write the index.
	must(t, os.Chtimes(filepath.Join(w.Dir, "a"), time.Time{}, time.Unix(1e9, 0)))
	before := w.listing()
	w.see()
	if _, err := Repos(t.Context(), w.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Since(t.Context(), w.Dir, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.listing()); diff != "" {
		t.Errorf("files changed (-before +after):\n%s", diff)
	}
	w.Git("status")
	if cmp.Equal(before, w.listing()) {
		t.Error("git status changes nothing either, so this test proves nothing")
	}
}

func TestSnapshotDuringLockedIndex(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "x")
	w.Write(".git/index.lock", "")
	if s := w.see(); s.Files != 1 {
		t.Fatalf("%+v", s)
	}
}

// listing has the size and time of change of every file, git's own among them.
func (w tree) listing() map[string]string {
	w.T.Helper()
	all := map[string]string{}
	must(w.T, filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
		return err
	}))
	return all
}

func TestSnapshotFromSubfolder(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("config", "diff.relative", "true")
	w.Git("config", "status.relativePaths", "true")
	w.Write("a", "x\n")
	w.Write("sub/b", "x\n")
	if s := w.at("sub").see(); s != w.see() || s.Stat != (Stat{Files: 2, Insertions: 2, Deletions: 3}) {
		t.Fatalf("%+v", s)
	}
}

func TestSnapshotWithoutRepository(t *testing.T) {
	t.Parallel()
	bare := treeIn(t, t.TempDir())
	bare.Git("init", "-q", "--bare")
	for name, dir := range map[string]string{"a plain folder": t.TempDir(), "a bare repository": bare.Dir, "git's own folder": filepath.Join(born(t).Dir, ".git")} {
		if _, err := TakeSnapshot(t.Context(), dir); !errors.Is(err, ErrNoRepository) || !Absent(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Since(t.Context(), dir, ""); !Absent(err) {
			t.Errorf("since in %s: %v", name, err)
		}
		if _, err := Run(t.Context(), Config{Dir: dir, Command: "git", Tasks: []string{"commit"}, Message: "x"}); !Absent(err) {
			t.Errorf("commit in %s: %v", name, err)
		}
	}
	if _, err := TakeSnapshot(t.Context(), filepath.Join(bare.Dir, "missing")); !errors.Is(err, fs.ErrNotExist) || Absent(err) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// seeming is a folder for which git would have to be asked whether it is a repository: without an
// entry .git it is not asked.
func seeming(t *testing.T) string {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	return dir
}

func TestFolderWithoutDotGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // there is no git to ask
	if _, err := TakeSnapshot(t.Context(), t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := TakeSnapshot(t.Context(), seeming(t)); !errors.Is(err, ErrNoGit) || !Absent(err) {
		t.Errorf("see: %v", err)
	}
	_, err := Run(t.Context(), Config{Dir: seeming(t), Command: "git", Tasks: []string{"commit"}, Message: "x"})
	if !errors.Is(err, ErrNoGit) {
		t.Errorf("commit: %v", err)
	}
	_, err = Run(t.Context(), Config{Dir: seeming(t), Command: "git", Tasks: []string{"fetch"}})
	if !errors.Is(err, ErrNoGit) {
		t.Errorf("fetch: %v", err)
	}
}

func TestMacPlaceholder(t *testing.T) {
	path := t.TempDir()
	must(t, os.WriteFile(filepath.Join(path, "git"), []byte("#!/bin/sh\necho 'xcrun: error: invalid active developer path' >&2\nexit 1\n"), 0o755))
	t.Setenv("PATH", path)
	if _, err := TakeSnapshot(t.Context(), seeming(t)); !errors.Is(err, ErrNoGit) {
		t.Error(err)
	}
}

func TestAnswersInAnotherLanguage(t *testing.T) {
	path := t.TempDir()
	script := "#!/bin/sh\n[ \"$LC_ALL\" = C ] && echo 'fatal: not a git repository (or any of the parent directories): .git' >&2\nexit 128\n"
	must(t, os.WriteFile(filepath.Join(path, "git"), []byte(script), 0o755))
	t.Setenv("PATH", path)
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	if _, err := TakeSnapshot(t.Context(), seeming(t)); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
}

func TestRepositoryInEnvironmentIsIgnored(t *testing.T) {
	other := born(t)
	w := born(t)
	w.Write("new", "x")
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.Dir, ".git", "index"))
	t.Setenv("GIT_LITERAL_PATHSPECS", "1")
	if s := w.see(); s.Files != 1 {
		t.Fatalf("%+v", s)
	}
	if r, err := w.run(Config{AddUntracked: true, Message: "x"}); err != nil || !r.Committed || r.Stat.Files != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestSnapshotIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := TakeSnapshot(ctx, born(t).Dir); !errors.Is(err, why) {
		t.Fatal(err)
	}
}

func TestLargeFileFingerprint(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("big", "12345")
	w.Write("small", "1234")
	see := func(b budget) Snapshot {
		t.Helper()
		s, err := Inspector{Git: In(w.Dir), budget: &b}.snapshot(t.Context())
		must(t, err)
		return s
	}
	byFile := see(budget{file: 4, bytes: 100})
	if !byFile.Partial || byFile.Insertions != 1 {
		t.Fatalf("%+v", byFile)
	}
	if again := see(budget{file: 4, bytes: 100}); again != byFile {
		t.Fatal("not stable")
	}
	if s := see(budget{file: 5, bytes: 9}); s.Partial || s.Insertions != 2 {
		t.Fatalf("what just fits: %+v", s)
	}
	if s := see(budget{file: 5, bytes: 8}); !s.Partial {
		t.Fatalf("one byte too many: %+v", s)
	}
	must(t, os.Chtimes(filepath.Join(w.Dir, "big"), time.Time{}, time.Unix(1e9, 0)))
	if s := see(budget{file: 4, bytes: 100}); s.Fingerprint == byFile.Fingerprint {
		t.Error("another time of change, the same fingerprint")
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	w := born(t)
	w.Write("closed", "x")
	must(t, os.Chmod(filepath.Join(w.Dir, "closed"), 0))
	if s := w.see(); !s.Partial || s.Files != 1 {
		t.Fatalf("%+v", s)
	}
}

func TestLinkInPlaceOfFolder(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("sub/file", "x\n")
	w.Commit("sub")
	outside := t.TempDir()
	w.Remove("sub")
	must(t, os.Symlink(outside, filepath.Join(w.Dir, "sub")))
	first := w.see()
	if first.Partial || first.Files != 2 {
		t.Fatalf("%+v", first)
	}
	must(t, os.WriteFile(filepath.Join(outside, "file"), []byte("y"), 0o644))
	if w.see() != first {
		t.Error("a file outside was read")
	}
}

func TestSubmodulesAndRepositoriesInside(t *testing.T) {
	t.Parallel()
	w := born(t)
	lib := born(t)
	w.Git("submodule", "--quiet", "add", lib.Dir, "lib")
	w.Commit("with lib")
	seen := map[string]string{w.see().Fingerprint: "all was clean"}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a file in the submodule is changed", func() { w.Write("lib/a", "1") }},
		{"and changed again", func() { w.Write("lib/a", "2") }},
		{"the submodule has a commit", func() { w.at("lib").Commit("in lib") }},
		{"a repository without commits inside", func() { w.Write("inner/file", "1"); w.at("inner").Git("init", "-q") }},
		{"a file in it is changed", func() { w.Write("inner/file", "2") }},
		{"it has a commit", func() { w.at("inner").Commit("in inner") }},
	} {
		step.do()
		s := w.see()
		if before, ok := seen[s.Fingerprint]; ok || s.Partial || w.see() != s {
			t.Errorf("%s: partial %t, perhaps the same fingerprint as when %q", step.name, s.Partial, before)
		}
		seen[s.Fingerprint] = step.name
	}

	roots, err := Repos(t.Context(), w.Dir)
	if diff := cmp.Diff([]string{w.Dir, filepath.Join(w.Dir, "inner"), filepath.Join(w.Dir, "lib")}, roots); diff != "" || err != nil {
		t.Errorf("repos: %v\n%s", err, diff)
	}

	// A submodule that has not been fetched is no repository.
	w.Git("config", "--file", ".git/modules-with-ghost", "submodule.ghost.path", "ghost")
	must(t, os.Mkdir(filepath.Join(w.Dir, "ghost"), 0o755))
	modules := readFile(t, filepath.Join(w.Dir, ".gitmodules"))
	w.Write(".gitmodules", modules+readFile(t, filepath.Join(w.Dir, ".git/modules-with-ghost")))
	if again, err := Repos(t.Context(), w.Dir); !cmp.Equal(again, roots) || err != nil {
		t.Errorf("with a submodule that is not there: %q, %v", again, err)
	}
	w.Write(".gitmodules", modules)

	// git would record inner as a submodule that cannot be cloned.
	r, err := w.run(Config{AddUntracked: true, Message: "Take it along"})
	if err != nil || !cmp.Equal(r.Left, []string{"inner/"}) || r.Stat.Files != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if files := w.Git("show", "--name-only", "--format="); files != "lib" {
		t.Errorf("committed: %q", files)
	}
	if r, err := w.run(Config{AddUntracked: true, Message: "Once more"}); err != nil || !r.Nothing {
		t.Fatalf("with inner alone there is nothing to commit: %+v, %v", r, err)
	}
}

func TestSubmoduleWithoutItsRepository(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("submodule", "--quiet", "add", born(t).Dir, "lib")
	w.Remove("lib/.git")
	// Only the repository around it would answer here.
	if s := w.see(); s.Files != 2 || s.Partial {
		t.Fatalf("%+v", s)
	}
}

func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("worktree", "add", "-q", "-b", "side", "deep/er/than/the/walk/goes")
	w.Git("worktree", "add", "-q", "-b", "own", ".ralph/loop/worktree")
	side := w.at("deep/er/than/the/walk/goes")
	side.Write("new", "x\n")
	if s := side.see(); s.Head != w.Head() || s.Files != 1 {
		t.Fatalf("%+v", s)
	}
	// A worktree of ralph's own is in .ralph, but nothing in it is.
	if s := w.at(".ralph/loop/worktree").see(); s.Head != w.Head() || s.Dirty {
		t.Fatalf("%+v", s)
	}
	w.Write(".ralph/loop/worktree/new", "x")
	if s := w.at(".ralph/loop/worktree").see(); s.Files != 1 {
		t.Fatalf("%+v", s)
	}
	roots, err := Repos(t.Context(), w.Dir)
	if diff := cmp.Diff([]string{w.Dir, side.Dir}, roots); diff != "" || err != nil {
		t.Errorf("repos: %v\n%s", err, diff)
	}
	r, err := side.run(Config{AddUntracked: true, Message: "On the side"})
	if err != nil || r.SHA != side.Head() || r.SHA == w.Head() {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestReposWithoutOuterRepository(t *testing.T) {
	t.Parallel()
	top := treeIn(t, resolved(t, t.TempDir()))
	for _, name := range []string{"one", "two/b", "x/y/z", "x/y/z/deeper", "node_modules/n", ".ralph/r"} {
		top.Write(name+"/file", "")
		top.at(name).Git("init", "-q")
	}
	top.Write("fake/.git", "nothing of the kind")
	top.Write("fake2/.git/config", "")
	must(t, os.Symlink("one", filepath.Join(top.Dir, "link")))
	roots, err := Repos(t.Context(), top.Dir)
	want := []string{filepath.Join(top.Dir, "one"), filepath.Join(top.Dir, "two/b"), filepath.Join(top.Dir, "x/y/z")}
	if diff := cmp.Diff(want, roots); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := Repos(t.Context(), t.TempDir()); !Absent(err) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestOperationsInProgress(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string][]string{
		"merge": {"merge", "other"}, "rebase": {"rebase", "other"}, "cherry-pick": {"cherry-pick", "other"}, "revert": {"revert", "HEAD~1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := conflicting(t)
			if out, err := w.Try(begin...); err == nil {
				t.Fatalf("no conflict: %s", out)
			}
			if s := w.see(); !s.Dirty {
				t.Fatalf("%+v", s)
			}
			head := w.Head()
			before := w.Git("status", "--porcelain")
			_, err := w.run(Config{AddUntracked: true, Message: "x"})
			e, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, ErrUnfinished) || !strings.Contains(e.Hint(), "git "+name+" --abort") {
				t.Fatalf("%v", err)
			}
			if w.Head() != head || w.Git("status", "--porcelain") != before {
				t.Error("the refused commit changed something")
			}
			w.Git(name, "--abort")
			if s := w.see(); s.Dirty {
				t.Fatalf("after the abort: %+v", s)
			}
		})
	}
}

// conflicting has a branch "other" that changes the same line, and two commits of its own on that
// line.
func conflicting(t *testing.T) tree {
	t.Helper()
	w := born(t)
	w.Git("checkout", "-q", "-b", "other")
	w.Write("a", "theirs\n")
	w.Commit("theirs")
	w.Git("checkout", "-q", "main")
	w.Write("a", "ours\n")
	w.Commit("ours")
	w.Write("a", "ours again\n")
	w.Commit("ours again")
	return w
}

func TestWorkTree(t *testing.T) {
	root := resolved(t, t.TempDir())
	for _, dir := range []string{"repo/.git", "repo/web/src", "plain/sub", "linked"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(root, "linked", ".git"), []byte("gitdir: elsewhere\n"), 0o644)) // as git worktree leaves it
	must(t, os.Symlink(filepath.Join(root, "repo", "web"), filepath.Join(root, "plain", "way")))
	for dir, want := range map[string]string{
		"repo": "repo", "repo/web": "repo", "repo/web/src": "repo", "linked": "linked",
		"plain": "plain", "plain/sub": "plain/sub", "plain/way/src": "repo",
	} {
		if got, err := WorkTree(filepath.Join(root, dir)); err != nil || got != filepath.Join(root, want) {
			t.Errorf("%s: %s, %v", dir, got, err)
		}
	}
	if _, err := WorkTree(filepath.Join(root, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}
