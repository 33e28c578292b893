package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// CommitPaths commits files and folders, and nothing else of the working tree or the index. Paths
// are relative to dir, with slashes, and taken literally. Those that git ignores are left out. sha
// is empty if nothing of the others has changed. A failed commit leaves the index as it was. Hooks
// and signing run as in [Run].
func CommitPaths(ctx context.Context, dir, message string, paths []string, env ...string) (sha string, err error) {
	r := runner{
		Config: Config{Dir: dir, Timeout: defaultTimeout, lockWait: 2 * time.Second},
		git:    Git{argv: []string{"git"}, Env: environment(env), Dir: dir},
	}
	words := []string{"commit"}
	at, err := r.git.Locate(ctx)
	if err != nil {
		return "", r.fail(words, err, "")
	}
	if op, abort := at.operation(); op != "" {
		return "", r.fail(words, fmt.Errorf("%s %w", op, ErrUnfinished), "finish it, or call it off with '"+abort+"'")
	}
	if paths, err = r.git.notIgnored(ctx, paths); err != nil || len(paths) == 0 {
		return "", err
	}
	if err := waitForLock(ctx, at, r.lockWait); err != nil {
		return "", r.fail(words, err, lockHint(at))
	}
	kept, err := saveIndex(at)
	if err != nil {
		return "", r.fail(words, err, "")
	}
	sha, failed := r.commitPaths(ctx, clean(message), paths)
	if sha != "" {
		return sha, failed
	}
	if failed != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
		defer cancel()
		r.explain(after, at, failed)
	}
	if err := kept.restore(); err != nil {
		failed = errors.Join(failed, r.fail(words, fmt.Errorf("restore the index: %w", err), lockHint(at)))
	}
	return "", failed
}

// commitPaths adds and commits. sha is the new commit; empty if there is none.
func (r *runner) commitPaths(ctx context.Context, message string, paths []string) (sha string, err error) {
	before, err := r.git.Head(ctx)
	if err != nil {
		return "", err
	}
	literal := make([]string, len(paths))
	for i, path := range paths {
		literal[i] = ":(literal)" + path
	}
	if err := r.run(ctx, strings.Join(literal, "\x00"), "add", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return "", err
	}
	_, err = r.git.Read(ctx, append([]string{"diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--"}, literal...)...)
	if ExitCode(err) != 1 {
		return "", err // nothing has changed, or git cannot know
	}
	// The message comes by standard input, as in addAndCommit.
	failed := r.run(ctx, message+"\n", append([]string{"commit", "--only", "--cleanup=whitespace", "--file=-", "--"}, literal...)...)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	head, err := r.git.Head(after)
	if err != nil {
		return "", errors.Join(failed, err)
	}
	if head == before {
		return "", failed
	}
	return head, failed
}

// notIgnored returns the paths that git does not ignore, or has recorded already.
func (g Git) notIgnored(ctx context.Context, paths []string) (kept []string, err error) {
	for _, path := range paths {
		_, err := g.Read(ctx, "check-ignore", "--quiet", "--", path)
		switch {
		case err == nil: // ignored
		case ExitCode(err) == 1:
			kept = append(kept, path)
		default:
			return nil, err
		}
	}
	return kept, nil
}
