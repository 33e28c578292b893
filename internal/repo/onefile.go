package repo

import (
	"context"
	"fmt"
	"slices"
)

// Uncommitted reports whether a file of a folder differs from the last commit, or is in none, so
// that a new worktree would not have it as it is. Time and environment are as in [TakeSnapshot].
func Uncommitted(ctx context.Context, dir, file string, env ...string) (bool, error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	out, err := gitIn(dir, env...).read(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--", file)
	return len(out) > 0, err
}

// CommitFile commits one file of a folder that git tracks, as it is on the disk, and nothing else.
// No hook, no filter and no program that signs runs. Time and environment are as in [TakeSnapshot].
func CommitFile(ctx context.Context, dir, file, message string, env ...string) (sha string, stat Stat, err error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	g, err := gitIn(dir, env...).withoutFilters(ctx)
	before := ""
	if err == nil {
		before, err = g.head(ctx)
	}
	if err == nil {
		args := []string{"commit", "--only", "--quiet", "--no-gpg-sign", "--cleanup=whitespace", "--file=-", "--", ":(literal)" + file}
		if _, err = g.line(ctx, "var", "GIT_COMMITTER_IDENT"); exitCode(err) > 0 { // git does not know who commits
			g.env = append(slices.Clip(g.env), ownIdentity...)
		}
		_, err = g.feed(ctx, []byte(message+"\n"), args...)
	}
	if err == nil {
		sha, err = g.head(ctx)
	}
	if err == nil {
		stat, err = g.between(ctx, before, sha)
	}
	if err != nil {
		err = fmt.Errorf("commit %s: %w", file, err)
	}
	return sha, stat, err
}
