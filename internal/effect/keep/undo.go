package keep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// An Undo says what to undo since a [Base].
type Undo struct {
	// Ref will name a commit with the files as they were found; its parents are HEAD, the index and
	// the base. If the name is taken, a number is added.
	Ref string
	// Allowed reports whether a path may differ from the base: from the root, with slashes. Folders
	// named .ralph may always.
	Allowed func(path string) bool
	// Mine reports whether all of the changes are to be undone; nil means that they are. If it
	// returns false, nothing is changed.
	Mine func([]Found) bool
	// Message is that of a commit that restores what was committed. "%s" in it becomes the ref.
	Message string

	lockWait time.Duration // how long another git may lock the index; 0 means two seconds
}

// A Found is a change since a [Base]: of a file, or of one in a commit or in the index.
type Found struct {
	Path string
	// At is when it was made, as far as the disk tells: a file that is gone was removed then or
	// before. A commit has whole seconds.
	At time.Time
	// Foreign says that it was committed by another author or committer than this git would name.
	Foreign bool
}

// Undone is what was undone.
type Undone struct {
	// Files are the paths that differed from the base, sorted, with those that were left as they
	// are.
	Files []string
	// Commits is how many commits since the base contain such files.
	Commits int
	// Commit restores them; empty if none was needed.
	Commit string
	// Ref keeps what was found; empty if nothing was changed.
	Ref string
	// Stays says that [Undo.Mine] wanted nothing to be undone.
	Stays bool
}

// A SkippedError says which files were left as they are.
type SkippedError struct{ Files []SkippedFile }

// A SkippedFile is a file that was left as it is.
type SkippedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"` // or what it was
}

// maxNamed is how many files an error names.
const maxNamed = 5

func (e *SkippedError) Error() string {
	var parts []string
	for _, f := range e.Files[:min(maxNamed, len(e.Files))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", f.Path, f.Why))
	}
	if more := len(e.Files) - maxNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return "left as they are: " + strings.Join(parts, ", ")
}

// Reasons why a base is not restored. Nothing was changed then.
var (
	// ErrOtherBranch: HEAD names another branch than in the base.
	ErrOtherBranch = errors.New("another branch is checked out")
	// ErrOtherTree: git finds another working tree than in the base.
	ErrOtherTree = errors.New("git uses another work tree")
	// ErrHome: the working tree is the person's home folder, so other programs change it too.
	ErrHome = errors.New("the work tree is your home folder")
	// ErrRewritten: the commit of the base is not in the history of HEAD.
	ErrRewritten = errors.New("the history was rewritten")
)

// Undo puts files, index and HEAD back to the base except for allowed paths, and does not rewrite
// history: if the difference was committed, a new commit restores it. Ignored files, other refs and
// the stash are left as they are. A file that was committed or added as it was in the base stays
// so.
//
// Nothing is lost: the ref of the result is made before the first file is changed. When in doubt it
// leaves all as it is and returns the reason: [ErrOtherTree], [ErrOtherBranch], [ErrRewritten],
// [repo.ErrUnfinished], [repo.ErrUnmerged] or [repo.ErrLocked]. A [SkippedError] is about single
// files, after all others were put back. The Undone is valid with an error too.
//
// Time, environment and programs are as in [WorkTree]. Only one call may be made.
func (b *Base) Undo(ctx context.Context, u Undo) (Undone, error) {
	ctx, cancel := repo.Bounded(ctx, keepTime)
	defer cancel()
	if u.lockWait == 0 {
		u.lockWait = 2 * time.Second
	}
	r := &reversal{base: b, Undo: u}
	err := r.run(ctx)
	if _, ok := errors.AsType[*SkippedError](err); err != nil && !ok {
		err = fmt.Errorf("put the work tree back: %w", err)
	}
	return r.result, err
}

// A reversal puts one working tree back.
type reversal struct {
	base *Base
	Undo
	*keeper                            // the work tree as it is now
	onDisk, committed, staged []change // to be undone
	commits                   []Found  // those that have them, without paths
	skipped                   []SkippedFile
	folders                   []string // empty ones, to be made
	closed                    []string // folders that were made, in which the owner may not write
	result                    Undone
}

// A change is a path that differs between two trees.
type change struct {
	path     string
	was, now file
}

func (r *reversal) run(ctx context.Context) error {
	var err error
	if r.keeper, err = read(ctx, r.base.dir, r.base.env, &r.base.moment); err != nil {
		return err
	}
	defer func() { r.close() }()
	if err := r.compare(ctx); err != nil {
		return err
	}
	if err := r.refuse(ctx); err != nil || len(r.result.Files) == 0 {
		return err
	}
	if r.Mine != nil && !r.Mine(r.found()) {
		r.result.Stays = true
		return nil
	}
	if err := r.putFilesBack(ctx); err != nil {
		return err
	}
	if err := r.restoreHead(ctx); err != nil {
		return err
	}
	if err := r.restoreIndex(ctx); err != nil {
		return err
	}
	return r.skippedError()
}

func (r *reversal) skippedError() error {
	if len(r.skipped) == 0 {
		return nil
	}
	return &SkippedError{r.skipped}
}

// compare finds what differs from the base.
func (r *reversal) compare(ctx context.Context) error {
	base, err := r.TreeOf(ctx, r.base.head)
	if err != nil {
		return err
	}
	head, err := r.TreeOf(ctx, r.head)
	if err != nil {
		return err
	}
	if r.onDisk, err = r.changes(ctx, r.base.tree, r.tree); err != nil {
		return err
	}
	if r.committed, err = r.changes(ctx, base, head); err != nil {
		return err
	}
	if r.staged, err = r.changes(ctx, r.base.index, r.index); err != nil {
		return err
	}
	// What was only committed or added, as the base has it on the disk, was not changed.
	var paths []string
	for _, c := range slices.Concat(r.committed, r.staged) {
		paths = append(paths, c.path)
	}
	kept, err := r.entries(ctx, r.base.tree, paths)
	if err != nil {
		return err
	}
	asItWas := func(c change) bool {
		_, unkept := r.base.unkept[c.path]
		return c.now == kept[c.path] && !unkept
	}
	r.committed = slices.DeleteFunc(r.committed, asItWas)
	r.staged = slices.DeleteFunc(r.staged, asItWas)
	r.compareUnkept()

	found := map[string]bool{}
	for _, c := range slices.Concat(r.onDisk, r.committed, r.staged) {
		found[c.path] = true
	}
	for _, f := range r.skipped {
		found[f.Path] = true
	}
	r.result.Files = slices.Sorted(maps.Keys(found))
	return nil
}

// compareUnkept finds changes of files that are not kept.
func (r *reversal) compareUnkept() {
	names := slices.Sorted(maps.Keys(r.base.unkept))
	for name := range r.unkept {
		if _, ok := r.base.unkept[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		was, now := r.base.unkept[name], r.unkept[name]
		if was == now || r.allowed(name) {
			continue
		}
		why := "it was too large to be kept"
		switch about := cmp.Or(was, now); {
		case strings.HasPrefix(about, "a repository"):
			why = "it is a repository of its own"
		case !strings.HasPrefix(about, "too large"):
			why = "it " + about
		}
		r.skipped = append(r.skipped, SkippedFile{name, why})
	}
	// A tree has none of these, or had it before it was too large.
	r.onDisk = slices.DeleteFunc(r.onDisk, func(c change) bool {
		_, before := r.base.unkept[c.path]
		_, after := r.unkept[c.path]
		return before || after
	})
}

func (r *reversal) allowed(path string) bool {
	return repo.IsOwn(path) || r.Allowed != nil && r.Allowed(path)
}

// changes compares two trees, without allowed paths.
func (r *reversal) changes(ctx context.Context, from, to string) ([]change, error) {
	if from == to {
		return nil, nil
	}
	out, err := r.Read(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", from, to)
	if err != nil {
		return nil, err
	}
	// :mode mode id id status NUL path NUL
	var found []change
	for record := range slices.Chunk(strings.Split(string(out), "\x00"), 2) {
		words := strings.Fields(strings.TrimPrefix(record[0], ":"))
		if len(record) < 2 || len(words) != 5 {
			continue
		}
		c := change{path: record[1], was: file{words[0], words[2]}, now: file{words[1], words[3]}}
		for _, f := range []*file{&c.was, &c.now} {
			if strings.Trim(f.id, "0") == "" {
				*f = file{}
			}
		}
		if !r.allowed(c.path) {
			found = append(found, c)
		}
	}
	return found, nil
}

// entries returns the entries of paths in a tree.
func (r *reversal) entries(ctx context.Context, tree string, paths []string) (map[string]file, error) {
	found := map[string]file{}
	if len(paths) == 0 {
		return found, nil
	}
	wanted := map[string]bool{}
	for _, name := range paths {
		wanted[name] = true
	}
	out, err := r.Read(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	for record := range bytes.SplitSeq(out, []byte{0}) {
		about, name, _ := strings.Cut(string(record), "\t")
		if words := strings.Fields(about); wanted[name] && len(words) == 3 {
			found[name] = file{words[0], words[2]}
		}
	}
	return found, nil
}

// refuse returns the reason not to touch anything.
func (r *reversal) refuse(ctx context.Context) error {
	if r.base.branch != r.branch {
		return fmt.Errorf("%w: %s instead of %s", ErrOtherBranch, branchWords(r.branch), branchWords(r.base.branch))
	}
	if r.base.head != "" && r.base.head != r.head {
		if r.head == "" {
			return fmt.Errorf("%w: %s has no commit any more", ErrRewritten, branchWords(r.branch))
		}
		_, err := r.Read(ctx, "merge-base", "--is-ancestor", r.base.head, r.head)
		if repo.ExitCode(err) == 1 {
			return fmt.Errorf("%w: %.12s is not in it any more, and %s keeps it", ErrRewritten, r.base.head, r.base.Ref)
		}
		if err != nil {
			return err
		}
	}
	if len(r.result.Files) == 0 {
		return nil
	}
	if err := r.at.WaitForLock(ctx, "git update-index", r.lockWait); err != nil {
		return err
	}
	return r.findCommits(ctx)
}

func branchWords(ref string) string {
	if ref == "" {
		return "no branch"
	}
	return strings.TrimPrefix(ref, "refs/heads/")
}

// maxPaths is how many paths a command line names.
const maxPaths = 200

// findCommits finds the commits that have what was committed.
func (r *reversal) findCommits(ctx context.Context) error {
	if len(r.committed) == 0 {
		return nil
	}
	args := []string{"rev-list", "--format=%ct %an <%ae>%x00%cn <%ce>", r.head}
	if r.base.head != "" {
		args = append(args, "^"+r.base.head)
	}
	args = append(args, "--")
	for _, c := range r.committed[:min(maxPaths, len(r.committed))] {
		args = append(args, ":(literal)"+c.path)
	}
	out, err := r.Line(ctx, args...)
	if err != nil {
		return err
	}
	own := r.identity(ctx, "GIT_AUTHOR_IDENT") + "\x00" + r.identity(ctx, "GIT_COMMITTER_IDENT")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "commit ") { // its name, before its line
			continue
		}
		seconds, people, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return fmt.Errorf("read the time of a commit: %w", err)
		}
		r.commits = append(r.commits, Found{At: time.Unix(at, 0), Foreign: people != own})
	}
	r.result.Commits = len(r.commits)
	return nil
}

// identity returns whom git would name in a commit; empty if it does not know.
func (g git) identity(ctx context.Context, variable string) string {
	said, err := g.Line(ctx, "var", variable)
	end := strings.LastIndex(said, ">")
	if err != nil || end < 0 {
		return ""
	}
	return said[:end+1] // the time follows
}

// found lists the changes that can be undone.
func (r *reversal) found() (all []Found) {
	for _, c := range r.onDisk {
		all = append(all, Found{Path: c.path, At: r.changedAt(c.path)})
	}
	if len(r.commits) > 0 {
		for _, c := range r.committed {
			for _, commit := range r.commits {
				all = append(all, Found{c.path, commit.At, commit.Foreign})
			}
		}
	}
	info, err := os.Stat(filepath.Join(r.at.GitDir, "index"))
	for _, c := range r.staged {
		f := Found{Path: c.path}
		if err == nil {
			f.At = info.ModTime()
		}
		all = append(all, f)
	}
	return all
}

// changedAt returns when a file was changed last, its permissions included; of a file that is gone,
// when its folder was.
func (r *reversal) changedAt(name string) time.Time {
	for ; ; name = path.Dir(name) {
		info, err := r.root.Lstat(filepath.FromSlash(name))
		if err == nil {
			return changeTime(info)
		}
		if name == "." {
			return time.Time{}
		}
	}
}

// keepFound keeps everything as it was found.
func (r *reversal) keepFound(ctx context.Context) error {
	var before []string
	if r.base.commit != "" {
		before = append(before, r.base.commit)
	}
	commit, err := r.commit(ctx, "The work tree as it was found.", before...)
	if err != nil {
		return err
	}
	if r.result.Ref, err = r.makeFreeRef(ctx, r.Undo.Ref, commit); err != nil {
		return err
	}
	return r.makeDurable()
}

// makeDurable makes what git keeps durable, before a file of it is replaced.
func (r *reversal) makeDurable() error {
	if err := sync(repo.SharedDir(r.at.GitDir)); err != nil {
		return fmt.Errorf("make what was found durable: %w", err)
	}
	return nil
}

// sync is syncDisk. A test replaces it.
var sync = syncDisk
