package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// dependencies are the folders in which package managers put what a project depends on.
var dependencies = []string{
	"node_modules", ".venv", "venv", "env", ".virtualenv", "__pypackages__", "vendor", "bundle", ".bundle", "deps", "_build", "Pods", "elm-stuff",
	".yarn", ".pnpm-store", "bower_components", ".dart_tool", "packages",
}

// maxCopied bounds the folders that are copied, in bytes.
const maxCopied = 1 << 30

// copyDependencies copies the ignored folders of dependencies, as far as there is space for them.
func (t *Tree) copyDependencies(ctx context.Context, p Preparation) error {
	root, err := repo.WorkTree(p.From)
	if err != nil {
		return err
	}
	out, err := repo.In(root, p.Env...).Read(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return fmt.Errorf("find folders of dependencies: %w", err)
	}
	from, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(t.Root)
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
		c := folderCopy{from: from, to: to, moved: p.Moved}
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
var pathsInside = units.Pattern(`\.(?:pth|egg-link)$|^__editable__|^pyvenv\.cfg$|^activate|^direct_url\.json$`)

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
	if info.Size() <= maxPaths && (pathsInside().MatchString(base) || filepath.Base(filepath.Dir(name)) == "bin" && path.Ext(base) == "") {
		var text []byte
		if text, err = io.ReadAll(in); err == nil {
			_, err = io.WriteString(out, c.moved(string(text)))
		}
	} else {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Close())
}
