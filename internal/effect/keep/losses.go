package keep

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

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Losses is what would be gone with a loop and its linked work tree: all that no branch, remote or
// tag leads to and that is not in the person's own work tree.
type Losses struct {
	Branch  string `json:"branch"`  // that is checked out; empty if none is
	Changes int    `json:"changes"` // files that are not committed
	Commits int    `json:"commits"` // that no other branch, remote or tag has: as long as the branch stays, they do
	// Left counts other commits, which the work tree alone knows: in the log of its HEAD, in a ref
	// of its own, or in a repository inside it.
	Left int `json:"left"`
	// Ignored are files that git ignores, from the root; a folder of nothing else ends in a slash.
	// A file that the person's work tree has, too, is not among them.
	Ignored []string `json:"ignored"`
	// Kept are refs, and files in the loop's folder, with what was replaced or removed: see [Kept].
	Kept []string `json:"kept"`
	Head string   `json:"-"`
}

// Any reports whether something would be lost, or stays on a branch that is not merged.
func (l *Losses) Any() bool {
	return l != nil && l.Changes+l.Commits+l.Left+len(l.Ignored)+len(l.Kept) > 0
}

// FindLosses returns what would be lost with the linked work tree at path. The person's work tree
// is around project. merged is the commit that was merged last, perhaps squashed; it counts as
// merged if that work tree has all that it changed.
func FindLosses(ctx context.Context, path, project, merged string, env ...string) (l Losses, err error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	if l, err = gitIn(path, env).losses(ctx, project); err != nil {
		return l, fmt.Errorf("inspect the worktree: %w", err)
	}
	if l.Commits > 0 && l.Head == merged { // unless an agent wrote that
		if all, unknown := repo.Contains(ctx, project, l.Head, env...); unknown == nil && all {
			l.Commits = 0
		}
	}
	if l.Branch == "" { // no branch stays
		l.Commits, l.Left = 0, l.Left+l.Commits
	}
	return l, nil
}

func (g git) losses(ctx context.Context, project string) (l Losses, err error) {
	roots, err := repo.Repos(ctx, g.Dir, g.Env...)
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

// Kept returns what is kept of a loop and a person may not have otherwise: refs in the repository
// around project, and names of files in the loop's folder.
func Kept(ctx context.Context, project, id, loopDir string, env ...string) (refs, files []string, err error) {
	refs, err = Refs(ctx, project, id, env...)
	found, unread := os.ReadDir(filepath.Join(loopDir, FoundDir))
	if unread != nil && !errors.Is(unread, fs.ErrNotExist) {
		err = errors.Join(err, unread)
	}
	for _, file := range found {
		files = append(files, FoundDir+"/"+file.Name())
	}
	return refs, files, err
}

// add adds what is in the repository of g: the work tree at root, or one inside it.
func (l *Losses) add(ctx context.Context, g git, common, root string) error {
	inside, err := filepath.Rel(root, g.Dir)
	if err != nil {
		return err
	}
	if g.Git, err = g.WithoutFilters(ctx); err != nil {
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
		work, err := g.Work(ctx)
		if err != nil {
			return err
		}
		l.Branch, l.Head, l.Commits = work.Branch, work.Head, work.Unmerged
		l.Changes += work.Changes
	} else {
		names, err := repo.Changed(ctx, g.Dir, g.Env...)
		if err != nil {
			return err
		}
		l.Changes += len(names)
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
			elsewhere = append(elsewhere, "HEAD") // these are counted as Commits
		} else {
			tips = append(tips, "HEAD")
		}
	}
	if len(tips) == 0 {
		return nil
	}
	count, err := g.Line(ctx, slices.Concat([]string{"rev-list", "--count", "--ignore-missing"}, tips, []string{"--not"}, elsewhere)...)
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
	out, err := g.Read(ctx, "ls-files", "-z", "-v", "--stage")
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
		if _, err := os.Lstat(filepath.Join(g.Dir, filepath.FromSlash(string(name)))); err == nil {
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
	_, err = own.Feed(ctx, hidden, "update-index", "-z", "--index-info")
	if err == nil {
		_, err = own.ReadFailed(ctx, 1, "update-index", "-q", "--refresh") // 1: some differ
	}
	if err == nil {
		out, err = own.Read(ctx, "diff-files", "-z", "--name-only")
	}
	return bytes.Count(out, []byte{0}), err
}

func (g git) commonDir(ctx context.Context) (string, error) {
	return g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
}

// mostLeft bounds how many entries of the log of HEAD are read: git itself forgets old ones.
const mostLeft = 1000

// leftTips returns the commits that HEAD of this work tree has left by a checkout or a reset, and
// those of refs that belong to the work tree. What an amendment or a rebase replaced is not among
// them: its content is in what replaced it.
func (g git) leftTips(ctx context.Context) ([]string, error) {
	refs, err := g.Line(ctx, "for-each-ref", "--format=%(objectname)", "refs/worktree/", "refs/bisect/", "refs/rewritten/")
	if err != nil {
		return nil, err
	}
	tips := strings.Fields(refs)
	log, err := g.Line(ctx, "reflog", "show", "-n", strconv.Itoa(mostLeft), "--format=%H %gs", "HEAD", "--")
	if repo.ExitCode(err) > 0 {
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
	out, err := g.Read(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 && !repo.IsOwn(strings.TrimSuffix(string(name), "/")) {
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
	main, err := repo.WorkTree(project)
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
