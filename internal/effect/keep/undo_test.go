package keep

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

const (
	beforeRef = "refs/ralph/demo/review-3-before"
	foundRef  = "refs/ralph/demo/review-3"
)

// keep keeps the tree as it is.
func (w tree) keep() *Base {
	w.T.Helper()
	b, err := WorkTree(w.T.Context(), w.Dir, beforeRef)
	if err != nil {
		w.T.Fatal(err)
	}
	return b
}

// undo allows what a reviewer may change.
func (w tree) undo(b *Base) (Undone, error) {
	w.T.Helper()
	return b.Undo(w.T.Context(), Undo{
		Ref: foundRef, Message: "Undo what a reviewer changed\n\nkept in %s", lockWait: 25 * time.Millisecond,
		Allowed: func(path string) bool { return path == "ralph/tasks.json" || path == "ralph/progress.txt" },
	})
}

// must undo everything.
func (w tree) mustUndo(b *Base) Undone {
	w.T.Helper()
	u, err := w.undo(b)
	if err != nil {
		w.T.Fatal(err)
	}
	return u
}

// files returns everything on the disk outside of .git: contents, links and whether it is a
// program.
func (w tree) files() map[string]string {
	w.T.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(w.Dir, path)
		name = filepath.ToSlash(name)
		switch {
		case d.Name() == ".git":
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			found[name] = "-> " + target
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			info, _ := d.Info()
			if err != nil {
				return err
			}
			found[name] = string(text)
			if info.Mode()&0o100 != 0 {
				found[name] = "* " + string(text)
			}
		case !d.IsDir():
			found[name] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}

// status is what git says of the tree, with the index.
func (w tree) status() string {
	w.T.Helper()
	return w.Git("status", "--porcelain=v1", "--untracked-files=all", "--ignore-submodules=none")
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %.60q, want %.60q", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there, with %.60q", what, name, got[name])
		}
	}
}

// busy is a tree with all kinds of files: committed, changed, added, untracked and ignored.
func busy(t *testing.T, flags ...string) tree {
	t.Helper()
	return tree{testgit.Copied(t, "busy", flags, func(w testgit.Tree) {
		w.Git(append([]string{"init", "-q"}, flags...)...)
		w.Write("a", "one\ntwo\nthree\n")
		w.Commit("begin")
		w.Write(".gitignore", "*.log\nbuild/\n")
		w.Write("src/b.go", "package b\n")
		w.Write("src/c.go", "package c\n")
		w.Write("ralph/tasks.json", "{}\n")
		w.Write("ralph/progress.txt", "# progress\n")
		w.Write("run.sh", "#!/bin/sh\n")
		must(w.T, os.Chmod(filepath.Join(w.Dir, "run.sh"), 0o755))
		w.Commit("files")
		w.Write("src/b.go", "package b // changed by a person\n")
		w.Write("src/staged.go", "package b // added\n")
		w.Git("add", "src/staged.go")
		w.Write("notes.txt", "untracked\n")
		w.Write("build/out", "ignored\n")
		w.Write("a.log", "ignored\n")
		w.Write(".ralph/x", "ralph's\n")
	})}
}

// An edit is what a reviewer did.
type edit struct {
	do      func(w tree)
	files   []string
	commits int
}

var edits = map[string]edit{
	"files": {func(w tree) {
		w.Write("a", "edited\n")
		w.Write("src/b.go", "edited\n") // which was dirty
		w.Remove("notes.txt")
		w.Write("new/deep/x.go", "package x\n")
		w.Write("-odd \"name\" ä", "x\n")
	}, []string{"-odd \"name\" ä", "a", "new/deep/x.go", "notes.txt", "src/b.go"}, 0},
	"removed files": {func(w tree) { w.Remove("src") }, []string{"src/b.go", "src/c.go", "src/staged.go"}, 0},
	"the index": {func(w tree) {
		w.Write("x.go", "package x\n")
		w.Write("a", "edited\n")
		w.Git("add", "x.go", "a")
		w.Git("reset", "-q", "src/staged.go")
		w.Git("rm", "-q", "--cached", "src/c.go")
		w.Git("checkout", "-q", "--", "src/b.go") // which was dirty
	}, []string{"a", "src/b.go", "src/c.go", "src/staged.go", "x.go"}, 0},
	"commits": {func(w tree) {
		w.Write("src/c.go", "edited\n")
		w.Git("mv", "a", "z")
		w.Git("commit", "-qm", "one", "src/c.go", "a", "z")
		w.Write("x.go", "package x\n")
		w.Git("add", "x.go")
		w.Git("commit", "-qm", "two", "x.go")
		w.Write("x.go", "package x // again\n")
	}, []string{"a", "src/c.go", "x.go", "z"}, 2},
	"a folder where a file was": {func(w tree) {
		w.Remove("a")
		w.Write("a/inner", "x\n")
	}, []string{"a", "a/inner"}, 0},
	"a file where a folder was": {func(w tree) {
		w.Remove("src")
		w.Write("src", "x\n")
		w.Git("add", "-A", "src")
		w.Git("commit", "-qm", "flat", "src")
	}, []string{"src", "src/b.go", "src/c.go", "src/staged.go"}, 1},
	"a stash": {func(w tree) { w.Git("stash", "-q") }, []string{"src/b.go", "src/staged.go"}, 0},
	"rules that hide": {func(w tree) {
		w.Write(".gitignore", "*.log\nbuild/\nhidden/\n")
		w.Write("hidden/x", "x\n")
	}, []string{".gitignore", "hidden/x"}, 0},
	"rules that show": {func(w tree) { w.Write(".gitignore", "") }, []string{".gitignore"}, 0},
}

// Whatever a reviewer does to files, index and HEAD, all is as before, and the ref has what was
// found.
func TestUndoPutsEverythingBack(t *testing.T) {
	t.Parallel()
	cases := maps.Clone(edits)
	if runtime.GOOS != "windows" {
		cases["links and modes"] = edit{func(w tree) {
			w.Remove("a")
			must(t, os.Symlink("src", filepath.Join(w.Dir, "a")))
			w.Remove("src")
			must(t, os.Symlink("/", filepath.Join(w.Dir, "src")))
			must(t, os.Chmod(filepath.Join(w.Dir, "run.sh"), 0o644))
			w.Write("two\nlines", "x\n")
		}, []string{"a", "run.sh", "src", "src/b.go", "src/c.go", "src/staged.go", "two\nlines"}, 0}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if name != "commits" && name != "the index" && name != "links and modes" {
				leaveToLong(t)
			}
			t.Parallel()
			w := busy(t)
			files, status, head := w.files(), w.status(), w.Head()
			base := w.keep()
			c.do(w)
			w.Write("ralph/tasks.json", `{"project": "x"}`+"\n")
			edited := w.files()
			u := w.mustUndo(base)

			files["ralph/tasks.json"] = edited["ralph/tasks.json"]
			same(t, "the files", w.files(), files)
			got := strings.Replace(w.status(), " M ralph/tasks.json\n", "", 1)
			if got != status {
				t.Errorf("the status is\n%s\nwant\n%s", got, status)
			}
			if !slices.Equal(u.Files, c.files) || u.Commits != c.commits || u.Ref != foundRef || (u.Commit != "") != (c.commits > 0) {
				t.Errorf("%+v, want %q in %d commits", u, c.files, c.commits)
			}
			if diff := w.Git("diff", "--name-only", head, "HEAD"); diff != "" {
				t.Errorf("HEAD differs from before in %q", diff)
			}
			if w.Git("merge-base", head, "HEAD") != head {
				t.Error("the history was rewritten")
			}
			w.sameAsFound(edited, files)
		})
	}
}

// sameAsFound compares the ref with the files as they were found. Ignored files are not in it.
func (w tree) sameAsFound(edited, before map[string]string) {
	w.T.Helper()
	found, base := w.blobs(foundRef), w.blobs(beforeRef)
	for name, want := range edited {
		if strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "build/") || strings.HasPrefix(name, ".ralph/") {
			continue
		}
		want = strings.TrimPrefix(strings.TrimPrefix(want, "* "), "-> ")
		if got, ok := found[name]; !ok || got != want {
			w.T.Errorf("the ref has %q as %q (%v), want %q", name, got, ok, want)
		}
	}
	for name, want := range before {
		if got := base[name]; strings.HasPrefix(name, "src/") && got != want {
			w.T.Errorf("the base has %q as %q", name, got)
		}
	}
}

// blobs returns the contents of a commit, read by one git.
func (w tree) blobs(ref string) map[string]string {
	w.T.Helper()
	blobs := map[string]string{}
	r := tar.NewReader(strings.NewReader(w.Git("archive", "--format=tar", ref)))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return blobs
		}
		must(w.T, err)
		text, err := io.ReadAll(r)
		must(w.T, err)
		switch h.Typeflag {
		case tar.TypeReg:
			blobs[h.Name] = string(text)
		case tar.TypeSymlink:
			blobs[h.Name] = h.Linkname
		}
	}
}

// Nothing is done to allowed files, also if they were committed, nor where nothing was changed.
func TestUndoLeavesAllowedFiles(t *testing.T) {
	t.Parallel()
	w := busy(t)
	base := w.keep()
	w.Write("ralph/tasks.json", "{\"reviewed\": true}\n")
	w.Write("ralph/progress.txt", "# progress\nreviewed\n")
	w.Git("commit", "-qm", "review: approved", "ralph")
	w.Write("other.log", "ignored\n")
	w.Write("src/.ralph/y", "ralph's\n")
	head, files := w.Head(), w.files()
	u := w.mustUndo(base)
	if len(u.Files) > 0 || u.Ref != "" || u.Commit != "" || w.Head() != head {
		t.Errorf("%+v", u)
	}
	same(t, "the files", w.files(), files)
	if refs := w.Git("for-each-ref", "--format=%(refname)", "refs/ralph"); refs != beforeRef {
		t.Errorf("refs %q", refs)
	}
	must(t, base.Drop(t.Context()))
	if refs := w.Git("for-each-ref", "refs/ralph"); refs != "" {
		t.Errorf("refs %q", refs)
	}
}

// What was only committed as it was is no change of a reviewer's.
func TestUndoKeepsCommittedWork(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w := busy(t)
	base := w.keep()
	w.Commit("everything")
	head, files := w.Head(), w.files()
	u := w.mustUndo(base)
	if len(u.Files) > 0 || w.Head() != head {
		t.Errorf("%+v", u)
	}
	same(t, "the files", w.files(), files)
}

// Of a commit with allowed and other files, only the others are restored.
func TestUndoSplitsCommits(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := busy(t, "--object-format="+format)
			base := w.keep()
			w.Write("ralph/tasks.json", "{\"reviewed\": true}\n")
			w.Write("a", "edited\n")
			w.Write("x", "new\n")
			w.Git("add", "x")
			w.Git("commit", "-qm", "review", "a", "x", "ralph")
			reviewed := w.Head()
			u := w.mustUndo(base)
			if !slices.Equal(u.Files, []string{"a", "x"}) || u.Commits != 1 || u.Commit != w.Head() {
				t.Fatalf("%+v", u)
			}
			if parent := w.Git("rev-parse", "HEAD^"); parent != reviewed {
				t.Errorf("the parent is %s", parent)
			}
			if got := w.Git("show", "HEAD:ralph/tasks.json"); got != `{"reviewed": true}` {
				t.Errorf("tasks.json is %q", got)
			}
			if got := w.Git("log", "-1", "--format=%B|%an"); got != "Undo what a reviewer changed\n\nkept in "+foundRef+"\n|Ada" {
				t.Errorf("the message is %q", got)
			}
		})
	}
}

// The index, the stash and the settings of the person are not touched by keeping.
func TestKeepChangesNothing(t *testing.T) {
	t.Parallel()
	w := busy(t)
	w.Git("stash", "-q", "-u")
	w.Git("stash", "apply", "-q", "--index")
	index, err := os.ReadFile(filepath.Join(w.Dir, ".git/index"))
	must(t, err)
	files, stash := w.files(), w.Git("stash", "list")
	base := w.keep()
	w.Write("a", "edited\n")
	w.mustUndo(base)
	after, err := os.ReadFile(filepath.Join(w.Dir, ".git/index"))
	must(t, err)
	if string(after) != string(index) {
		t.Error("the index was written")
	}
	same(t, "the files", w.files(), files)
	if got := w.Git("stash", "list"); got != stash || stash == "" {
		t.Errorf("the stash is %q, was %q", got, stash)
	}
}

func TestUndoRefusesWhenInDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(w tree)
		want error
	}{
		"another branch": {func(w tree) {
			w.Git("checkout", "-q", "-b", "other")
			w.Write("a", "edited\n")
		}, ErrOtherBranch},
		"a detached HEAD": {func(w tree) { w.Git("checkout", "-q", "--detach") }, ErrOtherBranch},
		"an amended commit": {func(w tree) {
			w.Write("a", "edited\n")
			w.Git("commit", "-q", "--amend", "-m", "amended", "a")
		}, ErrRewritten},
		"a reset": {func(w tree) { w.Git("reset", "-q", "--hard", "HEAD~1") }, ErrRewritten},
		"a merge that waits": {func(w tree) {
			w.Git("update-ref", "MERGE_HEAD", "HEAD")
			w.Write("a", "edited\n")
		}, repo.ErrUnfinished},
		"a locked index": {func(w tree) {
			w.Write("a", "edited\n")
			w.Write(".git/index.lock", "")
		}, repo.ErrLocked},
		"no repository any more": {func(w tree) { w.Remove(".git") }, repo.ErrNoRepository},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "another branch" && name != "an amended commit" {
				leaveToLong(t)
			}
			t.Parallel()
			w := busy(t)
			base := w.keep()
			c.edit(w)
			files := w.files()
			u, err := w.undo(base)
			if !errors.Is(err, c.want) || u.Ref != "" || u.Commit != "" {
				t.Errorf("%+v, %v; want %v", u, err, c.want)
			}
			same(t, "the files", w.files(), files)
		})
	}
}

func TestKeepRefusesUnfinishedWork(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w := born(t)
	w.Git("checkout", "-q", "-b", "other")
	w.Write("a", "theirs\n")
	w.Commit("theirs")
	w.Git("checkout", "-q", "main")
	w.Write("a", "ours\n")
	w.Commit("ours")
	if _, err := w.Try("merge", "other"); err == nil {
		t.Fatal("no conflict")
	}
	if _, err := WorkTree(t.Context(), w.Dir, beforeRef); !errors.Is(err, repo.ErrUnfinished) {
		t.Errorf("%v", err)
	}
	w.Remove(".git/MERGE_HEAD")
	if _, err := WorkTree(t.Context(), w.Dir, beforeRef); !errors.Is(err, repo.ErrUnmerged) {
		t.Errorf("%v", err)
	}
	if _, err := WorkTree(t.Context(), t.TempDir(), beforeRef); !repo.Absent(err) {
		t.Errorf("%v", err)
	}
}

// A file that was ignored is not removed, although the reviewer has committed it.
func TestUndoNeverRemovesIgnoredFiles(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w := busy(t)
	base := w.keep()
	w.Git("add", "-f", "a.log")
	w.Git("commit", "-qm", "with a log", "a.log")
	w.Write(".git/info/exclude", "*.tmp\n")
	w.Write("new", "x\n")
	u, err := w.undo(base)
	left, ok := errors.AsType[*SkippedError](err)
	if !ok || len(left.Files) != 1 || left.Files[0].Path != "new" {
		t.Fatalf("%+v, %v", u, err)
	}
	files := w.files()
	if files["a.log"] != "ignored\n" || files["new"] != "x\n" {
		t.Errorf("%v", files)
	}
	if w.Git("ls-files", "a.log") != "" || w.Git("ls-tree", "HEAD", "a.log") != "" {
		t.Error("the log is still in git")
	}
}

func TestUndoInUnusualRepositories(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	t.Run("unborn", func(t *testing.T) {
		t.Parallel()
		w := unborn(t)
		w.Write("a", "one\n")
		w.Write("b", "two\n")
		w.Git("add", "b")
		base := w.keep()
		w.Write("a", "edited\n")
		w.Commit("first")
		w.mustUndo(base)
		same(t, "the files", w.files(), map[string]string{"a": "one\n", "b": "two\n"})
	})
	t.Run("detached", func(t *testing.T) {
		t.Parallel()
		w := born(t)
		main := w.Head()
		w.Git("checkout", "-q", "--detach")
		base := w.keep()
		w.Write("a", "edited\n")
		w.Commit("review")
		if u := w.mustUndo(base); u.Commits != 1 || w.Git("rev-parse", "main") != main || w.Git("diff", "main", "HEAD") != "" {
			t.Errorf("%+v", u)
		}
	})
	t.Run("worktree", func(t *testing.T) {
		t.Parallel()
		w := born(t)
		w.Git("worktree", "add", "-q", filepath.Join(filepath.Dir(w.Dir), "linked"))
		linked := w.at("../linked")
		linked.Write("dirty", "x\n")
		base := linked.keep()
		linked.Write("dirty", "edited\n")
		linked.Write("a", "edited\n")
		linked.Commit("review")
		linked.mustUndo(base)
		same(t, "the files", linked.files(), map[string]string{"a": "one\ntwo\nthree\n", "dirty": "x\n"})
		if w.status() != "" {
			t.Error("the other work tree changed")
		}
	})
	t.Run("a folder of the repository", func(t *testing.T) {
		t.Parallel()
		w := busy(t)
		base := w.at("src").keep()
		w.Write("a", "edited\n")
		if u := w.at("src").mustUndo(base); !slices.Equal(u.Files, []string{"a"}) {
			t.Errorf("%+v", u)
		}
	})
	t.Run("no identity", func(t *testing.T) {
		t.Parallel()
		w := born(t)
		base := w.keep()
		w.Write("a", "edited\n")
		w.Commit("review")
		base.env = slices.DeleteFunc(os.Environ(), func(e string) bool {
			return strings.HasPrefix(e, "GIT_AUTHOR") || strings.HasPrefix(e, "GIT_COMMITTER")
		})
		base.env = repo.In(w.Dir, base.env...).Configured([][2]string{{"user.useConfigOnly", "true"}}).Env
		w.mustUndo(base)
		if got := w.Git("log", "-1", "--format=%an"); got != "ralph" {
			t.Errorf("the author is %q", got)
		}
	})
	t.Run("line ends", func(t *testing.T) {
		t.Parallel()
		w := unborn(t)
		w.Git("config", "core.autocrlf", "true")
		w.Write("a", "one\r\ntwo\r\n")
		w.Commit("first")
		if w.Git("cat-file", "blob", "HEAD:a") != "one\ntwo" {
			t.Fatal("git did not convert")
		}
		base := w.keep()
		w.Write("a", "one\nother\n")
		w.Commit("review")
		w.mustUndo(base)
		same(t, "the files", w.files(), map[string]string{"a": "one\r\ntwo\r\n"})
		if w.status() != "" {
			t.Errorf("%s", w.status())
		}
	})
}

// Repositories inside, and large files, are reported and left.
func TestUndoReportsWhatItLeaves(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	inner := born(t)
	w := born(t)
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "module")
	w.Commit("with a submodule")
	nested := treeIn(t, filepath.Join(w.Dir, "nested"))
	must(t, os.Mkdir(nested.Dir, 0o755))
	nested.Git("init", "-q")
	nested.Write("n", "x\n")
	nested.Commit("nested")
	large := filepath.Join(w.Dir, "large.bin")
	w.Write("large.bin", "")
	must(t, os.Truncate(large, maxKept+1))
	base := w.keep()
	w.Write("a", "edited\n")
	w.at("module").Write("a", "edited\n")
	nested.Write("n", "edited\n")
	must(t, os.Truncate(large, maxKept+2))
	w.Write("larger.bin", "")
	must(t, os.Truncate(filepath.Join(w.Dir, "larger.bin"), maxKept+3))
	u, err := w.undo(base)
	left, ok := errors.AsType[*SkippedError](err)
	if !ok {
		t.Fatalf("%+v, %v", u, err)
	}
	var names []string
	for _, f := range left.Files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	if want := []string{"large.bin", "larger.bin", "module", "nested"}; !slices.Equal(names, want) {
		t.Errorf("left %q, want %q", names, want)
	}
	for _, part := range []string{"module (it is a repository of its own)", "large.bin (it was too large to be kept)"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
	if got := w.files()["a"]; got != "one\ntwo\nthree\n" {
		t.Errorf("a is %q", got)
	}
}

// A second review of the same number, after a crash, has a ref of its own.
func TestUndoTakesAnotherRef(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w := born(t)
	base := w.keep()
	w.Git("update-ref", foundRef, "HEAD")
	w.Write("a", "edited\n")
	if u := w.mustUndo(base); u.Ref != foundRef+"-2" {
		t.Errorf("%+v", u)
	}
	if _, err := WorkTree(t.Context(), w.Dir, beforeRef); err == nil {
		t.Error("the base was replaced")
	}
}
