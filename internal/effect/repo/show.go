package repo

import (
	"context"
	"fmt"
	"strings"
)

// Show returns a commit as text: author, date, message, the files with their counts, and the diff.
// The text is that of the repository, and not clean. A name that is no commit here is
// ErrUnknownCommit. Time and environment are as in [TakeSnapshot].
func Show(ctx context.Context, dir, sha string, env ...string) (string, error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	text, err := gitIn(dir, env...).show(ctx, sha)
	if err != nil {
		return "", fmt.Errorf("show commit %s: %w", sha, err)
	}
	return text, nil
}

func (g git) show(ctx context.Context, sha string) (string, error) {
	at, err := g.locate(ctx)
	if err != nil {
		return "", err
	}
	g = g.in(at.root)
	if sha == "" {
		return "", fmt.Errorf("%w: it has no name", ErrUnknownCommit)
	}
	if err := g.checkCommit(ctx, sha); err != nil {
		return "", err
	}
	out, err := g.read(ctx, "show", "--no-color", "--no-ext-diff", "--no-textconv", "--no-notes", "--stat", "--patch", "--format=fuller", sha, "--")
	return strings.ToValidUTF8(string(out), "\ufffd"), err
}
