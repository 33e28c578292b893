package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// maxNames bounds a look for repositories. It takes some seconds to get there.
const maxNames = 2_000_000

// A reach is what an agent may change.
type reach struct{ write, protect []string }

// reach returns that of the agent. Landlock and a machine protect nothing in a folder that may be
// changed.
func (b *Box) reach() reach {
	r := reach{write: b.writable()}
	if b.Mode != Landlock && b.Mode != DockerSandbox {
		r.protect = b.protected()
	}
	return r
}

// changes reports whether the agent may change a path: of the folders around it, the last counts.
func (r reach) changes(path string) bool {
	deepest := func(dirs []string) (length int) {
		for _, dir := range dirs {
			if within(dir, path) {
				length = max(length, len(dir))
			}
		}
		return length
	}
	return deepest(r.write) > deepest(r.protect)
}

// enters reports whether the agent may change something in a folder.
func (r reach) enters(dir string) bool {
	return r.changes(dir) || slices.ContainsFunc(r.write, func(path string) bool { return within(dir, path) && r.changes(path) })
}

// repositories returns the folders in which git finds settings and hooks for a folder that the
// agent may change: those of each work tree, and those with the shape of a bare repository. It
// looks into all of the tree, ignored folders too, and into what else is the loop's, where a link
// in the tree may lead. It looks at nothing else that a person lets the agent change.
func (b *Box) repositories(reach reach) []string {
	tree := cmp.Or(b.Git.Tree, b.Tree, b.Dir)
	git, _ := b.Git.access()
	roots := slices.Concat([]string{tree, b.Temp}, git,
		slices.DeleteFunc(slices.Clone(b.Write), func(path string) bool { return !within(filepath.Dir(b.Aside), path) }))
	slices.Sort(roots)
	found, names, whole := map[string]bool{}, 0, true
	look := func(path string, entry fs.DirEntry, err error) error {
		names++
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			whole = false
			b.noteUnread(path, err)
			return nil
		case names > cmp.Or(b.most, maxNames):
			whole = false
			b.noteLimit(tree, path)
			return fs.SkipAll
		case entry.IsDir() && !reach.enters(path):
			return fs.SkipDir
		case strings.EqualFold(entry.Name(), ".git"):
			found[gitFolder(filepath.Dir(path))] = true
		case strings.EqualFold(entry.Name(), "HEAD") && isBare(filepath.Dir(path)):
			found[filepath.Dir(path)] = true
		}
		return nil
	}
	for i, root := range roots {
		if !slices.ContainsFunc(roots[:i], func(other string) bool { return within(other, root) }) {
			_ = filepath.WalkDir(root, look) // look returns no error
		}
	}
	if !whole && b.Git.Common != "" { // git enters what its index names
		links, _ := repo.Gitlinks(context.Background(), tree) // that not all was looked at is noted
		for _, link := range links {
			found[gitFolder(link)] = true
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// isBare reports whether git would take a folder with a HEAD for one of its own.
func isBare(dir string) bool {
	there := func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil }
	return there("commondir") || there("objects") && there("refs")
}

func (b *Box) noteLimit(tree, path string) {
	if !b.limited {
		b.note("looked at %s in %s for repositories, and not at those from %s on: a git there could run what an agent left",
			units.Quantity(cmp.Or(b.most, maxNames), "name"), tree, path)
	}
	b.limited = true
}

// noteUnread names a folder that cannot be read, unless that was so before the agent began.
func (b *Box) noteUnread(path string, err error) {
	if b.prepared && !b.unread[path] {
		why := err
		if in, ok := errors.AsType[*fs.PathError](err); ok {
			why = in.Err
		}
		b.note("could not look for repositories in %.200s: %v; a git there could run what an agent left", path, why) // the path may have 4,096 bytes
	}
	if b.unread == nil {
		b.unread = map[string]bool{}
	}
	b.unread[path] = true
}
