package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Losses is what would be gone with a linked work tree: all that no branch, remote or tag leads to
// and that is not in the person's own work tree.
type Losses struct {
	Work
	// Left counts commits that are not on the way to HEAD and that the work tree alone knows: in
	// the log of its HEAD, in a ref of its own, or in a repository inside it.
	Left int
	// Ignored are files that git ignores, from the root; a folder of nothing else ends in a slash.
	// A file that the person's work tree has, too, is not among them.
	Ignored []string
}

// FindLosses returns what would be lost with the linked work tree at path. The person's work tree
// is around project.
func FindLosses(ctx context.Context, path, project string, env ...string) (l Losses, err error) {
	ctx, cancel := bounded(ctx, readTime)
	defer cancel()
	l, err = gitIn(path, env...).losses(ctx, project)
	if err != nil {
		err = fmt.Errorf("inspect the worktree: %w", err)
	}
	return l, err
}

func (g git) losses(ctx context.Context, project string) (l Losses, err error) {
	roots, _, err := g.repos(ctx)
	if err != nil {
		return l, err
	}
	common, err := g.in(roots[0]).commonDir(ctx)
	if err != nil {
		return l, err
	}
	for _, root := range roots {
		if err := l.add(ctx, g.in(root), common, roots[0]); err != nil {
			return l, fmt.Errorf("%s: %w", root, err)
		}
	}
	l.Ignored, err = missingIn(project, roots[0], l.Ignored)
	return l, err
}

// add adds what is in the repository of g: the work tree at root, or one inside it.
func (l *Losses) add(ctx context.Context, g git, common, root string) error {
	inside, err := filepath.Rel(root, g.dir)
	if err != nil {
		return err
	}
	g, err = g.withoutFilters(ctx)
	if err != nil {
		return err
	}
	ignored, err := g.ignoredFiles(ctx)
	if err != nil {
		return err
	}
	for _, name := range ignored {
		l.Ignored = append(l.Ignored, strings.TrimPrefix(filepath.ToSlash(inside)+"/"+name, "./"))
	}
	if inside == "." {
		if l.Work, err = g.work(ctx); err != nil {
			return err
		}
	} else {
		st, err := g.status(ctx)
		if err != nil {
			return err
		}
		l.Changes += len(st.entries)
	}
	hidden, err := g.hiddenChanges(ctx)
	if err != nil {
		return err
	}
	l.Changes += hidden
	own, err := g.commonDir(ctx)
	if err != nil {
		return err
	}
	// What a linked work tree of the same repository knows alone; all that is not on a remote of
	// another one, which goes with its folder.
	tips, elsewhere := []string{"--all", "--reflog"}, []string{"--remotes"}
	if own == common {
		elsewhere = []string{"--branches", "--remotes", "--tags"}
		if tips, err = g.leftTips(ctx); err != nil {
			return err
		}
		if inside == "." {
			elsewhere = append(elsewhere, "HEAD") // these are counted as [Work.Unmerged]
		} else {
			tips = append(tips, "HEAD")
		}
	}
	if len(tips) == 0 {
		return nil
	}
	count, err := g.line(ctx, slices.Concat([]string{"rev-list", "--count", "--ignore-missing"}, tips, []string{"--not"}, elsewhere)...)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(count)
	l.Left += n
	return err
}

// hiddenChanges counts the files that differ from the index and that git status passes over: the
// index says "assume unchanged" or "skip worktree" of them.
func (g git) hiddenChanges(ctx context.Context) (int, error) {
	out, err := g.read(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return 0, err
	}
	var hidden []byte
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		tag, file, _ := bytes.Cut(entry, []byte(" ")) // a small letter, or S
		_, name, ok := bytes.Cut(file, []byte("\t"))
		if !ok || bytes.Equal(tag, bytes.ToUpper(tag)) && tag[0] != 'S' || bytes.HasPrefix(file, []byte("160000 ")) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(g.dir, filepath.FromSlash(string(name)))); err == nil {
			hidden = append(append(hidden, file...), 0)
		}
	}
	if len(hidden) == 0 {
		return 0, nil
	}
	own, remove, err := g.ownIndex(nil)
	if err != nil {
		return 0, err
	}
	defer remove()
	_, err = own.feed(ctx, hidden, "update-index", "-z", "--index-info")
	if err == nil {
		_, err = own.readFailed(ctx, 1, "update-index", "-q", "--refresh") // 1: some differ
	}
	if err == nil {
		out, err = own.read(ctx, "diff-files", "-z", "--name-only")
	}
	return bytes.Count(out, []byte{0}), err
}

func (g git) commonDir(ctx context.Context) (string, error) {
	return g.line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
}

// mostLeft bounds how many entries of the log of HEAD are read: git itself forgets old ones.
const mostLeft = 1000

// leftTips returns the commits that HEAD of this work tree has left by a checkout or a reset, and
// those of refs that belong to the work tree. What an amendment or a rebase replaced is not among
// them: its content is in what replaced it.
func (g git) leftTips(ctx context.Context) ([]string, error) {
	refs, err := g.line(ctx, "for-each-ref", "--format=%(objectname)", "refs/worktree/", "refs/bisect/", "refs/rewritten/")
	if err != nil {
		return nil, err
	}
	tips := strings.Fields(refs)
	log, err := g.line(ctx, "reflog", "show", "-n", strconv.Itoa(mostLeft), "--format=%H %gs", "HEAD", "--")
	if exitCode(err) > 0 {
		return tips, nil // a HEAD without a commit has no log
	}
	leaves := false
	for line := range strings.Lines(log) { // the newest first
		commit, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if leaves {
			tips = append(tips, commit)
		}
		leaves = strings.HasPrefix(why, "checkout:") || strings.HasPrefix(why, "reset:")
	}
	slices.Sort(tips)
	return slices.Compact(tips), err
}

// ignoredFiles lists the files that git ignores, without ralph's own.
func (g git) ignoredFiles(ctx context.Context) (names []string, err error) {
	out, err := g.read(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 && !isOwn(strings.TrimSuffix(string(name), "/")) {
			names = append(names, string(name))
		}
	}
	return names, err
}

// maxCompared limits how much is compared, in bytes. What is beyond it counts as different.
const maxCompared = 64 << 20

// missingIn returns the files and folders at root that the work tree around project does not have
// with the same content.
func missingIn(project, root string, names []string) ([]string, error) {
	main, err := WorkTree(project)
	if err != nil {
		return nil, err
	}
	left := int64(maxCompared)
	return slices.DeleteFunc(names, func(name string) bool {
		name = filepath.FromSlash(name)
		return filepath.WalkDir(filepath.Join(root, name), func(path string, entry fs.DirEntry, err error) error {
			inside, notInside := filepath.Rel(root, path)
			if err = errors.Join(err, notInside); err != nil {
				return err
			}
			return sameFile(path, filepath.Join(main, inside), entry.Type(), &left)
		}) == nil
	}), nil
}

var errDiffers = errors.New("it differs")

// sameFile returns an error unless other is a file of the same kind and content. The bytes that are
// compared are taken from left.
func sameFile(one, other string, kind fs.FileMode, left *int64) error {
	info, err := os.Lstat(other)
	if err != nil {
		return err
	}
	var a, b []byte
	switch {
	case info.Mode().Type() != kind:
		return errDiffers
	case kind.IsDir():
		return nil
	case kind == fs.ModeSymlink:
		to, err1 := os.Readlink(one)
		from, err2 := os.Readlink(other)
		a, b, err = []byte(to), []byte(from), errors.Join(err1, err2)
	case kind.IsRegular():
		var err1, err2 error
		a, err1 = safefile.Read(one, *left)
		b, err2 = safefile.Read(other, *left)
		*left -= int64(len(a))
		err = errors.Join(err1, err2)
	default:
		return errDiffers
	}
	if err == nil && !bytes.Equal(a, b) {
		err = errDiffers
	}
	return err
}
