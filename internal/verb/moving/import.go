package moving

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// Imported says where a loop is now.
type Imported struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Project    string `json:"project"`
	From       string `json:"from"` // the host
	Branch     string `json:"branch,omitempty"`
	BranchMade bool   `json:"branchMade"`
	Tree       string `json:"tree,omitempty"` // the ref of the files as they were; empty if the work tree has them

	settings bool // the project has those of the loop's
	heldOut  int  // held-out guardrails that the loop had
}

// Import unpacks an exported loop: into a new folder, which becomes a work tree with the files as
// they were, or else into the current project, whose files it leaves alone. Everything that it
// writes is below that one folder, and no link in it is followed: a stranger may have made the
// file. Only held-out guardrails, where a person asks for them, are in ralph's home.
// With a claim, the loop is there for the host of a pool that has made it.
func Import(ctx context.Context, e *cli.Env, file, into string, held bool, claim *fence.Claim) (Imported, error) {
	a, err := open(e.Abs(file))
	if refused, ok := errors.AsType[*cli.Failure](err); ok {
		return Imported{}, cli.Refuse(refused.NextStep, "import %s: %w", file, err)
	}
	if err != nil {
		return Imported{}, cli.Refuse("name a file that 'ralph export' wrote", "import %s: %w", file, err)
	}
	defer a.close()
	a.progress.to, a.claim = e.Stderr, claim
	if a.held, err = newStage(e.Home, held); err != nil {
		return Imported{}, fmt.Errorf("import %s: %w", file, err)
	}
	defer a.held.remove()
	done := Imported{Name: a.Name, ID: a.ID, From: a.Host, Project: e.Root()}
	if into != "" {
		gone := missing(e.Abs(into))
		defer func() {
			for _, folder := range gone {
				_ = os.Remove(folder) // only an empty one: where the import was refused
			}
		}()
		if done.Project, err = newFolder(e, e.Abs(into)); err != nil {
			return done, err
		}
	}
	if err := a.bring(ctx, e, &done, into != ""); err != nil {
		return done, fmt.Errorf("import %s: %w", file, err)
	}
	a.held.missed(e, done.heldOut)
	return done, nil
}

// missing returns the folders that making this one makes, the deepest first.
func missing(folder string) (gone []string) {
	for {
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
			return gone
		}
		gone = append(gone, folder)
		folder = filepath.Dir(folder)
	}
}

// newFolder makes a folder, or takes an empty one. What comes there is a stranger's, so the
// person's own settings must not be in it.
func newFolder(e *cli.Env, path string) (string, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", err
	}
	folder := cli.WithoutLinks(path)
	entries, err := os.ReadDir(folder)
	switch {
	case err != nil:
		return "", err
	case len(entries) > 0:
		return "", cli.Refuse("name a new folder", "%s is not empty", path)
	case cli.Within(folder, cli.WithoutLinks(e.Home)):
		return "", cli.Refuse("name another folder", "ralph's home, %s, is in %s: its settings are your own", e.Short(e.Home), path)
	}
	return folder, nil
}

// bring unpacks the archive beside the place of the loop, brings the repository, and moves the
// loop's folder to its place last: before that there is no loop.
func (a *archive) bring(ctx context.Context, e *cli.Env, done *Imported, fresh bool) error {
	top, err := os.OpenRoot(done.Project)
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }() // it only has names
	inside := "."
	if fresh {
		inside = path.Clean(a.Inside)
		done.Project = filepath.Join(done.Project, filepath.FromSlash(inside))
	} else if err := a.checkPlace(e, top, inside, movable); err != nil {
		return err
	}
	name := ".importing-" + rand.Text()
	defer func() { _ = top.RemoveAll(name) }() // what is left has a name that explains it
	scratch, err := makeFolders(top, name)
	if err != nil {
		return err
	}
	err = a.prepare(ctx, e, done, top, scratch, inside, fresh)
	store := holdout.Open(e.Home, done.Project)
	if err = errors.Join(err, scratch.Close()); err == nil {
		err = a.held.check(store)
	}
	if err != nil {
		return err
	}
	if fresh {
		if err := moveAll(top, filepath.Join(name, treeName)); err != nil {
			return err
		}
	}
	if err := forget(e, done, fresh); err != nil {
		return err
	}
	if err := a.held.keep(e, store, done.Project); err != nil {
		return err
	}
	return a.place(top, filepath.Join(name, "loop"), inside)
}

// treeName is the folder in which a new work tree is made, before anything of it is in its place.
const treeName = "tree"

// prepare unpacks the archive, checks it, and prepares the place of the loop's folder.
func (a *archive) prepare(ctx context.Context, e *cli.Env, done *Imported, top, scratch *os.Root, inside string, fresh bool) error {
	if err := a.unpack(scratch); err != nil {
		return err
	}
	loop := filepath.Join(scratch.Name(), "loop")
	state, err := loopstate.Rebuild(loop)
	if err == nil && state.Lifecycle.ID != a.ID {
		err = fmt.Errorf("the journal is that of another loop than the manifest: %q", state.Lifecycle.ID)
	}
	if done.heldOut = state.Rules.HeldOut; err == nil {
		err = repo.HideFromClean(loop)
	}
	if err == nil && a.claim != nil {
		err = fence.WriteClaim(loop, *a.claim)
	}
	if err != nil {
		return err
	}
	tree, hint := top, movable
	if fresh {
		hint = "nothing was imported: what it leads to is not part of the loop; where it was exported, make it a real folder and export it again"
		if tree, err = makeFolders(scratch, treeName); err != nil {
			return err
		}
		defer func() { _ = tree.Close() }() // it only has names
	}
	if err := a.bringRepo(ctx, e, done, tree.Name(), filepath.Join(scratch.Name(), bundleName), fresh); err != nil {
		return err
	}
	if err := a.checkPlace(e, tree, inside, hint); err != nil {
		return err
	}
	folder, err := makeFolders(tree, path.Join(inside, cli.RalphFolder))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // it only has names
	if err := repo.IgnoreIn(folder); err != nil {
		return err
	}
	return bringSettings(e, scratch, folder, done)
}

// movable is the next step where a person made what is in the way.
const movable = "move it away, or make it a real folder"

// checkPlace refuses a place for the loop's folder that is taken, or to which a link leads. hint is
// the next step if something is no folder.
func (a *archive) checkPlace(e *cli.Env, tree *os.Root, inside, hint string) error {
	name := "."
	for step := range strings.SplitSeq(path.Join(inside, cli.RalphFolder), "/") {
		name = path.Join(name, step)
		info, err := tree.Lstat(filepath.FromSlash(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return cli.Refuse(hint, "%s is a symbolic link", name)
		case !info.IsDir():
			return cli.Refuse(hint, "%s is not a folder", name)
		}
	}
	if _, err := tree.Lstat(filepath.FromSlash(path.Join(name, a.Name))); err == nil {
		return cli.Refuse(fmt.Sprintf("'ralph clean %s' removes it, or import into another folder with --into DIR", a.Name),
			"there is a loop %q in %s", a.Name, cli.Clean(filepath.Join(tree.Name(), filepath.FromSlash(inside))))
	}
	return nil
}

// makeFolders opens a folder, and makes those that are missing. No link leads to it.
func makeFolders(in *os.Root, name string) (*os.Root, error) {
	folder, err := in.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for step := range strings.SplitSeq(name, "/") {
		parent := folder
		if err = safefile.Mkdir(safefile.Within(parent), step); err == nil {
			folder, err = safefile.FolderIn(parent, step)
		}
		if err = errors.Join(err, parent.Close()); err != nil {
			return nil, err
		}
	}
	return folder, nil
}

// moveAll moves everything in a folder to top. It replaces nothing.
func moveAll(top *os.Root, from string) error {
	entries, err := fs.ReadDir(top.FS(), filepath.ToSlash(from))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := top.Lstat(entry.Name()); err == nil {
			return cli.Refuse("name a new folder", "%s was made meanwhile", filepath.Join(top.Name(), entry.Name()))
		}
		if err := top.Rename(filepath.Join(from, entry.Name()), entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// place moves the loop's folder to its place. It is durable on return.
func (a *archive) place(top *os.Root, loop, inside string) error {
	folder, err := makeFolders(top, path.Join(inside, cli.RalphFolder))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // it only has names
	err = top.Rename(loop, filepath.Join(filepath.FromSlash(inside), cli.RalphFolder, a.Name))
	if err == nil {
		err = errors.Join(syncFolder(folder.Name()), syncFolder(top.Name()))
	}
	return err
}

// forget removes what a person said about another project or loop at that place: this one is a
// stranger's until they have looked at it.
func forget(e *cli.Env, done *Imported, fresh bool) error {
	err := registry.Remove(e.Home, done.Project, done.Name)
	if err == nil && (fresh || done.settings) {
		_, err = cli.RevokeTrust(e.Home, done.Project)
	}
	return err
}

func (a *archive) bringRepo(ctx context.Context, e *cli.Env, done *Imported, root, bundle string, fresh bool) error {
	if a.Repo == nil {
		return nil
	}
	b := keep.Bundle{ID: a.ID, Branch: a.Repo.Branch, Head: a.Repo.Head, Tree: a.Repo.Tree}
	done.Branch = b.Branch
	cli.Tell(e.Stderr, "bringing the history of the repository")
	if fresh {
		done.BranchMade = b.Branch != ""
		return keep.CloneBundle(ctx, root, bundle, b, a.checkTree, e.Environ...)
	}
	var err error
	done.Tree = keep.MovedRef(a.ID)
	done.BranchMade, err = keep.Unbundle(ctx, root, bundle, b, e.Environ...)
	switch {
	case errors.Is(err, keep.ErrRefTaken):
		err = cli.Refuse("--into DIR makes a repository in a new folder", "%w", err)
	case repo.Absent(err):
		err = cli.Refuse("--into DIR makes one in a new folder", "the loop worked in a repository, and %s is none", e.Short(root))
	}
	return err
}

// checkTree refuses a work tree that is too large for its bundle: a few bytes can name one file a
// million times.
func (a *archive) checkTree(files, bytes int64) error {
	tree := meter{packed: a.meter.packed}
	if err := tree.add(files, bytes); err != nil {
		return unwanted(fmt.Errorf("its work tree is too large: %w", err))
	}
	return nil
}

// bringSettings gives a project without settings those of the loop's. No program of theirs runs
// before a person trusts them. The person's own settings need no trust, so theirs are no place for
// them.
func bringSettings(e *cli.Env, scratch, folder *os.Root, done *Imported) error {
	text, err := safefile.ReadIn(scratch, settingsName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := filepath.Base(cli.SettingsName)
	if _, err := folder.Lstat(name); err == nil {
		return nil // the project's own count
	}
	here, err := folder.Stat(".")
	if err != nil {
		return err
	}
	shown := e.Short(filepath.Join(done.Project, cli.SettingsName))
	if home, err := os.Stat(e.Home); err == nil && os.SameFile(here, home) {
		cli.Tell(e.Stderr, "the settings of the other machine were left out: %s would be your own", shown)
		return nil
	}
	cli.Tell(e.Stderr, "the project has the settings of the other machine now: %s", shown)
	done.settings = true
	return safefile.Replace(safefile.Within(folder), name, text, 0o644)
}
