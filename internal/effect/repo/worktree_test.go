package repo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// worktree makes a linked work tree on a new branch.
func (w tree) worktree(branch string) tree {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "worktree")
	base, err := BranchBase(w.t.Context(), w.dir, branch)
	must(w.t, err)
	must(w.t, AddWorktree(w.t.Context(), w.dir, path, branch, base, !HasBranch(w.t.Context(), w.dir, branch)))
	return tree{w.t, path}
}

// programs sets every program that git could run in a repository. It returns a file that each of
// them makes.
func (w tree) programs() (mark string) {
	w.t.Helper()
	mark = filepath.Join(w.t.TempDir(), "ran")
	program := filepath.Join(w.t.TempDir(), "program")
	must(w.t, os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\ncat\n"), 0o755))
	hooks := filepath.Join(w.dir, ".git", "hooks")
	must(w.t, os.MkdirAll(hooks, 0o755))
	for _, name := range []string{"post-checkout", "post-merge", "pre-merge-commit", "reference-transaction", "post-index-change", "commit-msg"} {
		must(w.t, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755))
	}
	for _, key := range []string{"core.fsmonitor", "filter.own.clean", "filter.own.smudge", "merge.own.driver", "core.sshCommand"} {
		w.git("config", key, program)
	}
	w.write(".gitattributes", "* filter=own merge=own\n")
	return mark
}

// TestWorktreeRunsNoProgram makes, inspects, merges and removes a worktree in a repository that
// names programs.
func TestWorktreeRunsNoProgram(t *testing.T) {
	w := born(t)
	w.write("a", strings.Repeat("line\n", 20))
	w.git("add", "a")
	w.git("commit", "-qm", "a")
	side := w.worktree("side")
	w.write("a", "ours\n"+strings.Repeat("line\n", 20))
	side.write("a", strings.Repeat("line\n", 20)+"theirs\n")
	w.git("commit", "-qam", "ours")
	side.git("commit", "-qam", "theirs")
	mark := w.programs()
	work, err := InspectWork(t.Context(), side.dir)
	must(t, err)
	if work.Branch != "side" || work.Unmerged != 1 || work.Changes != 0 {
		t.Errorf("%+v", work)
	}
	m, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", MergeAuto, "both")
	must(t, err)
	if got := w.git("show", m.Result+":a"); m.FF || !strings.HasPrefix(got, "ours\n") || !strings.HasSuffix(got, "theirs") {
		t.Errorf("%+v: %q", m, got)
	}
	must(t, DropWorktree(t.Context(), w.dir, side.dir))
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// TestWorktreeWithoutContent shows what a worktree has of a submodule, of a sparse checkout and of
// a file with a filter.
func TestWorktreeWithoutContent(t *testing.T) {
	w := born(t)
	inner := born(t)
	inner.write("inner", "inner")
	inner.git("add", "inner")
	inner.git("commit", "-qm", "inner")
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "sub")
	w.write("in/a", "a")
	w.write("out/b", "b")
	w.write("big.bin", "pointer")
	w.git("add", ".")
	w.git("commit", "-qm", "all")
	w.git("sparse-checkout", "set", "in")
	w.write(".gitattributes", "*.bin filter=lfs\n")
	w.git("add", ".gitattributes")
	w.git("commit", "-qm", "filter")
	w.git("config", "filter.lfs.smudge", "false")
	w.git("config", "filter.lfs.required", "true")
	side := w.worktree("side")
	if got := side.content("big.bin"); got != "pointer" {
		t.Errorf("the file with a filter has %q", got)
	}
	for name, want := range map[string]bool{"in/a": true, "out/b": false, "sub/inner": false} {
		if _, err := os.Stat(filepath.Join(side.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	side.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	must(t, DropWorktree(t.Context(), w.dir, side.dir))
	if _, err := os.Stat(side.dir); err == nil {
		t.Error("the worktree is still there")
	}
}

// TestWorkIsNotForgotten counts what no other branch has, whatever the branch is called.
func TestWorkIsNotForgotten(t *testing.T) {
	for _, branch := range []string{"side", "ralph/side", "a/b/c"} {
		w := born(t)
		side := w.worktree(branch)
		side.write("new", "new")
		side.git("add", "new")
		side.git("commit", "-qm", "new")
		side.write("more", "more")
		work, err := InspectWork(t.Context(), side.dir)
		must(t, err)
		if work.Unmerged != 1 || work.Changes != 1 || work.Branch != branch {
			t.Errorf("%s: %+v", branch, work)
		}
		w.git("branch", "other", branch)
		if work, err = InspectWork(t.Context(), side.dir); err != nil || work.Unmerged != 0 {
			t.Errorf("%s, with another branch: %+v, %v", branch, work, err)
		}
	}
}

// TestMergeKeepsChanges merges while the person has changed files.
func TestMergeKeepsChanges(t *testing.T) {
	w := born(t)
	w.write("a", "a")
	w.write("b", "b")
	w.git("add", ".")
	w.git("commit", "-qm", "ab")
	side := w.worktree("side")
	side.write("a", "theirs")
	side.git("commit", "-qam", "theirs")
	w.write("b", "mine")
	m, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", MergeFF, "")
	must(t, err)
	head := w.head()
	w.write("a", "mine too")
	if err := m.Apply(t.Context(), w.dir); !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), ": a") {
		t.Errorf("over a changed file: %v", err)
	}
	if w.head() != head || w.content("a") != "mine too" {
		t.Error("something was changed")
	}
	w.git("checkout", "a")
	must(t, m.Apply(t.Context(), w.dir))
	if w.content("a") != "theirs" || w.content("b") != "mine" || w.git("rev-parse", "HEAD") != m.Result {
		t.Errorf("a is %q, b is %q", w.content("a"), w.content("b"))
	}
	if err := m.Apply(t.Context(), w.dir); err == nil || !strings.Contains(err.Error(), "has moved meanwhile") {
		t.Errorf("again: %v", err)
	}
}

// TestMergeKeepsIgnoredFiles merges what an agent added in spite of the rules, also into a sparse
// work tree, where git itself does not look.
func TestMergeKeepsIgnoredFiles(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for added, mine := range map[string]string{"notes": "notes", "env/a/b": "env", "env/a/c": "env/a", "env": "env/private"} {
			w := born(t)
			w.write(".gitignore", "notes\nenv\n")
			w.write("left/out", "a")
			w.git("add", ".")
			w.git("commit", "-qm", "rules")
			side := w.worktree("side")
			side.write(added, "theirs")
			side.git("add", "-f", ".")
			side.git("commit", "-qm", "theirs")
			if sparse {
				w.git("sparse-checkout", "set", "--no-cone", "/*", "!/left/")
			}
			w.write(mine, "mine")
			m, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", MergeFF, "")
			must(t, err)
			if err := m.Apply(t.Context(), w.dir); !errors.Is(err, ErrInTheWay) || w.content(mine) != "mine" {
				t.Errorf("%s over %s, sparse %t: %v, %q", added, mine, sparse, err, w.content(mine))
			}
			must(t, os.RemoveAll(filepath.Join(w.dir, strings.Split(mine, "/")[0])))
			must(t, m.Apply(t.Context(), w.dir))
			if w.content(added) != "theirs" {
				t.Errorf("%s, sparse %t: %q", added, sparse, w.content(added))
			}
		}
	}
}

// TestMergeRefuses shows the errors of a merge that cannot be made.
func TestMergeRefuses(t *testing.T) {
	w := born(t)
	w.write("a", "a")
	w.git("add", ".")
	w.git("commit", "-qm", "a")
	side := w.worktree("side")
	plan := func(how string) error {
		_, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", how, "m")
		return err
	}
	if err := plan(MergeAuto); !errors.Is(err, ErrMerged) {
		t.Errorf("nothing new: %v", err)
	}
	side.write("a", "theirs")
	side.git("commit", "-qam", "theirs")
	w.write("a", "ours")
	w.git("commit", "-qam", "ours")
	if err := plan(MergeFF); !errors.Is(err, ErrNotFF) {
		t.Errorf("fast-forward: %v", err)
	}
	m, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", MergeAuto, "m")
	if !errors.Is(err, ErrConflicts) || !slices.Equal(m.Conflicts, []string{"a"}) {
		t.Errorf("%v in %q", err, m.Conflicts)
	}
	w.git("checkout", "-q", "--detach")
	if err := plan(MergeAuto); !errors.Is(err, ErrDetached) {
		t.Errorf("without a branch: %v", err)
	}
	w.git("symbolic-ref", "HEAD", "refs/heads/empty")
	if err := plan(MergeAuto); !errors.Is(err, ErrUnborn) {
		t.Errorf("on a branch without a commit: %v", err)
	}
	for _, name := range []string{"-x", "a..b", "a b", ""} {
		if _, err := BranchBase(t.Context(), w.dir, name); err == nil {
			t.Errorf("%q is a branch", name)
		}
	}
}

func (w tree) content(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	must(w.t, err)
	return string(text)
}

// What a description of a worktree says of a branch counts as far as git agrees: an agent can write
// the description.
func TestOnlySpareBranchesAreDeleted(t *testing.T) {
	w := born(t)
	w.write("a", "one\n")
	base := w.commit("one")
	w.git("branch", "spare")
	w.git("branch", "persons")
	side := w.worktree("side")
	side.write("b", "work\n")
	side.git("add", "b")
	side.git("commit", "-qm", "work")
	w.git("branch", "alone", side.head())
	main := w.git("symbolic-ref", "--short", "HEAD")
	w.git("update-ref", "refs/remotes/origin/main", base)
	for name, at := range map[string]string{
		"spare": base, "side": side.head(), "persons": side.head(), main: base, "absent": base,
	} {
		_ = DeleteSpareBranch(t.Context(), w.dir, name, at) // what it says about the others does not matter
	}
	w.git("branch", "-D", "alone")
	side.git("checkout", "-q", "--detach")
	_ = DeleteSpareBranch(t.Context(), w.dir, "side", side.head())
	for name, want := range map[string]bool{"spare": false, "side": true, "persons": true, main: true} {
		if got := HasBranch(t.Context(), w.dir, name); got != want {
			t.Errorf("branch %s is there: %v, want %v", name, got, want)
		}
	}

	if has, err := Contains(t.Context(), w.dir, side.head()); err != nil || has {
		t.Errorf("the branch has what was not merged: %v, %v", has, err)
	}
	w.git("merge", "--squash", "-q", side.head())
	w.git("commit", "-qm", "squashed")
	if has, err := Contains(t.Context(), w.dir, side.head()); err != nil || !has {
		t.Errorf("the branch lacks what was squashed into it: %v, %v", has, err)
	}
}
