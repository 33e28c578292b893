package repo

import "context"

// Uncommitted reports whether a file of a folder differs from the last commit, or is in none, so
// that a new worktree would not have it as it is. Time and environment are as in [TakeSnapshot].
func Uncommitted(ctx context.Context, dir, file string, env ...string) (bool, error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	out, err := gitIn(dir, env...).read(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--", file)
	return len(out) > 0, err
}
