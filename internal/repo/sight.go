package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Stat is the size of a difference. Lines of binary files are not counted.
type Stat struct {
	Files, Insertions, Deletions int
}

// A Sight is what a look at a working tree showed.
type Sight struct {
	Root      string
	Head      string // the commit's full name; empty when nothing has been committed on this branch yet
	Branch    string // empty when HEAD is detached
	Operation string // merge, rebase, am, cherry-pick or revert, when one is in progress

	// Dirty: something differs from HEAD on disk or in the index, or is untracked and not ignored.
	Dirty bool
	// Unmerged counts the files with conflicts.
	Unmerged int
	// Fingerprint stands for the difference between HEAD and the working tree: 64 hexadecimal digits, also of a clean one. It
	// covers each path that Dirty speaks of, with what HEAD has there and what lies on the disk. Adding a new file to the index
	// does not change it; committing does. In a repository inside, it covers the commit and that repository's fingerprint.
	Fingerprint string
	// Partial: some of it entered the fingerprint as size and time of change only, or could not be read.
	Partial bool
	// Stat counts the paths, and the lines against HEAD. All lines of an untracked file are insertions.
	Stat
}

// See looks at the working tree around dir. It takes three calls of git, or four where something tracked has changed, as many again
// for each submodule, and reads the changed files, 128 MiB at most. It ends with ctx, and after a minute with an error that satisfies
// errors.Is with context.DeadlineExceeded. git has the environment env, or this process's where it is empty. Without git or a repository the error satisfies [Absent].
func See(ctx context.Context, dir string, env ...string) (Sight, error) {
	ctx, cancel := bounded(ctx, lookTime)
	defer cancel()
	s, err := lookAt(dir, env...).see(ctx)
	if err != nil {
		return Sight{}, fmt.Errorf("look at the repository: %w", err)
	}
	return s, nil
}

// A look is at one working tree; those inside it share its budget.
type look struct {
	git
	budget *budget
	depth  int // how deep repositories may still stand in one another
}

// lookAt reads for less than a tenth of a second where the processor knows SHA-256, and half a second elsewhere.
func lookAt(dir string, env ...string) look {
	return look{git: here(dir, env...), budget: &budget{file: 16 << 20, bytes: 128 << 20, nested: 16, seen: map[string]seen{}}, depth: 3}
}

func (l look) see(ctx context.Context) (Sight, error) {
	at, err := l.locate(ctx)
	if err != nil {
		return Sight{}, err
	}
	// Some git commands and settings count from the folder that they are called in.
	if l.git, err = l.in(at.root).withoutFilters(ctx); err != nil {
		return Sight{}, err
	}
	st, err := l.status(ctx)
	if err != nil {
		return Sight{}, err
	}
	changed, err := l.changedModules(ctx, at.root, st.entries)
	if err != nil {
		return Sight{}, err
	}
	tracked := slices.ContainsFunc(st.entries, func(e entry) bool { return e.kind != '?' })
	st.entries = append(st.entries, changed...)
	s := Sight{Root: at.root, Head: st.head, Branch: st.branch, Dirty: len(st.entries) > 0}
	s.Operation, _ = at.operation()
	for _, e := range st.entries {
		if e.kind == 'u' {
			s.Unmerged++
		}
	}
	if tracked {
		if s.Stat, err = l.againstHead(ctx, st.head); err != nil {
			return Sight{}, err
		}
	}
	found, err := l.fingerprint(ctx, at.root, st.entries)
	if err != nil {
		return Sight{}, err
	}
	s.Fingerprint, s.Partial = found.sum(), found.partial
	s.Files = len(st.entries)
	s.Insertions += found.newLines
	return s, nil
}

// changedModules are the submodules in which something is not committed, and which are not known as changed already.
func (l look) changedModules(ctx context.Context, root string, known []entry) ([]entry, error) {
	paths, err := l.modules(ctx, root)
	if err != nil {
		return nil, err
	}
	var changed []entry
	for _, path := range paths {
		name := filepath.ToSlash(path)
		is := func(e entry) bool { return strings.TrimSuffix(e.path, "/") == name }
		if isOwn(name) || slices.ContainsFunc(known, is) || !isRepository(filepath.Join(root, path)) {
			continue
		}
		s, err := l.inside(ctx, filepath.Join(root, path))
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

// errDeep says that a repository stands too deep in others, or that too many were looked at.
var errDeep = errors.New("too deep inside, or one too many")

// inside looks at a repository inside this one, once in a look.
func (l look) inside(ctx context.Context, path string) (Sight, error) {
	if was, ok := l.budget.seen[path]; ok {
		return was.Sight, was.err
	}
	if l.depth <= 0 || l.budget.nested <= 0 {
		return Sight{}, errDeep
	}
	l.budget.nested--
	s, err := look{git: l.in(path), budget: l.budget, depth: l.depth - 1}.see(ctx)
	l.budget.seen[path] = seen{s, err}
	return s, err
}

// againstHead counts what is tracked. What a submodule holds that is not committed there is a matter of the submodule.
func (g git) againstHead(ctx context.Context, head string) (Stat, error) {
	base, err := g.treeOf(ctx, head)
	if err != nil {
		return Stat{}, err
	}
	return g.shortstat(ctx, "diff-index", "--ignore-submodules=dirty", base)
}

// between counts the difference of two commits; from may be empty.
func (g git) between(ctx context.Context, from, to string) (Stat, error) {
	base, err := g.treeOf(ctx, from)
	if err != nil {
		return Stat{}, err
	}
	return g.shortstat(ctx, "diff-tree", "-r", base, to)
}

// treeOf returns a name for what a commit holds, which is an empty folder where there is no commit. The empty folder's name depends
// on the repository's kind of hash.
func (g git) treeOf(ctx context.Context, commit string) (string, error) {
	if commit != "" {
		return commit, nil
	}
	return g.line(ctx, "hash-object", "-t", "tree", "--stdin")
}

func (g git) shortstat(ctx context.Context, verb string, args ...string) (Stat, error) {
	full := append([]string{verb, "-M", "--shortstat", "--no-ext-diff", "--no-textconv"}, args...)
	line, err := g.line(ctx, append(append(full, "--"), withoutOwn...)...)
	if err != nil {
		return Stat{}, err
	}
	return parseShortstat(line)
}

// parseShortstat reads " 3 files changed, 10 insertions(+), 2 deletions(-)", in which each part may be missing.
func parseShortstat(line string) (Stat, error) {
	var s Stat
	for part := range strings.SplitSeq(line, ",") {
		number, word, _ := strings.Cut(strings.TrimSpace(part), " ")
		if number == "" && word == "" {
			continue
		}
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 0:
			return Stat{}, fmt.Errorf("read git's count of changes: %.80q", line)
		case strings.HasPrefix(word, "file"):
			s.Files = n
		case strings.HasPrefix(word, "insertion"):
			s.Insertions = n
		case strings.HasPrefix(word, "deletion"):
			s.Deletions = n
		}
	}
	return s, nil
}
