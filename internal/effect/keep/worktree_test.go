package keep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// worktree makes a linked work tree on a new branch.
func (w tree) worktree(branch string) tree {
	w.T.Helper()
	path := filepath.Join(w.T.TempDir(), "worktree")
	base, err := repo.BranchBase(w.T.Context(), w.Dir, branch)
	must(w.T, err)
	must(w.T, repo.AddWorktree(w.T.Context(), w.Dir, path, branch, base, !repo.HasBranch(w.T.Context(), w.Dir, branch)))
	return treeIn(w.T, path)
}

// TestWorktreeRunsNoProgram makes, inspects, merges and removes a worktree in a repository that
// names programs.
func TestWorktreeRunsNoProgram(t *testing.T) {
	w := born(t)
	w.Write("a", strings.Repeat("line\n", 20))
	w.Git("add", "a")
	w.Git("commit", "-qm", "a")
	side := w.worktree("side")
	w.Write("a", "ours\n"+strings.Repeat("line\n", 20))
	side.Write("a", strings.Repeat("line\n", 20)+"theirs\n")
	w.Git("commit", "-qam", "ours")
	side.Git("commit", "-qam", "theirs")
	mark := w.Programs()
	work, err := repo.InspectWork(t.Context(), side.Dir)
	must(t, err)
	if work.Branch != "side" || work.Unmerged != 1 || work.Changes != 0 {
		t.Errorf("%+v", work)
	}
	m, err := repo.PlanMerge(t.Context(), w.Dir, "refs/heads/side", repo.MergeAuto, "both")
	must(t, err)
	if got := w.Git("show", m.Result+":a"); m.FF || !strings.HasPrefix(got, "ours\n") || !strings.HasSuffix(got, "theirs") {
		t.Errorf("%+v: %q", m, got)
	}
	must(t, DropWorktree(t.Context(), w.Dir, side.Dir))
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// TestWorktreeWithoutContent shows what a worktree has of a submodule, of a sparse checkout and of
// a file with a filter.
func TestWorktreeWithoutContent(t *testing.T) {
	w := born(t)
	inner := born(t)
	inner.Write("inner", "inner")
	inner.Git("add", "inner")
	inner.Git("commit", "-qm", "inner")
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "sub")
	w.Write("in/a", "a")
	w.Write("out/b", "b")
	w.Write("big.bin", "pointer")
	w.Git("add", ".")
	w.Git("commit", "-qm", "all")
	w.Git("sparse-checkout", "set", "in")
	w.Write(".gitattributes", "*.bin filter=lfs\n")
	w.Git("add", ".gitattributes")
	w.Git("commit", "-qm", "filter")
	w.Git("config", "filter.lfs.smudge", "false")
	w.Git("config", "filter.lfs.required", "true")
	side := w.worktree("side")
	if got := side.Content("big.bin"); got != "pointer" {
		t.Errorf("the file with a filter has %q", got)
	}
	for name, want := range map[string]bool{"in/a": true, "out/b": false, "sub/inner": false} {
		if _, err := os.Stat(filepath.Join(side.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	side.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	must(t, DropWorktree(t.Context(), w.Dir, side.Dir))
	if _, err := os.Stat(side.Dir); err == nil {
		t.Error("the worktree is still there")
	}
}

// TestMergeKeepsChanges merges while the person has changed files.
func TestMergeKeepsChanges(t *testing.T) {
	w := born(t)
	w.Write("a", "a")
	w.Write("b", "b")
	w.Git("add", ".")
	w.Git("commit", "-qm", "ab")
	side := w.worktree("side")
	side.Write("a", "theirs")
	side.Git("commit", "-qam", "theirs")
	w.Write("b", "mine")
	m, err := repo.PlanMerge(t.Context(), w.Dir, "refs/heads/side", repo.MergeFF, "")
	must(t, err)
	head := w.Head()
	w.Write("a", "mine too")
	if err := Merge(t.Context(), w.Dir, m); !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), ": a") {
		t.Errorf("over a changed file: %v", err)
	}
	if w.Head() != head || w.Content("a") != "mine too" {
		t.Error("something was changed")
	}
	w.Git("checkout", "a")
	must(t, Merge(t.Context(), w.Dir, m))
	if w.Content("a") != "theirs" || w.Content("b") != "mine" || w.Git("rev-parse", "HEAD") != m.Result {
		t.Errorf("a is %q, b is %q", w.Content("a"), w.Content("b"))
	}
	if err := Merge(t.Context(), w.Dir, m); err == nil || !strings.Contains(err.Error(), "has moved meanwhile") {
		t.Errorf("again: %v", err)
	}
}

// TestMergeKeepsIgnoredFiles merges what an agent added in spite of the rules, also into a sparse
// work tree, where git itself does not look.
func TestMergeKeepsIgnoredFiles(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for added, mine := range map[string]string{"notes": "notes", "env/a/b": "env", "env/a/c": "env/a", "env": "env/private"} {
			w := born(t)
			w.Write(".gitignore", "notes\nenv\n")
			w.Write("left/out", "a")
			w.Git("add", ".")
			w.Git("commit", "-qm", "rules")
			side := w.worktree("side")
			side.Write(added, "theirs")
			side.Git("add", "-f", ".")
			side.Git("commit", "-qm", "theirs")
			if sparse {
				w.Git("sparse-checkout", "set", "--no-cone", "/*", "!/left/")
			}
			w.Write(mine, "mine")
			m, err := repo.PlanMerge(t.Context(), w.Dir, "refs/heads/side", repo.MergeFF, "")
			must(t, err)
			if err := Merge(t.Context(), w.Dir, m); !errors.Is(err, ErrInTheWay) || w.Content(mine) != "mine" {
				t.Errorf("%s over %s, sparse %t: %v, %q", added, mine, sparse, err, w.Content(mine))
			}
			must(t, os.RemoveAll(filepath.Join(w.Dir, strings.Split(mine, "/")[0])))
			must(t, Merge(t.Context(), w.Dir, m))
			if w.Content(added) != "theirs" {
				t.Errorf("%s, sparse %t: %q", added, sparse, w.Content(added))
			}
		}
	}
}

// What a description of a worktree says of a branch counts as far as git agrees: an agent can write
// the description.
func TestOnlySpareBranchesAreDeleted(t *testing.T) {
	w := born(t)
	w.Write("a", "one\n")
	base := w.Commit("one")
	w.Git("branch", "spare")
	w.Git("branch", "persons")
	side := w.worktree("side")
	side.Write("b", "work\n")
	side.Git("add", "b")
	side.Git("commit", "-qm", "work")
	w.Git("branch", "alone", side.Head())
	main := w.Git("symbolic-ref", "--short", "HEAD")
	w.Git("update-ref", "refs/remotes/origin/main", base)
	for name, at := range map[string]string{
		"spare": base, "side": side.Head(), "persons": side.Head(), main: base, "absent": base,
	} {
		_ = DeleteSpareBranch(t.Context(), w.Dir, name, at) // what it says about the others does not matter
	}
	w.Git("branch", "-D", "alone")
	side.Git("checkout", "-q", "--detach")
	_ = DeleteSpareBranch(t.Context(), w.Dir, "side", side.Head())
	for name, want := range map[string]bool{"spare": false, "side": true, "persons": true, main: true} {
		if got := repo.HasBranch(t.Context(), w.Dir, name); got != want {
			t.Errorf("branch %s is there: %v, want %v", name, got, want)
		}
	}

	if has, err := repo.Contains(t.Context(), w.Dir, side.Head()); err != nil || has {
		t.Errorf("the branch has what was not merged: %v, %v", has, err)
	}
	w.Git("merge", "--squash", "-q", side.Head())
	w.Git("commit", "-qm", "squashed")
	if has, err := repo.Contains(t.Context(), w.Dir, side.Head()); err != nil || !has {
		t.Errorf("the branch lacks what was squashed into it: %v, %v", has, err)
	}
}
