package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Config says what a tree is made of.
type Config struct {
	Dir  string // a folder in the work tree of the repository
	Tree string // what it has at first: a commit, or a tree of git such as that of keep.FilesNow
	Home string // ralph's own folder
	Env  []string
	Also []string // what else Reset is to write, if the tree has to own its objects
}

// Tree is a throw-away work tree. One goroutine uses it.
type Tree struct {
	Root    string // of the work tree
	Project string // the folder in it that is Config.Dir there
	Temp    string // an empty folder beside it, for what commands need to write elsewhere
	// Mark is that of the commands that run in it: see process.Command.
	Mark string

	git    repo.Git
	folder string
	lock   *os.File
	config []byte // of git, as it was made
	own    []byte // what the repository's index has of ralph's folders
	also   []string
	// commits are those of trees that were written.
	commits map[string]string
}

const (
	// Folder is in ralph's home, and holds the trees.
	Folder   = "scratch"
	prefix   = "tree-" // of the names of trees
	lockFile = "lock"
	workDir  = "work"
	tempDir  = "temp"
	// maxShallow bounds git's list of commits whose parents are missing, in bytes.
	maxShallow = 16 << 20
	// maxConfig bounds git's settings, in bytes.
	maxConfig = 1 << 20
	// writeTime bounds the writing of all files.
	writeTime = 10 * time.Minute
)

// Open makes a tree. Without git or a repository the error satisfies [repo.Absent].
func Open(ctx context.Context, c Config) (*Tree, error) {
	t, err := open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("make a throw-away work tree: %w", err)
	}
	return t, nil
}

func open(ctx context.Context, c Config) (t *Tree, err error) {
	from := repo.In(c.Dir, c.Env...)
	at, err := from.Locate(ctx)
	if err != nil {
		return nil, err
	}
	common, err := from.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	format, err := from.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	inside, err := inside(at.Root, c.Dir)
	if err != nil {
		return nil, err
	}
	if t, err = makeFolder(filepath.Join(c.Home, Folder)); err != nil {
		return nil, err
	}
	t.Project, t.also = filepath.Join(t.Root, inside), c.Also
	t.git = repo.In(t.Root, c.Env...).WithOwnIdentity()
	t.git.Env = append(t.git.Env, t.Ceiling())
	t.git.Limit = writeTime
	if t.own, err = from.OwnEntries(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if err = t.fill(ctx, common, format, c.Tree); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// inside returns the path of dir from root, whichever links lead there.
func inside(root, dir string) (string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return filepath.Rel(root, dir)
}

// makeFolder makes the folder of a tree, with a lock that its process holds, and removes those of
// processes that are gone.
func makeFolder(parent string) (*Tree, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	sweep(parent)
	folder, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := safefile.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	t := &Tree{
		Root: filepath.Join(folder, workDir), Temp: filepath.Join(folder, tempDir), Mark: markOf(folder),
		folder: folder, lock: lock, commits: map[string]string{},
	}
	if _, err = filelock.TryExclusive(lock); err == nil {
		err = errors.Join(os.Mkdir(t.Root, 0o700), os.Mkdir(t.Temp, 0o700))
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// markOf is the mark of the commands of a tree.
func markOf(folder string) string { return "scratch:" + folder }

// grace is how long commands have to end whose process is gone.
const grace = 500 * time.Millisecond

// young is the age up to which a folder without a lock may be one that is being made.
const young = time.Minute

// sweep removes the trees of processes that are gone, and ends the commands in them, as far as that
// is possible.
func sweep(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be read now is removed another time
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) || !entry.IsDir() {
			continue
		}
		folder := filepath.Join(parent, entry.Name())
		lock, err := safefile.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR, 0)
		if err != nil {
			if info, failed := entry.Info(); failed == nil && time.Since(info.ModTime()) > young {
				_ = removeAll(folder)
			}
			continue
		}
		// The lock of a young one is left alone: its process may be about to take it.
		if info, err := lock.Stat(); err == nil && time.Since(info.ModTime()) > young {
			if alone, err := filelock.TryExclusive(lock); err == nil && alone {
				_, _ = process.Sweep(context.Background(), markOf(folder), grace)
				_ = removeAll(folder)
			}
		}
		_ = lock.Close()
	}
}

// fill makes the repository, which borrows the objects of another one, and writes the files.
func (t *Tree) fill(ctx context.Context, common, format, tree string) error {
	if _, err := t.git.Read(ctx, "init", "--quiet", "--template=", "--initial-branch=work", "--object-format="+format); err != nil {
		return err
	}
	var err error
	if t.config, err = safefile.Read(filepath.Join(t.Root, ".git", "config"), maxConfig); err != nil {
		return err
	}
	borrowed := filepath.Join(common, "objects") + "\n"
	if err := os.MkdirAll(filepath.Join(t.Root, ".git", "objects", "info"), 0o700); err != nil {
		return err
	}
	if err := safefile.WriteFile(filepath.Join(t.Root, ".git", "objects", "info", "alternates"), []byte(borrowed), 0o600); err != nil {
		return err
	}
	if shallow, err := safefile.Read(filepath.Join(common, "shallow"), maxShallow); err == nil {
		if err := safefile.WriteFile(filepath.Join(t.Root, ".git", "shallow"), shallow, 0o600); err != nil {
			return err
		}
	}
	git, err := t.git.WithoutFilters(ctx)
	if err != nil {
		return err
	}
	t.git = git
	return t.Reset(ctx, tree)
}

// Reset gives the tree the files of a commit or a tree of git, and removes all others but those in
// keep: paths from the root that patterns of a .gitignore match.
func (t *Tree) Reset(ctx context.Context, tree string, keep ...string) error {
	if err := t.restoreSettings(); err != nil {
		return err
	}
	commit, err := t.commit(ctx, tree)
	if err != nil {
		return err
	}
	if _, err := t.git.Read(ctx, "reset", "--quiet", "--hard", commit); err != nil {
		return err
	}
	args := []string{"clean", "-ffdxq"}
	for _, pattern := range keep {
		args = append(args, "-e", pattern)
	}
	if _, err := t.git.Read(ctx, args...); err != nil {
		return fmt.Errorf("remove what the commands left: %w", err)
	}
	return os.MkdirAll(t.Project, 0o700)
}

// restoreSettings gives git the settings that the tree was made with. What ran there may have been
// in a sandbox, and git, which is in none, would run the filters that it set.
func (t *Tree) restoreSettings() error {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(".git"); err != nil || !info.IsDir() {
		return errors.Join(errors.New("what ran in a throw-away work tree replaced its repository"), err)
	}
	for _, name := range []string{"config", "config.worktree", "commondir"} { // the last leads to other settings
		if err := root.RemoveAll(filepath.Join(".git", name)); err != nil {
			return err
		}
	}
	return root.WriteFile(filepath.Join(".git", "config"), t.config, 0o600)
}

// commit returns a commit of a tree. It is made once: a state may be written many times.
func (t *Tree) commit(ctx context.Context, tree string) (string, error) {
	if commit := t.commits[tree]; commit != "" {
		return commit, nil
	}
	name, err := t.git.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", tree+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("find the tree %.60q: %w", tree, err)
	}
	full, err := t.withOwn(ctx, name)
	if err != nil {
		return "", err
	}
	commit, err := t.git.CommitTree(ctx, full, "The files as they are tried.")
	if err == nil && name == tree {
		t.commits[tree] = commit
	}
	return commit, err
}

// withOwn returns a tree with what the repository has of ralph's folders, such as the settings of a
// project: a fresh clone has them, and what is kept of a work tree has not.
func (t *Tree) withOwn(ctx context.Context, tree string) (string, error) {
	if len(t.own) == 0 {
		return tree, nil
	}
	if _, err := t.git.Read(ctx, "read-tree", tree); err != nil {
		return "", err
	}
	if has, err := t.git.OwnEntries(ctx); err != nil || len(has) > 0 {
		return tree, err
	}
	if _, err := t.git.Feed(ctx, t.own, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return t.git.Line(ctx, "write-tree")
}

// Own copies the objects that the tree borrows, for commands that cannot read the repository that
// they are of: those of its files, and of what else it is to write. Without git there are none.
func (t *Tree) Own(ctx context.Context) error {
	borrowed := filepath.Join(t.Root, ".git", "objects", "info", "alternates")
	if _, err := os.Lstat(borrowed); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := t.copyObjects(ctx); err != nil {
		return fmt.Errorf("copy the objects of a throw-away work tree: %w", err)
	}
	return os.Remove(borrowed)
}

// copyObjects packs what refs reach; no ref stays that a command could find.
func (t *Tree) copyObjects(ctx context.Context) error {
	refs := make([]string, len(t.also))
	for i, also := range t.also {
		tree, err := t.git.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", also+"^{tree}")
		if err != nil {
			return fmt.Errorf("find the tree %.60q: %w", also, err)
		}
		commit, err := t.git.CommitTree(ctx, tree, "The files of another state.")
		if err != nil {
			return err
		}
		refs[i] = fmt.Sprintf("refs/also/%d", i)
		if _, err := t.git.Read(ctx, "update-ref", refs[i], commit); err != nil {
			return err
		}
	}
	if _, err := t.git.Read(ctx, "repack", "-a", "-d", "-q"); err != nil {
		return err
	}
	for _, ref := range refs {
		if _, err := t.git.Read(ctx, "update-ref", "-d", ref); err != nil {
			return err
		}
	}
	return nil
}

// Ceiling is the variable with which git finds no repository above the tree. What runs there may
// break that of the tree, and the next one may be a person's, around ralph's home.
func (t *Tree) Ceiling() string { return "GIT_CEILING_DIRECTORIES=" + t.folder }

// Git returns the git of the tree, for facts about the states that it has.
func (t *Tree) Git() repo.Git { return t.git }

// Close removes the tree with all that is in it.
func (t *Tree) Close() error {
	if t == nil {
		return nil
	}
	err := removeAll(t.folder)
	if t.lock != nil {
		err = errors.Join(err, t.lock.Close())
	}
	return err
}

// removeAll removes a folder, also one with folders that may not be written, such as Go's modules.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}
