package keep

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// DropWorktree removes a linked work tree with everything in it, also one that was made in part. A
// missing one is no error.
func DropWorktree(ctx context.Context, dir, path string, env ...string) error {
	// The git of a start that was killed may still be writing there.
	for n := 1; ; n++ {
		err := dropWorktree(ctx, dir, path, env)
		if err == nil || repo.Absent(err) || n == dropTries {
			return err
		}
		select {
		case <-time.After(dropPause):
		case <-ctx.Done():
			return err
		}
	}
}

const (
	dropTries = 50
	dropPause = 200 * time.Millisecond
)

func dropWorktree(ctx context.Context, dir, path string, env []string) error {
	g := gitIn(dir, env)
	g.Limit = repo.WorktreeTime
	out, err := g.Read(ctx, "worktree", "list", "--porcelain", "-z")
	if err == nil && strings.Contains("\x00"+string(out), "\x00worktree "+path+"\x00") {
		_, err = g.Read(ctx, "worktree", "remove", "--force", "--force", path) // twice, for one that is locked while it is made
	}
	if err != nil {
		return fmt.Errorf("remove the worktree: %w", err)
	}
	return os.RemoveAll(path) // git may not know it yet
}

// DeleteSpareBranch is DeleteBranch for a branch that no work tree has checked out and whose
// commits are on another branch, a remote or a tag. Others stay.
func DeleteSpareBranch(ctx context.Context, dir, branch, commit string, env ...string) error {
	g := gitIn(dir, env)
	at, err := g.Line(ctx, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch)
	if err != nil || at != "" {
		return err
	}
	count, err := g.Line(ctx, "rev-list", "--count", "--not", "--exclude="+branch, "--branches", "--remotes", "--tags", "--not", "--end-of-options", commit)
	if err != nil || count != "0" {
		return err
	}
	return DeleteBranch(ctx, dir, branch, commit, env...)
}

// DeleteBranch removes a branch that is at a commit.
func DeleteBranch(ctx context.Context, dir, branch, commit string, env ...string) error {
	if err := gitIn(dir, env).removeRef(ctx, "refs/heads/"+branch, commit); err != nil {
		return fmt.Errorf("remove the branch %s: %w", branch, err)
	}
	return nil
}
