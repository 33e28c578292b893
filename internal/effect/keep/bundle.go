package keep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// bundleTime bounds one bundle or the clone of one, all calls of git together: a large history
// takes minutes.
const bundleTime = 30 * time.Minute

// A Bundle is a repository's history, and a work tree as it was, in one file.
type Bundle struct {
	Branch string // of the work tree, without refs/heads/; empty if HEAD names a commit
	Head   string // the commit
	Tree   string // a commit with all files that are not ignored, as they are on the disk
	ID     string // the loop's
	// Refs are the loop's own in the bundle, by their names, and the commits that they name.
	Refs map[string]string
	// Since are commits that whoever reads the bundle has to have already. [WriteBundle] leaves them
	// and their history out, but for those that the repository does not have.
	Since []string
}

// MovedRef names Bundle.Tree in the file and in the repository that it is brought to.
func MovedRef(id string) string { return "refs/ralph/moved/" + id }

// LoopRefs begins the names of a loop's other refs.
func LoopRefs(id string) string { return "refs/ralph/" + id + "/" }

// ErrRefTaken reports that a repository keeps other files of a loop with that id.
var ErrRefTaken = errors.New("a loop with that id keeps other files here")

// WriteBundle writes the history of the work tree around dir to file, which must not exist: HEAD,
// its branch, the refs of the loop with that id, and the files as they are now. It changes neither
// the index, the stash, a branch nor a file. A killed WriteBundle leaves a ref, which the next one
// replaces. It ends after 30 minutes. since is as in [Bundle].
func WriteBundle(ctx context.Context, dir, file, id string, since []string, env ...string) (b Bundle, err error) {
	ctx, cancel := repo.Bounded(ctx, bundleTime)
	defer cancel()
	ref := MovedRef(id)
	g := gitIn(dir, env)
	g.Limit = bundleTime
	if at, err := g.Locate(ctx); err != nil {
		return b, fmt.Errorf("bundle the repository: %w", err)
	} else if g = g.in(at.Root); !gitHas(ctx, g, "HEAD") {
		return b, fmt.Errorf("bundle the repository: %w", repo.ErrNoCommits)
	}
	if _, err := g.Read(ctx, "update-ref", "--no-deref", "-d", ref); err != nil {
		return b, fmt.Errorf("bundle the repository: %w", err)
	}
	base, err := WorkTree(ctx, dir, ref, env...)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, base.Drop(context.WithoutCancel(ctx))) }()
	b = Bundle{ID: id, Branch: strings.TrimPrefix(base.branch, "refs/heads/"), Head: base.head, Tree: base.commit, Refs: map[string]string{}}
	wanted := []string{"HEAD", ref}
	if base.branch != "" {
		wanted = append(wanted, base.branch)
	}
	out, err := g.Line(ctx, "for-each-ref", "--format=%(refname) %(objectname)", LoopRefs(id))
	for line := range strings.Lines(out) {
		name, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		b.Refs[name] = commit
		wanted = append(wanted, name)
	}
	for _, commit := range since {
		if commit != base.commit && gitHas(ctx, g, commit) {
			b.Since = append(b.Since, commit)
			wanted = append(wanted, "^"+commit)
		}
	}
	if err == nil {
		_, err = g.Read(ctx, slices.Concat([]string{"bundle", "create", "--quiet", file}, wanted)...)
	}
	if err != nil {
		err = fmt.Errorf("bundle the repository: %w", err)
	}
	return b, err
}

// gitHas reports whether a name means a commit.
func gitHas(ctx context.Context, g git, name string) bool {
	_, err := g.Read(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	return err == nil
}

// Unbundle brings the history in a bundle to the repository around dir: its objects, the loop's
// refs, and its branch, unless a branch of that name exists. It changes neither HEAD, the index, a
// ref that exists nor a file: one with another commit is [ErrRefTaken]. made reports whether the
// branch was made.
func Unbundle(ctx context.Context, dir, file string, b Bundle, env ...string) (made bool, err error) {
	ctx, cancel := repo.Bounded(ctx, bundleTime)
	defer cancel()
	g := gitIn(dir, env)
	g.Limit = bundleTime
	at, err := g.Locate(ctx)
	if err == nil {
		made, err = g.in(at.Root).unbundle(ctx, file, b)
	}
	if err != nil {
		err = fmt.Errorf("bring the history: %w", err)
	}
	return made, err
}

func (g git) unbundle(ctx context.Context, file string, b Bundle) (made bool, err error) {
	if _, err := g.Read(ctx, "bundle", "verify", "--quiet", file); err != nil {
		return false, err
	}
	// Plumbing, because the porcelain would fetch, which this git does not.
	out, err := g.Line(ctx, "-c", "transfer.fsckObjects=true", "bundle", "unbundle", file)
	if err != nil {
		return false, err
	}
	var refs strings.Builder
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref != MovedRef(b.ID) && !strings.HasPrefix(ref, LoopRefs(b.ID)) {
			continue
		}
		switch here, err := g.Line(ctx, "rev-parse", "--verify", "--quiet", ref); {
		case repo.ExitCode(err) == 1:
			fmt.Fprintf(&refs, "create %s %s\n", ref, commit)
		case err != nil:
			return false, err
		case here != commit: // it may be the last name of a person's files
			return false, fmt.Errorf("%w: %s", ErrRefTaken, ref)
		}
	}
	if refs.Len() > 0 {
		if _, err := g.Feed(ctx, []byte(refs.String()), "update-ref", "--no-deref", "--stdin"); err != nil {
			return false, err
		}
	}
	if b.Branch == "" {
		return false, nil
	}
	name := "refs/heads/" + b.Branch
	if _, err := g.Read(ctx, "check-ref-format", name); err != nil {
		return false, err
	}
	if gitHas(ctx, g, name) {
		return false, nil
	}
	return true, g.makeRef(ctx, name, b.Head)
}

// CloneBundle makes a repository with a work tree in dir, an empty folder: HEAD, branch and files
// are those of the bundle. Files that were not committed are there and not committed. No file is
// made of a tree about which fits, given the number of its files and their bytes, returns an error.
func CloneBundle(ctx context.Context, dir, file string, b Bundle, fits func(files, bytes int64) error, env ...string) error {
	ctx, cancel := repo.Bounded(ctx, bundleTime)
	defer cancel()
	if err := cloneBundle(ctx, dir, file, b, fits, env); err != nil {
		return fmt.Errorf("make the work tree: %w", err)
	}
	return nil
}

func cloneBundle(ctx context.Context, dir, file string, b Bundle, fits func(files, bytes int64) error, env []string) error {
	g := gitIn(dir, env)
	g.Limit = bundleTime
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if _, err := g.Read(ctx, "init", "--quiet", "--template="); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700); err != nil {
		return err
	}
	if _, err := g.unbundle(ctx, file, b); err != nil {
		return err
	}
	if b.Branch != "" {
		_, err = g.Read(ctx, "symbolic-ref", "HEAD", "refs/heads/"+b.Branch)
	} else {
		_, err = g.Read(ctx, "update-ref", "--no-deref", "HEAD", b.Head)
	}
	if err != nil {
		return err
	}
	if g.Git, err = g.WithoutFilters(ctx); err != nil {
		return err
	}
	var files int64
	for _, commit := range []string{b.Head, b.Tree} {
		var size int64
		files, size, err = g.treeSize(ctx, commit)
		if errors.Is(err, repo.ErrTooMuch) {
			files, size, err = math.MaxInt64, 0, nil
		}
		if err == nil {
			err = fits(files, size)
		}
		if err != nil {
			return err
		}
	}
	// The index is that of HEAD, and the files are those of the tree, as they were on the disk.
	if _, err := g.Read(ctx, "reset", "--quiet", "--mixed"); err != nil {
		return err
	}
	if files == 0 {
		return nil // restore would miss the files
	}
	_, err = g.Read(ctx, "-c", "core.autocrlf=false", "restore", "--quiet", "--worktree", "--no-overlay", "--source="+b.Tree, "--", ".")
	return err
}

// treeSize returns how many files a commit has, and their bytes. It is [repo.ErrTooMuch] if their
// names are too long to be listed.
func (g git) treeSize(ctx context.Context, commit string) (files, bytes int64, err error) {
	out, err := g.Line(ctx, "ls-tree", "-r", "-z", "--long", commit)
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, _, named := strings.Cut(entry, "\t")
		if !named {
			continue
		}
		files++
		size, err := strconv.ParseInt(about[strings.LastIndexByte(about, ' ')+1:], 10, 64)
		if err == nil { // a submodule has none
			bytes += size
		}
	}
	return files, bytes, err
}
