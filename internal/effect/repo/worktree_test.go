package repo

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// worktree makes a linked work tree on a new branch.
func (w tree) worktree(branch string) tree {
	w.T.Helper()
	path := filepath.Join(w.T.TempDir(), "worktree")
	base, err := BranchBase(w.T.Context(), w.Dir, branch)
	must(w.T, err)
	must(w.T, AddWorktree(w.T.Context(), w.Dir, path, branch, base, !HasBranch(w.T.Context(), w.Dir, branch)))
	return treeIn(w.T, path)
}

// TestWorkIsNotForgotten counts what no other branch has, whatever the branch is called.
func TestWorkIsNotForgotten(t *testing.T) {
	for _, branch := range []string{"side", "ralph/side", "a/b/c"} {
		w := born(t)
		side := w.worktree(branch)
		side.Write("new", "new")
		side.Git("add", "new")
		side.Git("commit", "-qm", "new")
		side.Write("more", "more")
		work, err := InspectWork(t.Context(), side.Dir)
		must(t, err)
		if work.Unmerged != 1 || work.Changes != 1 || work.Branch != branch {
			t.Errorf("%s: %+v", branch, work)
		}
		w.Git("branch", "other", branch)
		if work, err = InspectWork(t.Context(), side.Dir); err != nil || work.Unmerged != 0 {
			t.Errorf("%s, with another branch: %+v, %v", branch, work, err)
		}
	}
}

// TestMergeRefuses shows the errors of a merge that cannot be made.
func TestMergeRefuses(t *testing.T) {
	w := born(t)
	w.Write("a", "a")
	w.Git("add", ".")
	w.Git("commit", "-qm", "a")
	side := w.worktree("side")
	plan := func(how string) error {
		_, err := PlanMerge(t.Context(), w.Dir, "refs/heads/side", how, "m")
		return err
	}
	if err := plan(MergeAuto); !errors.Is(err, ErrMerged) {
		t.Errorf("nothing new: %v", err)
	}
	side.Write("a", "theirs")
	side.Git("commit", "-qam", "theirs")
	w.Write("a", "ours")
	w.Git("commit", "-qam", "ours")
	if err := plan(MergeFF); !errors.Is(err, ErrNotFF) {
		t.Errorf("fast-forward: %v", err)
	}
	m, err := PlanMerge(t.Context(), w.Dir, "refs/heads/side", MergeAuto, "m")
	if !errors.Is(err, ErrConflicts) || !slices.Equal(m.Conflicts, []string{"a"}) {
		t.Errorf("%v in %q", err, m.Conflicts)
	}
	w.Git("checkout", "-q", "--detach")
	if err := plan(MergeAuto); !errors.Is(err, ErrDetached) {
		t.Errorf("without a branch: %v", err)
	}
	w.Git("symbolic-ref", "HEAD", "refs/heads/empty")
	if err := plan(MergeAuto); !errors.Is(err, ErrUnborn) {
		t.Errorf("on a branch without a commit: %v", err)
	}
	for _, name := range []string{"-x", "a..b", "a b", ""} {
		if _, err := BranchBase(t.Context(), w.Dir, name); err == nil {
			t.Errorf("%q is a branch", name)
		}
	}
}
