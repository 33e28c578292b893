package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// Preparation says what a fresh tree needs that git does not have.
type Preparation struct {
	From string   // the project of the person, of which Copy names ignored files
	Copy []string // worktree.copy; .worktreeinclude counts, too
	// Moved replaces the path of the person's work tree in a text by that of the tree. With it,
	// folders of dependencies are copied, too.
	Moved func(string) string
	Setup string   // worktree.setup
	Env   []string // of Setup
	// Wrap runs Setup in a sandbox, since it may run what an agent wrote; nil runs it as it is.
	Wrap process.Wrap
}

// Prepare copies ignored files of the person into the tree and runs worktree.setup, as in a
// worktree of a loop. A later [Tree.Reset] removes what it does not keep.
func (t *Tree) Prepare(ctx context.Context, p Preparation) error {
	_, err := (&workspace.Worktree{Path: t.Root}).Copy(ctx, p.From, p.Copy, p.Env...)
	if err == nil && p.Moved != nil {
		err = t.copyDependencies(ctx, p)
	}
	if err == nil || repo.Absent(err) { // without git nothing is ignored, and all is there
		err = nil
		if p.Setup != "" {
			err = workspace.Setup(ctx, t.Project, p.Setup, p.Env, p.Wrap)
		}
	}
	if err != nil {
		return fmt.Errorf("prepare a throw-away work tree: %w", err)
	}
	return nil
}

const (
	// A folder without git is copied as a whole, up to so many files and bytes.
	maxFiles = 100_000
	maxBytes = 2 << 30
)

// ErrTooLarge reports a folder that is not copied.
var ErrTooLarge = errors.New("the folder is too large to be copied; in a repository of git only its files are")

// OpenCopy makes a tree with a copy of a folder that is in no repository; Config.Tree means
// nothing. [Tree.Reset] and [Tree.Git] are of no use there.
func OpenCopy(ctx context.Context, c Config) (*Tree, error) {
	t, err := makeFolder(filepath.Join(c.Home, Folder))
	if err == nil {
		t.Project = t.Root
		if err = t.copyFolder(ctx, c.Dir, c.Home); err != nil {
			err = errors.Join(err, t.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make a throw-away copy of %s: %w", c.Dir, err)
	}
	return t, nil
}

func (t *Tree) copyFolder(ctx context.Context, dir, home string) error {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer to.Close()
	files, bytes := 0, int64(0)
	return fs.WalkDir(from.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.IsDir() && (repo.IsOwn(name) || sameFile(filepath.Join(dir, name), home)):
			return fs.SkipDir
		case entry.IsDir():
			return to.MkdirAll(filepath.FromSlash(name), 0o777)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files, bytes = files+1, bytes+info.Size()
		if files > maxFiles || bytes > maxBytes {
			return ErrTooLarge
		}
		_, err = workspace.CopyFile(from, to, filepath.FromSlash(name))
		return err
	})
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Lay puts the files of a folder over those of the project, whatever is there: what a work tree has
// in the way, such as a link that leads elsewhere, is removed.
func (t *Tree) Lay(from *os.Root, names []string) error {
	to, err := os.OpenRoot(t.Project)
	if err != nil {
		return fmt.Errorf("lay files over a throw-away work tree: %w", err)
	}
	defer to.Close()
	for _, name := range names {
		name = filepath.FromSlash(name)
		err := clearWay(to, name)
		if err == nil {
			_, err = workspace.CopyFile(from, to, name)
		}
		if err != nil {
			return fmt.Errorf("lay files over a throw-away work tree: %w", err)
		}
	}
	return nil
}

// clearWay removes what keeps a file of that name from being made.
func clearWay(to *os.Root, name string) error {
	for at, letter := range name {
		if letter != filepath.Separator {
			continue
		}
		info, err := to.Lstat(name[:at])
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err == nil && !info.IsDir() {
			err = to.Remove(name[:at])
		}
		if err != nil {
			return err
		}
	}
	return to.RemoveAll(strings.TrimSuffix(name, string(filepath.Separator)))
}
