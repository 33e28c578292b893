package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How a branch is merged.
const (
	MergeAuto   = ""       // a fast-forward where one is possible, else a merge commit
	MergeFF     = "ff"     // a fast-forward, or nothing
	MergeCommit = "merge"  // a merge commit in any case
	MergeSquash = "squash" // one commit with all changes
)

// Reasons why a branch is not merged.
var (
	ErrMerged    = errors.New("it is merged already")
	ErrNotFF     = errors.New("a fast-forward is not possible")
	ErrDetached  = errors.New("no branch is checked out")
	ErrUnborn    = errors.New("that branch has no commit yet")
	ErrConflicts = errors.New("there are conflicts")
)

// mergeWait is how long another git may lock the index.
const mergeWait = 20 * time.Second

// A Merge is the result of a merge, as a commit that no branch has yet.
type Merge struct {
	Into    string // the branch that is checked out, without refs/heads/
	Before  string // its commit
	From    string // the merged commit
	Result  string // the commit after the merge
	Tree    string // of Result
	Commits int    // of From that Before does not have
	FF      bool   // Result is From
	// Conflicts are the files of an ErrConflicts.
	Conflicts []string
}

// PlanMerge merges a commit with the branch that is checked out around dir, and changes neither
// that branch nor a file. message is that of a merge commit or a squashed one. An error may be one
// of the above, [ErrUnfinished] or [ErrUnmerged]. No hook, filter or merge driver runs.
func PlanMerge(ctx context.Context, dir, commit, how, message string, env ...string) (Merge, error) {
	ctx, cancel := Bounded(ctx, WorktreeTime)
	defer cancel()
	var m Merge
	err := m.plan(ctx, dir, commit, how, message, env)
	if err != nil {
		err = fmt.Errorf("merge: %w", err)
	}
	return m, err
}

func (m *Merge) plan(ctx context.Context, dir, commit, how, message string, env []string) error {
	g, err := unfiltered(ctx, dir, env)
	if err != nil {
		return err
	}
	at, err := g.Locate(ctx)
	if err != nil {
		return err
	}
	if err := at.CheckFinished(); err != nil {
		return err
	}
	// A merge whose ralph was killed ends by itself: its git goes on.
	if err := at.WaitForLock(ctx, "git merge", mergeWait); err != nil {
		return err
	}
	ref, err := g.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if ExitCode(err) == 1 {
		return ErrDetached
	}
	if err != nil {
		return err
	}
	m.Into = strings.TrimPrefix(ref, "refs/heads/")
	if m.Before, err = g.Line(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); ExitCode(err) == 1 {
		return ErrUnborn
	} else if err != nil {
		return err
	}
	if m.From, err = g.Line(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}"); err != nil {
		return err
	}
	count, err := g.Line(ctx, "rev-list", "--count", m.From, "^"+m.Before)
	if err != nil {
		return err
	}
	if m.Commits, err = strconv.Atoi(count); err != nil {
		return err
	}
	if m.Commits == 0 {
		return ErrMerged
	}
	_, err = g.Read(ctx, "merge-base", "--is-ancestor", m.Before, m.From)
	if m.FF = err == nil; !m.FF && ExitCode(err) != 1 {
		return err
	}
	if !m.FF && how == MergeFF {
		return ErrNotFF
	}
	if m.FF && (how == MergeAuto || how == MergeFF) {
		m.Result = m.From
		m.Tree, err = g.Line(ctx, "rev-parse", m.From+"^{tree}")
		return err
	}
	return m.make(ctx, g, how, message)
}

// make makes the commit of a merge that is no fast-forward.
func (m *Merge) make(ctx context.Context, g Git, how, message string) error {
	m.FF = false
	plain, err := g.withoutDrivers(ctx)
	if err != nil {
		return err
	}
	// It exits with 1 after a conflict, and what it prints is needed then.
	tree, conflicts, err := plain.mergeTree(ctx, m.Before, m.From)
	if err != nil {
		return err
	}
	if len(conflicts) > 0 {
		m.Conflicts = conflicts
		return ErrConflicts
	}
	m.Tree = tree
	parents := []string{"-p", m.Before}
	if how != MergeSquash {
		parents = append(parents, "-p", m.From)
	}
	m.Result, err = g.CommitTree(ctx, tree, message, parents...)
	if ExitCode(err) > 0 {
		return &Error{Doing: "git commit-tree", Err: err, hint: "set user.name and user.email in git's settings"}
	}
	return err
}

// mergeTree merges two commits into a tree. The conflicts are the names of files.
func (g Git) mergeTree(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	out, err := g.ReadFailed(ctx, 1, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	if err != nil {
		return "", nil, err
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	conflicts = slices.DeleteFunc(names[1:], func(name string) bool { return name == "" })
	slices.Sort(conflicts)
	return names[0], slices.Compact(conflicts), nil
}

// Contains reports whether the branch that is checked out in dir has all that a commit changed: a
// merge of it would change no file.
func Contains(ctx context.Context, dir, commit string, env ...string) (bool, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g, err := In(dir, env...).withoutDrivers(ctx)
	if err != nil {
		return false, err
	}
	head, err := g.Line(ctx, "rev-parse", "--verify", "HEAD^{tree}")
	if err != nil {
		return false, err
	}
	tree, conflicts, err := g.mergeTree(ctx, "HEAD", commit)
	return err == nil && len(conflicts) == 0 && tree == head, err
}

// withoutDrivers returns a git that merges files itself, whatever drivers are set
// (gitattributes(5), "merge").
func (g Git) withoutDrivers(ctx context.Context) (Git, error) {
	out, err := g.Read(ctx, "config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`)
	if err != nil && ExitCode(err) != 1 {
		return g, err
	}
	var settings [][2]string
	for key := range bytes.SplitSeq(out, []byte{0}) {
		if len(key) > 0 {
			settings = append(settings, [2]string{string(key), "git merge-file --marker-size=%L %A %O %B"})
		}
	}
	if len(settings) > maxFilters {
		return g, &Error{Doing: "git config", Err: fmt.Errorf("%d merge drivers are set: %w", len(settings), ErrTooMuch)}
	}
	if len(settings) > 0 {
		g = g.Configured(settings)
	}
	return g, nil
}

// SameTree reports whether the work tree around dir has the files of a tree, with nothing
// uncommitted.
func SameTree(ctx context.Context, dir, tree string, env ...string) (bool, error) {
	work, err := InspectWork(ctx, dir, env...)
	if err != nil || work.Changes > 0 {
		return false, err
	}
	is, err := In(dir, env...).Line(ctx, "rev-parse", work.Head+"^{tree}")
	return is == tree, err
}

// AddCommitWorktree makes a linked work tree at path with a commit and no branch, as [AddWorktree]
// does. After an error keep.DropWorktree removes what there is.
func AddCommitWorktree(ctx context.Context, dir, path, commit string, env ...string) error {
	g, err := unfiltered(ctx, dir, env)
	if err == nil {
		_, err = g.Read(ctx, "worktree", "add", "--quiet", "--detach", path, commit)
	}
	if err != nil {
		return fmt.Errorf("make a worktree of commit %.12s: %w", commit, err)
	}
	return nil
}
