package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Uncommitted reports whether a file of a folder differs from the last commit, or is in none, so
// that a new worktree would not have it as it is. Time and environment are as in [TakeSnapshot].
func Uncommitted(ctx context.Context, dir, file string, env ...string) (bool, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	out, err := In(dir, env...).Read(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--", file)
	return len(out) > 0, err
}

// FileAt returns a file of a folder as a commit has it. path is relative to the folder. Time and
// environment are as in [TakeSnapshot].
func FileAt(ctx context.Context, dir, commit, path string, env ...string) ([]byte, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	return In(dir, env...).Read(ctx, "cat-file", "blob", commit+":./"+filepath.ToSlash(path))
}

// CommitFile commits one file of a folder that git tracks, as it is on the disk, and nothing else.
// If the file is as its last commit has it, and that has this message, an earlier call was not
// reported: then the commit is that one. No hook, no filter and no program that signs runs. Time
// and environment are as in [TakeSnapshot].
func CommitFile(ctx context.Context, dir, file, message string, env ...string) (sha string, stat Stat, err error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	sha, stat, err = commitFile(ctx, dir, file, message, env)
	if err != nil {
		err = fmt.Errorf("commit %s: %w", file, err)
	}
	return sha, stat, err
}

func commitFile(ctx context.Context, dir, file, message string, env []string) (sha string, stat Stat, err error) {
	g, err := In(dir, env...).WithoutFilters(ctx)
	if err != nil {
		return "", stat, err
	}
	changed, err := Uncommitted(ctx, dir, file, env...)
	if err != nil {
		return "", stat, err
	}
	before := ""
	if changed {
		before, sha, err = g.commitOnly(ctx, file, message)
	} else {
		before, sha, err = g.lastCommitOf(ctx, file, message)
	}
	if err == nil {
		stat, err = g.between(ctx, before, sha)
	}
	return sha, stat, err
}

func (g Git) commitOnly(ctx context.Context, file, message string) (before, sha string, err error) {
	if before, err = g.Head(ctx); err != nil {
		return "", "", err
	}
	args := []string{"commit", "--only", "--quiet", "--no-gpg-sign", "--cleanup=whitespace", "--file=-", "--", ":(literal)" + file}
	if _, err = g.Line(ctx, "var", "GIT_COMMITTER_IDENT"); ExitCode(err) > 0 { // git does not know who commits
		g = g.WithOwnIdentity()
	}
	if _, err = g.Feed(ctx, []byte(message+"\n"), args...); err == nil {
		sha, err = g.Head(ctx)
	}
	return before, sha, err
}

// lastCommitOf returns the last commit that changed a file, and its parent, if it has this subject.
func (g Git) lastCommitOf(ctx context.Context, file, subject string) (before, sha string, err error) {
	out, err := g.Line(ctx, "rev-list", "--max-count=1", "--format=%P%n%s", "HEAD", "--", ":(literal)"+file)
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(out, "\n") // the first is "commit" with its name
	if len(lines) < 3 || lines[2] != subject {
		return "", "", errors.New("it is committed as it is")
	}
	before, _, _ = strings.Cut(lines[1], " ")
	return before, strings.TrimPrefix(lines[0], "commit "), nil
}
