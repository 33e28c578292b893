package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// dependencies are the folders in which package managers put what a project depends on.
var dependencies = []string{
	"node_modules", ".venv", "venv", "env", ".virtualenv", "__pypackages__", "vendor", "bundle", ".bundle", "deps", "_build", "Pods", "elm-stuff",
	".yarn", ".pnpm-store", "bower_components", ".dart_tool", "packages",
}

// maxCopied bounds the folders that are copied, in bytes.
const maxCopied = 1 << 30

// prepare brings into the throw-away tree what git ignores and a fresh tree lacks: what the
// settings name for a worktree, and folders of dependencies. It reports whether it brought
// anything.
func (r *run) prepare(ctx context.Context) (bool, error) {
	if err := r.reset(ctx, r.states.claimed); err != nil {
		return false, err
	}
	w := &workspace.Worktree{Path: r.tree.Root}
	if _, err := w.Copy(ctx, r.Dir, r.Worktree.Copy, r.Env...); err != nil {
		return false, err
	}
	if err := r.copyDependencies(ctx); err != nil {
		return false, err
	}
	if r.Worktree.Setup != "" {
		if o, err := r.shell(ctx, r.Worktree.Setup); err != nil || !o.ok {
			if err == nil {
				err = fmt.Errorf("worktree.setup exits with %d", o.code)
			}
			return false, err
		}
	}
	out, err := r.tree.Git().Read(ctx, "ls-files", "-z", "--others", "--directory")
	if err != nil {
		return false, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" && path.Base(name) != "__pycache__" { // compiled from files that mutants change
			r.keep = append(r.keep, "/"+escaped(name))
		}
	}
	return len(r.keep) > 0, nil
}

// escaped writes a path as a pattern of a .gitignore.
func escaped(name string) string {
	return regexp.MustCompile(`[\\*?\[\]! #]`).ReplaceAllString(name, `\$0`)
}

// copyDependencies copies the ignored folders of dependencies, as far as there is space for them.
func (r *run) copyDependencies(ctx context.Context) error {
	root, err := repo.WorkTree(r.Dir)
	if err != nil {
		return err
	}
	out, err := repo.In(root, r.Env...).Read(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return fmt.Errorf("find folders of dependencies: %w", err)
	}
	from, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(r.tree.Root)
	if err != nil {
		return err
	}
	defer to.Close()
	left := int64(maxCopied)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		folder, isFolder := strings.CutSuffix(name, "/")
		if !isFolder || !slices.Contains(dependencies, path.Base(folder)) {
			continue
		}
		c := folderCopy{from: from, to: to, moved: r.moved}
		if size := c.size(folder); size > left {
			continue
		} else {
			left -= size
		}
		if err := c.copy(ctx, folder); err != nil {
			return fmt.Errorf("copy %s: %w", folder, err)
		}
	}
	return nil
}

// folderCopy copies a folder from a person's work tree.
type folderCopy struct {
	from, to *os.Root
	moved    func(string) string
}

func (c folderCopy) size(folder string) (sum int64) {
	_ = fs.WalkDir(c.from.FS(), folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not copied
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		if sum > maxCopied {
			return fs.SkipAll
		}
		return nil
	})
	return sum
}

func (c folderCopy) copy(ctx context.Context, folder string) error {
	if err := c.to.MkdirAll(path.Dir(folder), 0o777); err != nil {
		return err
	}
	return fs.WalkDir(c.from.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not copied
		}
		local := filepath.FromSlash(name)
		switch {
		case entry.IsDir():
			err = c.to.Mkdir(local, 0o777)
		case entry.Type()&fs.ModeSymlink != 0:
			target, failed := c.from.Readlink(local)
			if failed != nil {
				return failed
			}
			err = c.to.Symlink(c.moved(target), local)
		case entry.Type().IsRegular():
			err = c.copyFile(local, entry)
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return err
	})
}

// pathsInside is a file of a folder of dependencies that has the path of the project in it: without
// a change it would lead to the person's own files.
var pathsInside = regexp.MustCompile(`\.(?:pth|egg-link)$|^__editable__|^pyvenv\.cfg$|^activate|^direct_url\.json$`)

// maxPaths bounds such a file, in bytes.
const maxPaths = 64 << 10

func (c folderCopy) copyFile(name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	in, err := safefile.OpenIn(c.from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	base := filepath.Base(name)
	if info.Size() <= maxPaths && (pathsInside.MatchString(base) || filepath.Base(filepath.Dir(name)) == "bin" && path.Ext(base) == "") {
		var text []byte
		if text, err = io.ReadAll(in); err == nil {
			_, err = io.WriteString(out, c.moved(string(text)))
		}
	} else {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Close())
}

// movedTo returns a function that replaces the path of a work tree in a text, such as a command or
// a variable of the environment, by that of the throw-away one. A home folder is not replaced.
func movedTo(root, tree string, env []string) func(string) string {
	if env == nil {
		env = os.Environ()
	}
	if root == "/" || slices.Contains(env, "HOME="+root) {
		return func(text string) string { return text }
	}
	ends := regexp.MustCompile(regexp.QuoteMeta(root) + `([^\w.-]|$)`)
	return func(text string) string {
		if !strings.Contains(text, root) {
			return text
		}
		return ends.ReplaceAllString(text, strings.ReplaceAll(tree, "$", "$$")+"${1}")
	}
}
