package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// mostBefore is how many trees, one before the other, are needed at most beside one that was stored.
const mostBefore = 20

// Put stores the files of the loop in a folder, as they are now, as tree n of its log. A tree that
// stands there already stays: an earlier call, whose answer was lost, stored it. Only a tree that
// was put is named by a chunk, so one that no chunk names means nothing.
func Put(ctx context.Context, s store.Store, folder string, loop string, n uint64) (err error) {
	scratch, err := os.MkdirTemp("", "ralph-tree-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	file := filepath.Join(scratch, "files")
	link, since, err := before(ctx, s, loop, n)
	if err != nil {
		return err
	}
	err = export(ctx, folder, file, since)
	if err != nil && len(since) > 0 {
		// Nothing may be new in the repository, of which git makes no bundle.
		err = export(ctx, folder, file, nil)
	}
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, m, err := readHead(f)
	if err != nil {
		return err
	}
	if m.Repo == nil || len(m.Repo.Since) == 0 {
		link = Link{Version: version}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = parts.Put(ctx, s, keys.Tree(loop, n), io.MultiReader(bytes.NewReader(link.frame()), f))
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// export has ralph write the files of a loop.
func export(ctx context.Context, folder, file string, since []string) error {
	args := []string{"export", filepath.Base(folder), "--project", filepath.Dir(filepath.Dir(folder)), "--files", "-o", file}
	if len(since) > 0 {
		args = append(args, "--since", strings.Join(since, ","))
	}
	_, err := program.Run(ctx, args...)
	return err
}

// before returns the link to the last tree before n, and the commits that it has. There are none
// without such a tree, or after too many that need another.
func before(ctx context.Context, s store.Store, loop string, n uint64) (Link, []string, error) {
	last, found := uint64(0), false
	for key, err := range s.List(ctx, keys.Trees(loop), "") {
		if err != nil {
			return Link{}, nil, err
		}
		if number, ok := keys.TreeNumber(key); ok && number < n {
			last, found = number, true
		}
	}
	if !found {
		return Link{}, nil, nil
	}
	l, m, err := Head(ctx, s, loop, last)
	if err != nil || m.Repo == nil || l.Depth >= mostBefore {
		return Link{}, nil, nil // one that cannot be read is none to depend on
	}
	since := slices.AppendSeq([]string{m.Repo.Head, m.Repo.Tree}, maps.Values(m.Repo.Refs))
	slices.Sort(since)
	return Link{Version: version, Prev: last + 1, Depth: l.Depth + 1}, slices.Compact(since), nil
}
