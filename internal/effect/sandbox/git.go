package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A Repository says where git keeps the files of a work tree.
type Repository struct {
	Tree   string // the top of the work tree
	Common string // the folder of the repository; "" without one
	Own    string // that of the work tree: Common, unless it is a linked one
}

// commits are the names in a folder of git's that a commit, a merge or a change of the branch
// writes. All others are only read: git takes from them which programs it runs, and where it looks
// for that. git replaces a file by renaming NAME.lock in the same folder, so the folder itself has
// to be writable, and a name that is missing is closed by a placeholder.
var commits = []string{
	"objects", "refs", "logs", "reftable", "lfs", "HEAD", "index", "packed-refs", "shallow", "COMMIT_EDITMSG", "TAG_EDITMSG", "ORIG_HEAD", "FETCH_HEAD",
	"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
	"sequencer", "rebase-merge", "rebase-apply", "rr-cache", "gc.pid", "gc.log", "NOTES_MERGE_REF",
	"NOTES_MERGE_PARTIAL", "NOTES_MERGE_WORKTREE", "NOTES_EDITMSG",
}

// shared are those of them that work trees share, as far as a commit on a branch needs them.
var shared = []string{"objects", "refs", "logs"}

// written reports whether an entry of a folder of git's is one that a commit writes.
func written(name string) bool {
	name = strings.TrimSuffix(name, ".lock")
	return slices.Contains(commits, name) || strings.HasPrefix(name, "BISECT_") ||
		strings.HasPrefix(name, "sharedindex.") || strings.HasPrefix(name, "next-index-")
}

// A placeholder is what is put where git would look for a name that is missing. It changes nothing
// of what git does.
type placeholder struct {
	name string
	text string // of a file; "" for an empty folder
}

// note is the text of a placeholder in the place of settings.
const note = "# empty, so that an agent cannot make it\n"

// placeholders are those of a repository, and of a linked work tree. git resolves the path in
// commondir, so "./." is the folder that has it; git and people write it in another way.
var (
	placeholders = []placeholder{
		{"commondir", "./."}, {"config.worktree", note}, {"hooks", ""}, {"info", ""}, {"modules", ""}, {"worktrees", ""}, {"branches", ""}, {"remotes", ""},
	}
	linkedPlaceholders = []placeholder{{"config.worktree", note}, {"modules", ""}}
)

// linked reports whether the repository has other work trees than this one.
func (r Repository) linked() bool { return r.Own != r.Common }

// missing returns the placeholders.
func (r Repository) missing() []placeholder {
	switch {
	case r.Common == "":
		return nil
	case r.linked():
		return linkedPlaceholders
	}
	return placeholders
}

// link is the file that leads from the work tree to its folder of git's; "" if that is in the tree.
func (r Repository) link() string {
	path := filepath.Join(r.Tree, ".git")
	if r.Common == "" || path == r.Own {
		return ""
	}
	return path
}

// access returns what of git an agent may change, and which parts of that it may only read. It
// makes what a commit needs, and git would make itself.
func (r Repository) access() (write, protect []string) {
	if r.Common == "" {
		return nil, nil
	}
	write = []string{r.Own}
	if r.linked() {
		for _, name := range shared {
			path := filepath.Join(r.Common, name)
			_ = os.Mkdir(path, 0o755) // git makes it when it needs it
			write = append(write, path)
		}
	}
	if link := r.link(); link != "" {
		protect = append(protect, link)
	}
	entries, _ := os.ReadDir(r.Own) // what cannot be read is reported by git
	for _, entry := range entries {
		if !written(entry.Name()) {
			protect = append(protect, filepath.Join(r.Own, entry.Name()))
		}
	}
	for _, p := range r.missing() { // where rules are about paths, these need not exist
		if path := filepath.Join(r.Own, p.name); !slices.Contains(protect, path) {
			protect = append(protect, path)
		}
	}
	return write, protect
}

// closeMissing puts placeholders where a name is missing, and returns the folders among them.
func (r Repository) closeMissing() (made []string, err error) {
	for _, p := range r.missing() {
		path := filepath.Join(r.Own, p.name)
		_, absent := os.Lstat(path)
		switch {
		case !errors.Is(absent, fs.ErrNotExist):
			continue
		case p.text == "":
			if err = os.Mkdir(path, 0o755); err == nil {
				made = append(made, path)
			}
		default:
			err = safefile.Replace(safefile.Dir(r.Own), p.name, []byte(p.text), 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
	return made, nil
}

// open removes placeholders, also those that a dead runner left, and of the folders those that were
// made.
func (r Repository) open(made []string) error {
	var errs []error
	for _, p := range r.missing() {
		path := filepath.Join(r.Own, p.name)
		if text, err := safefile.Read(path, 1<<10); p.text != "" && err == nil && string(text) == p.text {
			errs = append(errs, os.Remove(path))
		}
	}
	for _, path := range made {
		_ = os.Remove(path) // unless something is in it, which is a person's
	}
	return errors.Join(errs...)
}

// A pin is a file that a mode cannot keep from the agent, as it was before the agent began.
type pin struct {
	path    string
	content []byte // nil if there was none
}

const maxPin = 64 << 10

// pins returns the files of git's that Landlock and a machine leave open: they cannot take a file
// out of a folder. What else git would run in a machine's tree, [Box.runnable] finds.
func (r Repository) pins() (all []pin, err error) {
	paths := []string{r.link(), filepath.Join(r.Own, "commondir"), filepath.Join(r.Own, "gitdir"),
		filepath.Join(r.Own, "config.worktree"), filepath.Join(r.Own, "modules")}
	if !r.linked() {
		paths = paths[1:2]
	}
	for _, path := range paths {
		content, err := safefile.Read(path, maxPin)
		if problem, ok := errors.AsType[*safefile.Error](err); ok && problem.Problem == safefile.IsFolder {
			continue // the modules of a person's
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, pin{path, content})
	}
	return all, nil
}

// links returns the symbolic links among the files that an agent may change. git follows them when
// it writes, and makes none.
func (r Repository) links() (found []string) {
	if r.Common == "" {
		return nil
	}
	look := func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 && !slices.Contains(found, path) {
			found = append(found, path)
		}
		return nil // what is gone or cannot be read is no link
	}
	entries, _ := os.ReadDir(r.Own)
	for _, entry := range entries {
		_ = look(filepath.Join(r.Own, entry.Name()), entry, nil)
	}
	for _, dir := range []string{"logs", "refs"} {
		for _, root := range slices.Compact([]string{r.Own, r.Common}) {
			_ = filepath.WalkDir(filepath.Join(root, dir), look)
		}
	}
	return found
}

// allLinks returns the links of git's files, and those in the place of ralph's own, which makes
// none: a file that was missing, or that the runner has replaced, is not protected, and bubblewrap
// mounts nothing at a link.
func (b *Box) allLinks() []string {
	found := b.Git.links()
	for _, path := range b.Ralph {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			found = append(found, path)
		}
	}
	return found
}

// prepare closes names that are missing, and remembers what [Box.PutBack] compares with.
func (b *Box) prepare() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Mode == Bwrap || b.Mode == Docker || b.Mode == Podman {
		made, err := b.Git.closeMissing()
		b.made = append(b.made, made...)
		if err != nil {
			return err
		}
	}
	if err := b.prepareStates(); err != nil {
		return err
	}
	if b.prepared {
		return nil
	}
	var err error
	if b.Mode == Landlock && b.Git.linked() || b.Mode == DockerSandbox && b.Git.Common != "" {
		b.pins, err = b.Git.pins()
	}
	if text, failed := safefile.Read(filepath.Join(b.Git.Own, "config"), maxSettings); failed == nil && b.Mode == DockerSandbox && b.Git.Common != "" {
		b.config = text
	}
	if err == nil {
		b.ran = b.runnable()
	}
	if text, failed := safefile.Read(b.Git.todo(), maxTodo); failed == nil && b.Git.Common != "" {
		b.todo = programsOf(text)
	}
	b.links, b.prepared = b.allLinks(), err == nil
	return err
}

// PutBack undoes what an agent did to git's files so that git would run or write something else for
// a person, where the mode does not prevent it, and takes over a login that the agent refreshed. It
// returns what a person should know: what it replaced was set aside.
func (b *Box) PutBack() (notes []string, err error) {
	if b == nil {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.prepared {
		return nil, nil
	}
	err = errors.Join(b.matchLogins(false), b.putBackGit(), b.putBackNested(), b.putBackRebase())
	notes, b.notes = b.notes, nil
	return notes, err
}

func (b *Box) putBackGit() error {
	var errs []error
	setAside := func(path string) bool {
		to, err := keep.MoveFound(b.Aside, path)
		if err != nil {
			errs = append(errs, err)
			return false
		}
		b.note("moved %s to %s", path, to)
		return true
	}
	for _, path := range b.allLinks() {
		if !slices.Contains(b.links, path) {
			setAside(path)
		}
	}
	for _, p := range b.pins {
		content, err := safefile.Read(p.path, maxPin)
		if err == nil && p.content != nil && string(content) == string(p.content) || p.content == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && !setAside(p.path) {
			continue
		}
		if p.content != nil {
			if errors.Is(err, fs.ErrNotExist) {
				b.note("made %s again, which was missing", p.path)
			}
			errs = append(errs, safefile.Replace(safefile.Dir(filepath.Dir(p.path)), filepath.Base(p.path), p.content, 0o644))
		}
	}
	return errors.Join(errs...)
}

func (b *Box) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}
