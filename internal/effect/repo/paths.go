package repo

import (
	"context"
	"fmt"
	"time"
)

// CommitPaths commits files and folders, and nothing else of the working tree or the index. Paths
// are relative to dir, with slashes, and taken literally. Those that git ignores are left out. sha
// is empty if nothing of the others has changed. A failed commit leaves the index as it was. Hooks
// and signing run as in [Run].
func CommitPaths(ctx context.Context, dir, message string, paths []string, env ...string) (sha string, err error) {
	r := runner{
		Config: Config{Dir: dir, Message: clean(message), Timeout: defaultTimeout, lockWait: 2 * time.Second},
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
	for _, path := range paths {
		r.only = append(r.only, ":(literal)"+path)
	}
	if err := waitForLock(ctx, at, r.lockWait); err != nil {
		return "", r.fail(words, err, lockHint(at))
	}
	before, err := r.git.Head(ctx)
	if err == nil {
		_, err = r.commitFrom(ctx, at, before, words)
	}
	return r.result.SHA, err
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
