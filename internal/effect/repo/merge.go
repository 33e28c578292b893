package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	ErrInTheWay  = errors.New("files of the merge are here, and are not committed")
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
	ctx, cancel := bounded(ctx, worktreeTime)
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
	at, err := g.locate(ctx)
	if err != nil {
		return err
	}
	if op, abort := at.operation(); op != "" {
		return &Error{Doing: "git " + op, Err: fmt.Errorf("it is %w", ErrUnfinished), hint: "finish it, or call it off with '" + abort + "'"}
	}
	// A merge whose ralph was killed ends by itself: its git goes on.
	if err := waitForLock(ctx, at, mergeWait); err != nil {
		return &Error{Doing: "git merge", Err: err, hint: lockHint(at)}
	}
	ref, err := g.line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if exitCode(err) == 1 {
		return ErrDetached
	}
	if err != nil {
		return err
	}
	m.Into = strings.TrimPrefix(ref, "refs/heads/")
	if m.Before, err = g.line(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); exitCode(err) == 1 {
		return ErrUnborn
	} else if err != nil {
		return err
	}
	if m.From, err = g.line(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}"); err != nil {
		return err
	}
	count, err := g.line(ctx, "rev-list", "--count", m.From, "^"+m.Before)
	if err != nil {
		return err
	}
	if m.Commits, err = strconv.Atoi(count); err != nil {
		return err
	}
	if m.Commits == 0 {
		return ErrMerged
	}
	_, err = g.read(ctx, "merge-base", "--is-ancestor", m.Before, m.From)
	if m.FF = err == nil; !m.FF && exitCode(err) != 1 {
		return err
	}
	if !m.FF && how == MergeFF {
		return ErrNotFF
	}
	if m.FF && (how == MergeAuto || how == MergeFF) {
		m.Result = m.From
		m.Tree, err = g.line(ctx, "rev-parse", m.From+"^{tree}")
		return err
	}
	return m.make(ctx, g, how, message)
}

// make makes the commit of a merge that is no fast-forward.
func (m *Merge) make(ctx context.Context, g git, how, message string) error {
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
	m.Result, err = g.commitTree(ctx, tree, message, parents...)
	if exitCode(err) > 0 {
		return &Error{Doing: "git commit-tree", Err: err, hint: "set user.name and user.email in git's settings"}
	}
	return err
}

// mergeTree merges two commits into a tree. The conflicts are the names of files.
func (g git) mergeTree(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	out, err := g.readFailed(ctx, 1, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
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
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	g, err := gitIn(dir, env...).withoutDrivers(ctx)
	if err != nil {
		return false, err
	}
	head, err := g.line(ctx, "rev-parse", "--verify", "HEAD^{tree}")
	if err != nil {
		return false, err
	}
	tree, conflicts, err := g.mergeTree(ctx, "HEAD", commit)
	return err == nil && len(conflicts) == 0 && tree == head, err
}

// withoutDrivers returns a git that merges files itself, whatever drivers are set
// (gitattributes(5), "merge").
func (g git) withoutDrivers(ctx context.Context) (git, error) {
	out, err := g.read(ctx, "config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`)
	if err != nil && exitCode(err) != 1 {
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
		g.env = configured(g.env, settings)
	}
	return g, nil
}

// Apply moves the branch and the files around dir to the result. Uncommitted changes and ignored
// files stay; if one of them is in the way of a file of the merge, nothing is changed and the error
// names it. The person's filters
// run, such as Git LFS, and no hook. A branch that has moved since the plan is an error.
func (m Merge) Apply(ctx context.Context, dir string, env ...string) error {
	ctx, cancel := bounded(ctx, worktreeTime)
	defer cancel()
	g := gitIn(dir, env...)
	g.limit = worktreeTime
	now, err := g.head(ctx)
	if err == nil && now != m.Before {
		err = fmt.Errorf("the branch %s has moved meanwhile", m.Into)
	}
	var names []string
	if err == nil {
		names, err = m.inTheWay(ctx, g)
	}
	if err == nil && len(names) == 0 {
		own := g
		own.env = append(slices.Clone(g.env), "GIT_REFLOG_ACTION=ralph merge")
		_, err = own.read(ctx, "merge", "--ff-only", "--no-overwrite-ignore", "--quiet", "--no-stat", m.Result)
	}
	if names = append(names, overwritten(err)...); len(names) > 0 {
		err = fmt.Errorf("%w: %s", ErrInTheWay, strings.Join(names, ", "))
	}
	if err != nil {
		err = fmt.Errorf("merge: %w", err)
	}
	return err
}

// inTheWay returns what is on the disk where the merge adds files, and what git would remove:
// pipes, sockets and devices in a folder there, which git does not see, and files in a sparse work
// tree, where git overwrites ignored ones in spite of --no-overwrite-ignore (2.39.5).
func (m Merge) inTheWay(ctx context.Context, g git) (names []string, err error) {
	sparse, err := g.line(ctx, "config", "--type=bool", "--default=false", "--get", "core.sparseCheckout")
	if err != nil {
		return nil, err
	}
	at, err := g.locate(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	added, err := g.read(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", m.Before, m.Result)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(added), "\x00"), "\x00") {
		names = append(names, unseenIn(root, file)...)
		name := firstFile(root, file)
		if name == "" || sparse != "true" || seen[name] {
			continue
		}
		seen[name] = true
		others, err := g.read(ctx, "ls-files", "--others", "-z", "--", ":(top,literal)"+name)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

// unseenIn returns the pipes, sockets and devices at a name and below it.
func unseenIn(root *os.Root, name string) (unseen []string) {
	_ = fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && kindOf(entry.Type()) != "" {
			unseen = append(unseen, at)
		}
		return nil // what cannot be read git cannot remove
	})
	return unseen
}

// firstFile returns what is at name, or in the place of a folder above it; empty if nothing is.
func firstFile(root *os.Root, name string) string {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil {
			return "" // nothing is there, or git will say why it cannot be read
		}
		if i == len(name) || !info.IsDir() {
			return name[:i]
		}
	}
	return ""
}

// overwritten returns the files with uncommitted changes for which git refused a merge.
func overwritten(err error) (names []string) {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return nil
	}
	for line := range strings.Lines(refused.Output) {
		if name, ok := strings.CutPrefix(line, "\t"); ok { // git names each on a line of its own
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// SameTree reports whether the work tree around dir has the files of a tree, with nothing
// uncommitted.
func SameTree(ctx context.Context, dir, tree string, env ...string) (bool, error) {
	work, err := InspectWork(ctx, dir, env...)
	if err != nil || work.Changes > 0 {
		return false, err
	}
	is, err := gitIn(dir, env...).line(ctx, "rev-parse", work.Head+"^{tree}")
	return is == tree, err
}

// AddCommitWorktree makes a linked work tree at path with a commit and no branch, as [AddWorktree]
// does.
func AddCommitWorktree(ctx context.Context, dir, path, commit string, env ...string) error {
	g, err := unfiltered(ctx, dir, env)
	if err == nil {
		_, err = g.read(ctx, "worktree", "add", "--quiet", "--detach", path, commit)
	}
	if err != nil {
		return fmt.Errorf("make a worktree of commit %.12s: %w", commit, errors.Join(err, os.RemoveAll(path)))
	}
	return nil
}
