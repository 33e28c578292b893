package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Since returns how many commits HEAD has that oldHead did not have. oldHead is empty for a
// repository that had no commit. A name that is no commit here, or has been garbage-collected, is
// ErrUnknownCommit. Time and environment are as in [TakeSnapshot].
func Since(ctx context.Context, dir, oldHead string, env ...string) (int, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	n, err := In(dir, env...).since(ctx, oldHead)
	if err != nil {
		return 0, fmt.Errorf("count new commits: %w", err)
	}
	return n, nil
}

// Between returns the size of the difference between two commits; old is empty where there was
// none. Time and environment are as in [TakeSnapshot].
func Between(ctx context.Context, dir, old, head string, env ...string) (Stat, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	for _, commit := range []string{old, head} {
		if err := g.checkCommit(ctx, commit); err != nil {
			return Stat{}, err
		}
	}
	return g.between(ctx, old, head)
}

func (g Git) since(ctx context.Context, oldHead string) (int, error) {
	at, err := g.Locate(ctx)
	if err != nil {
		return 0, err
	}
	g = g.In(at.Root)
	if err := g.checkCommit(ctx, oldHead); err != nil {
		return 0, err
	}
	head, err := g.Head(ctx)
	if err != nil || head == oldHead || head == "" {
		return 0, err
	}
	args := []string{"rev-list", "--count", head}
	if oldHead != "" {
		args = append(args, "^"+oldHead)
	}
	count, err := g.Line(ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0, fmt.Errorf("read git's count of commits: %w", err)
	}
	return n, nil
}

// Branch returns the branch that HEAD names in the working tree around dir; empty if there is none.
func Branch(ctx context.Context, dir string) string {
	ctx, cancel := Bounded(ctx, branchTime)
	defer cancel()
	if !hasDotGit(dir) || checkFiles(dir) != nil {
		return ""
	}
	name, err := In(dir).Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return name
}

// branchTime is short because a person waits, and a loop can be named without a branch.
const branchTime = 3 * time.Second

// Head returns the commit that HEAD names; empty if there is none.
func (g Git) Head(ctx context.Context) (string, error) {
	head, err := g.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if ExitCode(err) == 1 {
		return "", nil
	}
	return head, err
}

// HeadAndBranch returns what is checked out: the commit, empty if there is none, and the ref that
// HEAD names, empty if it names a commit.
func (g Git) HeadAndBranch(ctx context.Context) (head, branch string, err error) {
	both, err := g.Line(ctx, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	if head, branch, ok := strings.Cut(both, "\n"); err == nil && ok {
		if branch == "HEAD" {
			branch = ""
		}
		return head, branch, nil
	}
	if head, err = g.Head(ctx); err != nil { // nothing is committed, or a branch is named HEAD too
		return "", "", err
	}
	if branch, err = g.Line(ctx, "symbolic-ref", "--quiet", "HEAD"); ExitCode(err) == 1 {
		err = nil
	}
	return head, branch, err
}

// checkCommit checks a commit's name from a caller; only a full one cannot be an option or a
// branch.
func (g Git) checkCommit(ctx context.Context, commit string) error {
	if commit == "" {
		return nil
	}
	if raw, err := hex.DecodeString(commit); err != nil || len(raw) != 20 && len(raw) != 32 {
		return fmt.Errorf("%w: %.80q is not a full commit name", ErrUnknownCommit, commit)
	}
	_, err := g.Read(ctx, "cat-file", "-e", commit+"^{commit}")
	if ExitCode(err) > 0 {
		return errors.Join(fmt.Errorf("%w: %s", ErrUnknownCommit, commit), err)
	}
	return err
}
