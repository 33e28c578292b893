package repo

import (
	"context"
	"errors"
	"fmt"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Stat is the size of a difference. Lines of binary files are not counted.
type Stat struct {
	Files, Insertions, Deletions int
}

// A Snapshot is the state of a working tree.
type Snapshot struct {
	// Head is the commit's full name; empty when nothing has been committed on this branch yet.
	Head string
	// Branch is the branch that is checked out; HEAD if none is.
	Branch string
	// Dirty: something differs from HEAD on disk or in the index, or is untracked and not ignored.
	Dirty bool
	// Fingerprint identifies the difference between HEAD and the working tree: 64 hexadecimal
	// digits, also of a clean one. It covers each path that makes the tree dirty, with its content
	// in HEAD and on the disk. Adding a new file to the index does not change it; committing does.
	// For a nested repository it covers the commit and that repository's fingerprint.
	Fingerprint string
	// Partial: some of it entered the fingerprint as size and time of change only, or could not be
	// read.
	Partial bool
	// Stat counts the paths, and the lines against HEAD. All lines of an untracked file are
	// insertions.
	Stat
}

// TakeSnapshot inspects the working tree around dir. It calls git three times, or four if a tracked
// file has changed, as often again for each submodule, and reads the changed files, 128 MiB at
// most. It ends with ctx, and after a minute with an error that satisfies errors.Is with
// context.DeadlineExceeded. git has the environment env, or this process's if that is empty.
// Without git or a repository the error satisfies [Absent].
func TakeSnapshot(ctx context.Context, dir string, env ...string) (Snapshot, error) {
	return inspectBounded(ctx, NewInspector(dir, env...).snapshot)
}

// EachSnapshot calls seen for each working tree of [Repos], with its snapshot or why there is none.
func EachSnapshot(ctx context.Context, dir string, seen func(root string, s Snapshot, err error), env ...string) error {
	roots, around, err := findRepos(ctx, dir, env)
	if err != nil {
		return err
	}
	for i, root := range roots {
		l := NewInspector(root, env...)
		read := l.snapshot
		if i == 0 && around { // git has just said where its root is
			read = func(ctx context.Context) (Snapshot, error) { return l.snapshotOf(ctx, root) }
		}
		s, err := inspectBounded(ctx, read)
		seen(root, s, err)
	}
	return nil
}

func inspectBounded(ctx context.Context, read func(context.Context) (Snapshot, error)) (Snapshot, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	s, err := read(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("inspect the repository: %w", err)
	}
	return s, nil
}

// An Inspector inspects one working tree. Nested ones share its budget.
type Inspector struct {
	Git
	budget *budget
	depth  int // how many more levels of nested repositories are inspected
}

// NewInspector returns an inspector whose reading takes less than 0.1 s on a processor with SHA-256
// instructions, else 0.5 s.
func NewInspector(dir string, env ...string) Inspector {
	return Inspector{Git: In(dir, env...), budget: &budget{file: 16 << 20, bytes: 128 << 20, repositories: 16, results: map[string]nestedResult{}}, depth: 3}
}

func (l Inspector) snapshot(ctx context.Context) (Snapshot, error) {
	at, err := l.Locate(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	return l.snapshotOf(ctx, at.Root)
}

// snapshotOf is the snapshot of the working tree with this root.
func (l Inspector) snapshotOf(ctx context.Context, root string) (s Snapshot, err error) {
	// In some git commands and settings, paths are relative to the current folder.
	if l.Git, err = l.In(root).WithoutFilters(ctx); err != nil {
		return Snapshot{}, err
	}
	st, err := l.status(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	changed, err := l.changedModules(ctx, root, st.entries)
	if err != nil {
		return Snapshot{}, err
	}
	tracked := slices.ContainsFunc(st.entries, func(e entry) bool { return e.kind != '?' })
	st.entries = append(st.entries, changed...)
	s = Snapshot{Head: st.head, Branch: st.branch, Dirty: len(st.entries) > 0}
	if tracked {
		if s.Stat, err = l.againstHead(ctx, st.head); err != nil {
			return Snapshot{}, err
		}
	}
	found, err := l.fingerprint(ctx, root, st.entries)
	if err != nil {
		return Snapshot{}, err
	}
	s.Fingerprint, s.Partial = found.sum(), found.partial
	s.Files = len(st.entries)
	s.Insertions += found.newLines
	return s, nil
}

// changedModules returns the submodules with uncommitted changes that are not in known.
func (l Inspector) changedModules(ctx context.Context, root string, known []entry) ([]entry, error) {
	paths, err := l.modules(ctx, root)
	if err != nil {
		return nil, err
	}
	var changed []entry
	for _, path := range paths {
		name := filepath.ToSlash(path)
		is := func(e entry) bool { return strings.TrimSuffix(e.path, "/") == name }
		if IsOwn(name) || slices.ContainsFunc(known, is) || !IsRepository(filepath.Join(root, path)) {
			continue
		}
		s, err := l.Nested(ctx, filepath.Join(root, path))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || s.Dirty {
			changed = append(changed, entry{kind: '1', path: name, headMode: moduleMode, module: true})
		}
	}
	return changed, nil
}

const moduleMode = "160000"

// errTooNested says that a repository is nested too deeply, or that too many were inspected.
var errTooNested = errors.New("too deep inside, or one too many")

// Nested inspects a nested repository, once in a snapshot.
func (l Inspector) Nested(ctx context.Context, path string) (Snapshot, error) {
	if was, ok := l.budget.results[path]; ok {
		return was.Snapshot, was.err
	}
	if l.depth <= 0 || l.budget.repositories <= 0 {
		return Snapshot{}, errTooNested
	}
	l.budget.repositories--
	s, err := Inspector{Git: l.In(path), budget: l.budget, depth: l.depth - 1}.snapshot(ctx)
	l.budget.results[path] = nestedResult{s, err}
	return s, err
}

// againstHead counts changes of tracked files. Uncommitted changes in a submodule belong to the
// submodule.
func (g Git) againstHead(ctx context.Context, head string) (Stat, error) {
	base, err := g.TreeOf(ctx, head)
	if err != nil {
		return Stat{}, err
	}
	return g.shortstat(ctx, "diff-index", "--ignore-submodules=dirty", base)
}

// between counts the difference of two commits; from may be empty.
func (g Git) between(ctx context.Context, from, to string) (Stat, error) {
	base, err := g.TreeOf(ctx, from)
	if err != nil {
		return Stat{}, err
	}
	return g.shortstat(ctx, "diff-tree", "-r", base, to)
}

// TreeOf returns a name for a commit's tree, or the empty tree's name if there is no commit. That
// name depends on the repository's hash function.
func (g Git) TreeOf(ctx context.Context, commit string) (string, error) {
	if commit != "" {
		return commit, nil
	}
	return g.Line(ctx, "hash-object", "-t", "tree", "--stdin")
}

func (g Git) shortstat(ctx context.Context, verb string, args ...string) (Stat, error) {
	full := append([]string{verb, "-M", "--shortstat", "--no-ext-diff", "--no-textconv"}, args...)
	line, err := g.Line(ctx, append(append(full, "--"), withoutOwn...)...)
	if err != nil {
		return Stat{}, err
	}
	return parseShortstat(line)
}

var shortstat = units.Pattern(`^(?: (\d+) files? changed)?(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$`)

// parseShortstat reads " 3 files changed, 10 insertions(+), 2 deletions(-)", in which each part may
// be missing.
func parseShortstat(line string) (Stat, error) {
	found := shortstat().FindStringSubmatch(line)
	if found == nil {
		return Stat{}, fmt.Errorf("read git's count of changes: %.80q", line)
	}
	number := func(digits string) int {
		n, _ := strconv.Atoi(digits) // 0 if a part is missing
		return n
	}
	return Stat{number(found[1]), number(found[2]), number(found[3])}, nil
}
