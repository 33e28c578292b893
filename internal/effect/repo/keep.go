package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// keepTime bounds one [Keep] or one [Base.Undo], all of its calls together.
const keepTime = 5 * time.Minute

// A Base is a working tree as it was at one moment: HEAD, the index and all files that are not
// ignored, kept as git objects under a ref.
type Base struct {
	Ref    string // it names a commit with the files; its parents are HEAD, if there was one, and the index
	Head   string // the commit; empty if nothing was committed yet
	Branch string // the ref that HEAD names; empty if it names a commit

	dir     string
	env     []string
	commit  string
	tree    string // the files, byte for byte
	index   string
	ignores string // identifies the rules for ignored files that are not in the working tree
	kept
}

// Keep keeps the working tree around dir under the name ref, which must not exist, such as
// refs/ralph/demo/review-3-before. Neither the index, the stash, a branch nor a file is changed.
//
// Files of more than 32 MiB, files of more than 1 MiB that a filter such as Git LFS changes, and
// repositories inside are not kept. A later [Base.Undo] reports if they changed.
//
// It reads all files and ends with ctx, and after five minutes with an error that satisfies
// errors.Is with context.DeadlineExceeded. It runs no program that the repository names. Without
// git or a repository the error satisfies [Absent]. In an operation that waits to be finished, such
// as a merge, it is [ErrUnfinished] or [ErrUnmerged]; in a person's home folder itself [ErrHome].
func Keep(ctx context.Context, dir, ref string, env ...string) (*Base, error) {
	ctx, cancel := bounded(ctx, keepTime)
	defer cancel()
	b := &Base{Ref: ref, dir: dir, env: env}
	if err := b.keep(ctx); err != nil {
		return nil, fmt.Errorf("keep the work tree as it is: %w", err)
	}
	return b, nil
}

func (b *Base) keep(ctx context.Context) error {
	s, err := takeState(ctx, b.dir, b.env, nil)
	if err != nil {
		return err
	}
	defer s.close()
	b.Head, b.Branch, b.tree, b.index, b.ignores, b.kept = s.head, s.branch, s.tree, s.index, s.ignores, s.kept
	b.commit, err = s.commit(ctx, "The work tree as it was.")
	if err != nil {
		return err
	}
	return s.makeRef(ctx, b.Ref, b.commit)
}

// A state is a working tree at this moment.
type state struct {
	*keeper
	head, branch, tree, index, ignores string
}

func (s *state) close() { _ = s.root.Close() } // nothing was written through it

// takeState keeps files and index, without a ref. before is nil for a base.
func takeState(ctx context.Context, dir string, env []string, before *kept) (*state, error) {
	g := gitIn(dir, env...)
	g.limit = keepTime
	g.env = append(slices.Clip(g.env), "GIT_NO_REPLACE_OBJECTS=1")
	at, err := g.locate(ctx)
	if err != nil {
		return nil, err
	}
	if before != nil && at != before.at {
		return nil, fmt.Errorf("%w: %s instead of %s", ErrOtherTree, at.root, before.at.root)
	}
	if before == nil && isHome(at.root, g.env) {
		return nil, fmt.Errorf("%w: %s", ErrHome, at.root)
	}
	if op, abort := at.operation(); op != "" {
		return nil, &Error{Doing: "git " + op, Err: fmt.Errorf("it is %w", ErrUnfinished), hint: "finish it, or call it off with '" + abort + "'"}
	}
	head, branch, err := g.in(at.root).headAndBranch(ctx)
	if err != nil {
		return nil, err
	}
	k, err := newKeeper(ctx, g, at, before, head)
	if err != nil {
		return nil, err
	}
	s := &state{keeper: k, head: head, branch: branch}
	if err := s.take(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
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

func (s *state) take(ctx context.Context) (err error) {
	if s.tree, err = s.keeper.tree(ctx); err != nil {
		return err
	}
	if s.index, err = s.indexTree(ctx); err != nil {
		return err
	}
	s.ignores, err = s.ignoreRules(ctx)
	return err
}

// indexTree returns a tree with the content of the index.
func (s *state) indexTree(ctx context.Context) (string, error) {
	saved, err := saveIndex(s.at)
	if err != nil {
		return "", err
	}
	if saved.info == nil {
		return s.build(ctx, "", nil)
	}
	own, remove, err := s.ownIndex(saved.content)
	if err != nil {
		return "", err
	}
	defer remove()
	return own.line(ctx, "write-tree", "--missing-ok")
}

// ignoreRules identifies the rules for ignored files outside of the working tree.
func (s *state) ignoreRules(ctx context.Context) (string, error) {
	h := sha256.New()
	paths := []string{filepath.Join(sharedDir(s.at.gitDir), "info", "exclude")}
	if s.excludes {
		named, err := s.line(ctx, "config", "--type=path", "--get", "core.excludesFile")
		if err != nil && exitCode(err) != 1 {
			return "", err
		}
		if named != "" {
			paths = append(paths, within(s.at.root, named))
		}
	}
	for _, name := range paths {
		content, err := safefile.ReadLinked(name, maxConfig)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(content), content)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ownIdentity is that of commits which no branch has, and of others where git does not know a
// person.
var ownIdentity = []string{
	"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph@localhost",
}

// commit makes a commit of the files. Its parents are HEAD, the index and more.
func (s *state) commit(ctx context.Context, message string, more ...string) (string, error) {
	own := s.git
	own.env = append(append([]string{}, own.env...), ownIdentity...)
	var parents []string
	if s.head != "" {
		parents = append(parents, "-p", s.head)
	}
	index, err := own.commitTree(ctx, s.index, "The index.", parents...)
	if err != nil {
		return "", err
	}
	for _, parent := range append([]string{index}, more...) {
		parents = append(parents, "-p", parent)
	}
	if message, err = s.besides(message); err != nil {
		return "", err
	}
	return own.commitTree(ctx, s.tree, message, parents...)
}

func (g git) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree"}, parents...)
	out, err := g.feed(ctx, []byte(message+"\n"), append(args, tree)...)
	return strings.TrimSpace(string(out)), err
}

// makeRef makes a ref that must not exist.
func (g git) makeRef(ctx context.Context, ref, commit string) error {
	_, err := g.read(ctx, "update-ref", "--no-deref", ref, commit, strings.Repeat("0", len(commit)))
	return err
}

// Drop removes the base's ref. git removes the objects later, if nothing else names them.
func (b *Base) Drop(ctx context.Context) error {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	if _, err := gitIn(b.dir, b.env...).read(ctx, "update-ref", "--no-deref", "-d", b.Ref, b.commit); err != nil {
		return fmt.Errorf("remove the ref %s: %w", b.Ref, err)
	}
	return nil
}

// Unfinished returns the refs of bases that were neither dropped nor undone, by the beginning and
// the end of their names, and renames them without that end, so that each is returned once. Time
// and environment are as in [TakeSnapshot].
func Unfinished(ctx context.Context, dir, prefix, suffix string, env ...string) ([]string, error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	g := gitIn(dir, env...)
	at, err := g.locate(ctx)
	if err != nil {
		return nil, fmt.Errorf("find kept work trees: %w", err)
	}
	g = g.in(at.root)
	out, err := g.line(ctx, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
	if err != nil {
		return nil, fmt.Errorf("find kept work trees: %w", err)
	}
	var found []string
	for line := range strings.Lines(out) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, ok := strings.CutSuffix(ref, suffix)
		if !ok {
			continue
		}
		kept, err := g.makeFreeRef(ctx, name, commit)
		if err == nil {
			_, err = g.read(ctx, "update-ref", "--no-deref", "-d", ref, commit)
		}
		if err != nil {
			return found, fmt.Errorf("rename the ref %s: %w", ref, err)
		}
		found = append(found, kept)
	}
	return found, nil
}
