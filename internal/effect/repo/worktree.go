package repo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// WorktreeTime bounds the making of one work tree, in which git writes all files.
const WorktreeTime = 30 * time.Minute

// AddWorktree makes a linked work tree of the repository around dir at path, which must not exist,
// with a branch; a new one begins at the commit base. No hook and no filter of the repository runs,
// so a file of Git LFS is a pointer. Submodules are empty, and a sparse checkout is as sparse. If
// it is killed, keep.DropWorktree removes what there is.
func AddWorktree(ctx context.Context, dir, path, branch, base string, made bool, env ...string) error {
	g, err := unfiltered(ctx, dir, env)
	if err == nil {
		args := []string{"worktree", "add", "--quiet", path, branch}
		if made {
			args = []string{"worktree", "add", "--quiet", "--no-track", "-b", branch, path, base}
		}
		_, err = g.Read(ctx, args...)
	}
	if err != nil {
		err = fmt.Errorf("make the worktree: %w", err)
	}
	return err
}

// unfiltered returns the git of the work tree around dir, with time enough to write all files.
func unfiltered(ctx context.Context, dir string, env []string) (Git, error) {
	g := In(dir, env...)
	at, err := g.Locate(ctx)
	if err != nil {
		return g, err
	}
	g, err = g.In(at.Root).WithoutFilters(ctx)
	g.Limit = WorktreeTime
	return g, err
}

// HasBranch reports whether the repository around dir has a branch.
func HasBranch(ctx context.Context, dir, branch string, env ...string) bool {
	_, err := In(dir, env...).Read(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	return err == nil
}

// IsCheckedOut reports whether a work tree of the repository around dir has a branch checked out,
// so that no other one can have it.
func IsCheckedOut(ctx context.Context, dir, branch string, env ...string) bool {
	path, err := In(dir, env...).Line(ctx, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch)
	return err == nil && path != ""
}

// MakeBranch makes a branch at the HEAD of the work tree around dir. One that exists is an error.
func MakeBranch(ctx context.Context, dir, branch string, env ...string) error {
	if _, err := In(dir, env...).Read(ctx, "branch", "--no-track", branch, "HEAD"); err != nil {
		return fmt.Errorf("make the branch %s: %w", branch, err)
	}
	return nil
}

// BranchBase returns the commit of a branch or, for one that does not exist, that of HEAD. A name
// that no branch can have is an error, and so is a repository without a commit: [ErrNoCommits].
func BranchBase(ctx context.Context, dir, branch string, env ...string) (string, error) {
	g := In(dir, env...)
	if _, err := g.Locate(ctx); err != nil {
		return "", err
	}
	if _, err := g.Read(ctx, "check-ref-format", "--branch", branch); err != nil || strings.HasPrefix(branch, "-") {
		return "", &Error{Doing: "git branch", Err: fmt.Errorf("%q %w", branch, ErrBranchName), hint: "choose another name"}
	}
	from := "HEAD"
	if HasBranch(ctx, dir, branch, env...) {
		from = "refs/heads/" + branch
	}
	commit, err := g.Line(ctx, "rev-parse", "--verify", "--quiet", from+"^{commit}")
	if ExitCode(err) == 1 {
		return "", ErrNoCommits
	}
	return commit, err
}

// Untracked returns the files that git does not track, ignored or not, and that fit one of the
// patterns of a .gitignore: from the root of the work tree around dir, with slashes.
func Untracked(ctx context.Context, dir string, patterns []string, env ...string) ([]string, error) {
	g, err := unfiltered(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	args := []string{"ls-files", "-z", "--others", "--ignored", "--full-name"}
	for _, p := range patterns {
		args = append(args, "--exclude="+p)
	}
	out, err := g.Read(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("find files that git does not track: %w", err)
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !strings.HasSuffix(name, "/") && !IsOwn(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// GitFolders returns the folders of git that a commit in the work tree around dir changes: its own,
// and for a linked work tree that of the repository.
func GitFolders(ctx context.Context, dir string, env ...string) ([]string, error) {
	g := In(dir, env...)
	at, err := g.Locate(ctx)
	if err != nil {
		return nil, err
	}
	common, err := g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	if common == at.GitDir {
		return []string{common}, nil
	}
	return []string{common, at.GitDir}, nil
}

// RepairWorktree tells the repository around dir that a linked work tree was moved to path.
func RepairWorktree(ctx context.Context, dir, path string, env ...string) error {
	if _, err := In(dir, env...).Read(ctx, "worktree", "repair", path); err != nil {
		return fmt.Errorf("repair the worktree: %w", err)
	}
	return nil
}

// Work is what a work tree has that would be lost with it.
type Work struct {
	Branch   string // without refs/heads/; empty if HEAD names a commit
	Head     string
	Changes  int // files that are not committed
	Unmerged int // commits that no other branch, remote or tag has
}

// InspectWork returns the work in the work tree at path.
func InspectWork(ctx context.Context, path string, env ...string) (w Work, err error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(path, env...)
	if g, err = g.WithoutFilters(ctx); err == nil {
		w, err = g.Work(ctx)
	}
	if err != nil {
		err = fmt.Errorf("inspect the worktree: %w", err)
	}
	return w, err
}

func (g Git) Work(ctx context.Context) (w Work, err error) {
	st, err := g.status(ctx)
	if err != nil {
		return w, err
	}
	w.Changes, w.Head = len(st.entries), st.head
	ref, err := g.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && ExitCode(err) != 1 {
		return w, err
	}
	w.Branch = strings.TrimPrefix(ref, "refs/heads/")
	args := []string{"rev-list", "--count", "HEAD", "--not"}
	if w.Branch != "" {
		args = append(args, "--exclude="+w.Branch) // of --branches, so without refs/heads/
	}
	count, err := g.Line(ctx, append(args, "--branches", "--remotes", "--tags")...)
	if err == nil {
		w.Unmerged, err = strconv.Atoi(count)
	}
	return w, err
}
