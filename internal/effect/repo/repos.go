package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// How far Repos searches. A folder with very many entries is read in part.
const (
	maxRepos   = 32
	maxDepth   = 3    // folders below the outermost one
	maxFolders = 4096 // folders opened
	maxNames   = 4096 // entries read of one folder
)

// Repos returns the working trees in which an agent that works in dir may commit: the one around
// dir first, then those inside it: submodules and linked worktrees wherever they are, and other
// repositories three folders deep, sorted and 32 at most. If none is around dir, those inside dir.
// Folders named .ralph, .git and node_modules are not entered, and links are not followed. Without
// any the error satisfies [Absent]. Time and environment are as in [TakeSnapshot].
func Repos(ctx context.Context, dir string, env ...string) ([]string, error) {
	roots, _, err := findRepos(ctx, dir, env)
	return roots, err
}

// Any reports whether git is installed, and there is a repository that Repos would find. It does
// not call git.
func Any(dir string) bool {
	if _, err := exec.LookPath("git"); err != nil {
		return false
	}
	base, err := filepath.Abs(dir)
	return err == nil && (hasDotGit(base) || len(walk(context.Background(), base)) > 0)
}

// findRepos finds what Repos returns. around says that the first of them is around dir.
func findRepos(ctx context.Context, dir string, env []string) (roots []string, around bool, err error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	roots, around, err = In(dir, env...).repos(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("find repositories: %w", err)
	}
	return roots, around, nil
}

func (g Git) repos(ctx context.Context) (roots []string, around bool, err error) {
	base, err := filepath.Abs(g.Dir)
	if err != nil {
		return nil, false, err
	}
	at, outside := g.Locate(ctx)
	if outside != nil && !errors.Is(outside, ErrNoRepository) {
		return nil, false, outside
	}
	var inside []string
	if outside == nil {
		base = at.Root
		if inside, err = g.In(at.Root).notedRepos(ctx, at); err != nil {
			return nil, false, err
		}
	}
	inside = append(inside, walk(ctx, base)...)
	if err := ctx.Err(); err != nil {
		return nil, false, context.Cause(ctx)
	}
	slices.Sort(inside)
	inside = slices.Compact(inside)
	if outside == nil {
		inside = slices.Insert(inside, 0, base)
	}
	if len(inside) == 0 {
		return nil, false, outside
	}
	return inside[:min(len(inside), maxRepos)], outside == nil, nil
}

// notedRepos returns the repositories inside this one that it has recorded.
func (g Git) notedRepos(ctx context.Context, at Location) ([]string, error) {
	var found []string
	keep := func(root string) {
		inside, err := filepath.Rel(at.Root, root)
		if err == nil && filepath.IsLocal(inside) && inside != "." && !IsOwn(filepath.ToSlash(inside)) && IsRepository(root) {
			found = append(found, root)
		}
	}
	modules, err := g.modules(ctx, at.Root)
	if err != nil {
		return nil, err
	}
	for _, path := range modules {
		keep(filepath.Join(at.Root, path))
	}
	// gitrepository-layout(5): worktrees/<id>/gitdir holds the path of a linked worktree's .git
	// file.
	notes := filepath.Join(at.GitDir, "worktrees")
	for _, id := range folders(notes) {
		if path, err := safefile.ReadLinked(filepath.Join(notes, id, "gitdir"), maxPointer); err == nil {
			keep(filepath.Dir(strings.TrimSuffix(string(path), "\n")))
		}
	}
	return found, nil
}

// modules returns the paths of a working tree's submodules from .gitmodules.
func (g Git) modules(ctx context.Context, root string) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(root, modulesFile)); err != nil {
		return nil, nil
	}
	out, err := g.In(root).Read(ctx, "config", "-z", "--file", modulesFile, "--get-regexp", `^submodule\..*\.path$`)
	// The agent may have left a file that git cannot read; the other repositories still count.
	if err != nil && ExitCode(err) < 0 {
		return nil, err
	}
	var paths []string
	for record := range bytes.SplitSeq(out, []byte{0}) {
		_, path, ok := strings.Cut(string(record), "\n")
		if path = filepath.FromSlash(path); ok && filepath.IsLocal(path) {
			paths = append(paths, filepath.Clean(path))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// walk finds repositories below a folder, level by level.
func walk(ctx context.Context, base string) []string {
	var found []string
	level, opened := []string{base}, 0
	for range maxDepth {
		var next []string
		for _, folder := range level {
			if opened++; opened > maxFolders || ctx.Err() != nil {
				return found
			}
			for _, name := range folders(folder) {
				path := filepath.Join(folder, name)
				if IsRepository(path) {
					found = append(found, path)
				}
				next = append(next, path)
			}
		}
		level = next
	}
	return found
}

// folders returns the names of a folder's folders; none if it cannot be read.
func folders(path string) []string {
	root, err := os.OpenRoot(path) // which does not wait for a pipe
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxNames)
	var names []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains([]string{ownFolder, ".git", "node_modules"}, e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// IsRepository reports whether a folder is the root of a working tree: it has a .git folder with a
// HEAD, or a .git file that says where such a folder is.
func IsRepository(path string) bool {
	dotGit := filepath.Join(path, ".git")
	info, err := os.Lstat(dotGit)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		_, err := os.Lstat(filepath.Join(dotGit, "HEAD"))
		return err == nil
	}
	content, err := safefile.Read(dotGit, maxPointer)
	return err == nil && bytes.HasPrefix(content, []byte("gitdir:"))
}
