package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Show returns a commit as text: author, date, message, the files with their counts, and the diff.
// The text is that of the repository, and not clean. A name that is no commit here is
// ErrUnknownCommit. Time and environment are as in [TakeSnapshot].
func Show(ctx context.Context, dir, sha string, env ...string) (string, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	text, err := In(dir, env...).show(ctx, sha)
	if err != nil {
		return "", fmt.Errorf("show commit %s: %w", sha, err)
	}
	return text, nil
}

func (g Git) show(ctx context.Context, sha string) (string, error) {
	at, err := g.Locate(ctx)
	if err != nil {
		return "", err
	}
	g = g.In(at.Root)
	if sha == "" {
		return "", fmt.Errorf("%w: it has no name", ErrUnknownCommit)
	}
	if err := g.checkCommit(ctx, sha); err != nil {
		return "", err
	}
	out, err := g.Read(ctx, "show", "--no-color", "--no-ext-diff", "--no-textconv", "--no-notes", "--stat", "--patch", "--format=fuller", sha, "--")
	return strings.ToValidUTF8(string(out), "\ufffd"), err
}

// Diff compares two commits or trees: all files, or those of the paths from the root of the
// repository. options are those of git diff about its output.
func Diff(ctx context.Context, dir, from, to string, options, paths []string, env ...string) ([]byte, error) {
	args := slices.Concat([]string{"diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"}, options, []string{from, to, "--"})
	for _, path := range paths {
		args = append(args, ":(top,literal)"+path)
	}
	out, err := In(dir, env...).Read(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("compare the work trees: %w", err)
	}
	return out, nil
}
