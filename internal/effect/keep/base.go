package keep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const (
	maxIndex = 1 << 30  // bytes of the index
	maxRules = 16 << 20 // bytes of a file with rules for ignored files
)

// keepTime bounds one [WorkTree] or one [Base.Undo], all of its calls together.
const keepTime = 5 * time.Minute

// A Base is a working tree as it was at one moment: HEAD, the index and all files that are not
// ignored, kept as git objects under a ref.
type Base struct {
	Ref string // it names a commit with the files; its parents are HEAD, if there was one, and the index

	dir    string
	env    []string
	commit string
	moment
}

// WorkTree keeps the working tree around dir under the name ref, which must not exist, such as
// refs/ralph/demo/review-3-before. Neither the index, the stash, a branch nor a file is changed.
//
// Files of more than 32 MiB, files of more than 1 MiB that a filter such as Git LFS changes, and
// repositories inside are not kept. A later [Base.Undo] reports if they changed.
//
// It reads all files and ends with ctx, and after five minutes with an error that satisfies
// errors.Is with context.DeadlineExceeded. It runs no program that the repository names. Without
// git or a repository the error satisfies [repo.Absent]. In an operation that waits to be finished,
// such as a merge, it is [repo.ErrUnfinished] or [repo.ErrUnmerged]; in a person's home folder
// itself [ErrHome].
func WorkTree(ctx context.Context, dir, ref string, env ...string) (*Base, error) {
	ctx, cancel := repo.Bounded(ctx, keepTime)
	defer cancel()
	k, commit, err := commitNow(ctx, dir, "The work tree as it was.", env)
	if err == nil {
		defer k.close()
		err = k.makeRef(ctx, ref, commit)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the work tree as it is: %w", err)
	}
	return &Base{ref, dir, env, commit, k.moment}, nil
}

// commitNow makes a commit of the work tree around dir, which has no ref yet.
func commitNow(ctx context.Context, dir, message string, env []string) (k *keeper, commit string, err error) {
	if k, err = read(ctx, dir, env, nil); err != nil {
		return nil, "", err
	}
	if commit, err = k.commit(ctx, message); err != nil {
		k.close()
	}
	return k, commit, err
}

func (k *keeper) close() { _ = k.root.Close() } // nothing was written through it

// read writes files and index into git, without a ref. before is nil for a base.
func read(ctx context.Context, dir string, env []string, before *moment) (*keeper, error) {
	g, at, err := locate(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	if before != nil && at != before.at {
		return nil, fmt.Errorf("%w: %s instead of %s", ErrOtherTree, at.Root, before.at.Root)
	}
	if before == nil && isHome(at.Root, g.Env) {
		return nil, fmt.Errorf("%w: %s", ErrHome, at.Root)
	}
	if err := at.CheckFinished(); err != nil {
		return nil, err
	}
	head, branch, err := g.In(at.Root).HeadAndBranch(ctx)
	if err != nil {
		return nil, err
	}
	k, err := newKeeper(ctx, g, at, before, head)
	if err != nil {
		return nil, err
	}
	k.head, k.branch = head, branch
	if err := k.read(ctx); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// isHome reports whether a folder is a person's home folder.
func isHome(root string, env []string) bool {
	for _, entry := range env {
		name, home, _ := strings.Cut(entry, "=")
		if name != "HOME" && name != "USERPROFILE" || !filepath.IsAbs(home) {
			continue
		}
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		if filepath.Clean(home) == root {
			return true
		}
	}
	return false
}

func (k *keeper) read(ctx context.Context) (err error) {
	if k.tree, err = k.writeTree(ctx); err != nil {
		return err
	}
	if k.index, err = k.indexTree(ctx); err != nil {
		return err
	}
	k.ignores, err = k.ignoreRules(ctx)
	return err
}

// indexTree returns a tree with the content of the index.
func (k *keeper) indexTree(ctx context.Context) (string, error) {
	content, err := safefile.ReadLinked(filepath.Join(k.at.GitDir, "index"), maxIndex)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("keep the index: %w", err)
	}
	own, remove, err := k.ownIndex(content)
	if err != nil {
		return "", err
	}
	defer remove()
	return own.Line(ctx, "write-tree", "--missing-ok")
}

// ignoreRules identifies the rules for ignored files outside of the working tree.
func (k *keeper) ignoreRules(ctx context.Context) (string, error) {
	h := sha256.New()
	paths := []string{filepath.Join(repo.SharedDir(k.at.GitDir), "info", "exclude")}
	if k.excludes {
		named, err := k.Line(ctx, "config", "--type=path", "--get", "core.excludesFile")
		if err != nil && repo.ExitCode(err) != 1 {
			return "", err
		}
		if named != "" {
			paths = append(paths, repo.ResolvePath(k.at.Root, named))
		}
	}
	for _, name := range paths {
		content, err := safefile.ReadLinked(name, maxRules)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(content), content)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// commit makes a commit of the files. Its parents are HEAD, the index and more.
func (k *keeper) commit(ctx context.Context, message string, more ...string) (string, error) {
	own := k.WithOwnIdentity()
	var parents []string
	if k.head != "" {
		parents = append(parents, "-p", k.head)
	}
	index, err := own.CommitTree(ctx, k.index, "The index.", parents...)
	if err != nil {
		return "", err
	}
	for _, parent := range append([]string{index}, more...) {
		parents = append(parents, "-p", parent)
	}
	if message, err = k.addNotes(message); err != nil {
		return "", err
	}
	return own.CommitTree(ctx, k.tree, message, parents...)
}

// Drop removes the base's ref. git removes the objects later, if nothing else names them.
func (b *Base) Drop(ctx context.Context) error {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	if err := gitIn(b.dir, b.env).removeRef(ctx, b.Ref, b.commit); err != nil {
		return fmt.Errorf("remove the ref %s: %w", b.Ref, err)
	}
	return nil
}

// Unfinished returns the refs of bases that were neither dropped nor undone, by the beginning and
// the end of their names, and renames them without that end, so that each is returned once. Time
// and environment are as in [repo.TakeSnapshot].
func Unfinished(ctx context.Context, dir, prefix, suffix string, env ...string) ([]string, error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	g := gitIn(dir, env)
	at, err := g.Locate(ctx)
	if err != nil {
		return nil, fmt.Errorf("find kept work trees: %w", err)
	}
	found, err := g.in(at.Root).finishRefs(ctx, prefix, func(ref string) string { return strings.TrimSuffix(ref, suffix) })
	if err != nil {
		err = fmt.Errorf("find kept work trees: %w", err)
	}
	return found, err
}
