package moving

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loopstate"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// maxManifest bounds the manifest, in bytes.
const maxManifest = 1 << 20

// Imported says where a loop is now.
type Imported struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Project    string `json:"project"`
	From       string `json:"from"` // the host
	Branch     string `json:"branch,omitempty"`
	BranchMade bool   `json:"branchMade"`
	Tree       string `json:"tree,omitempty"` // the ref of the files as they were; empty if the work tree has them
}

// Import unpacks an exported loop: into a new folder, which becomes a work tree with the files as
// they were, or else into the current project, whose files it leaves alone.
func Import(ctx context.Context, e *cli.Env, file, into string) (Imported, error) {
	a, err := open(e.Abs(file))
	if err != nil {
		return Imported{}, fmt.Errorf("import %s: %w", file, err)
	}
	defer a.close()
	done := Imported{Name: a.Name, ID: a.ID, From: a.Host, Project: e.Root()}
	if into != "" {
		if done.Project, err = newFolder(e.Abs(into)); err != nil {
			return done, err
		}
	}
	if err := a.bring(ctx, e, &done, into != ""); err != nil {
		return done, fmt.Errorf("import %s: %w", file, err)
	}
	return done, nil
}

// newFolder makes a folder, or takes an empty one.
func newFolder(path string) (string, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) > 0 {
		err = cli.Refuse("name a new folder", "%s is not empty", path)
	}
	return cli.WithoutLinks(path), err
}

// bring unpacks the archive beside the place of the loop, brings the repository, and moves the
// loop's folder to its place last: before that there is no loop.
func (a *archive) bring(ctx context.Context, e *cli.Env, done *Imported, fresh bool) error {
	root := done.Project
	if fresh {
		done.Project = filepath.Join(root, filepath.FromSlash(a.Inside))
	} else if err := launch.OwnFolders(e, filepath.Join(root, cli.RalphFolder, a.Name)); err != nil {
		return err
	}
	folder := filepath.Join(done.Project, cli.RalphFolder)
	dir := filepath.Join(folder, a.Name)
	if _, err := os.Lstat(dir); err == nil {
		return cli.Refuse(fmt.Sprintf("'ralph clean %s' removes it, or import into another folder with --into DIR", a.Name), "there is a loop %q in %s", a.Name, e.Short(done.Project))
	}
	scratch, err := os.MkdirTemp(root, ".importing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // what is left has a name that explains it
	if err := a.unpack(scratch); err != nil {
		return err
	}
	loop := filepath.Join(scratch, "loop")
	state, err := loopstate.Rebuild(loop)
	if err == nil && state.Lifecycle.ID != a.ID {
		err = fmt.Errorf("the journal is that of another loop than the manifest: %q", state.Lifecycle.ID)
	}
	if err != nil {
		return err
	}
	if err := a.bringRepo(ctx, e, done, root, filepath.Join(scratch, bundleName), fresh); err != nil {
		return err
	}
	if err := os.MkdirAll(done.Project, 0o777); err != nil {
		return err
	}
	if err := launch.PrepareFolder(folder); err != nil {
		return err
	}
	if err := bringSettings(e, filepath.Join(scratch, settingsName), filepath.Join(done.Project, cli.SettingsName)); err != nil {
		return err
	}
	if err := repo.HideFromClean(loop); err != nil {
		return err
	}
	return safefile.Move(loop, dir)
}

func (a *archive) bringRepo(ctx context.Context, e *cli.Env, done *Imported, root, bundle string, fresh bool) error {
	if a.Repo == nil {
		return nil
	}
	b := repo.Bundle{ID: a.ID, Branch: a.Repo.Branch, Head: a.Repo.Head, Tree: a.Repo.Tree}
	done.Branch = b.Branch
	cli.Tell(e.Stderr, "bringing the history of the repository")
	if fresh {
		done.BranchMade = b.Branch != ""
		return repo.CloneBundle(ctx, root, bundle, b, e.Environ...)
	}
	var err error
	done.Tree = repo.MovedRef(a.ID)
	done.BranchMade, err = repo.Unbundle(ctx, root, bundle, b, e.Environ...)
	if repo.Absent(err) {
		err = cli.Refuse("--into DIR makes one in a new folder", "the loop worked in a repository, and %s is none", e.Short(root))
	}
	return err
}

// bringSettings gives a project without settings those of the loop's. No program of theirs runs
// before a person trusts them.
func bringSettings(e *cli.Env, from, to string) error {
	text, err := safefile.Read(from, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return nil // the project's own count
	}
	cli.Tell(e.Stderr, "the project has the settings of the other machine now: %s", e.Short(to))
	return safefile.WriteFile(to, text, 0o644)
}

// An archive is the file of an export.
type archive struct {
	Manifest
	file *os.File
	zstd *zstd.Decoder
	tar  *tar.Reader
}

// errForeign reports a file that no export wrote.
var errForeign = errors.New("it is no file of 'ralph export'")

// open reads the manifest.
func open(path string) (a *archive, err error) {
	a = &archive{}
	if a.file, err = safefile.OpenLinked(path, os.O_RDONLY, 0); err != nil {
		return nil, err
	}
	if a.zstd, err = zstd.NewReader(a.file, zstd.WithDecoderMaxMemory(256<<20)); err != nil {
		return nil, errors.Join(err, a.file.Close())
	}
	a.tar = tar.NewReader(a.zstd)
	if err := a.readManifest(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *archive) close() {
	a.zstd.Close()
	_ = a.file.Close() // it was only read
}

func (a *archive) readManifest() error {
	header, err := a.tar.Next()
	if err != nil || header.Name != manifestName || header.Size > maxManifest {
		return errForeign
	}
	text, err := io.ReadAll(a.tar)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if a.Format != formatVersion {
		return cli.Refuse("import it with a newer ralph", "it has the format %d, and this ralph reads %d", a.Format, formatVersion)
	}
	if _, err := ulid.ParseStrict(a.ID); err != nil {
		return fmt.Errorf("%w: the loop's id is %w", errForeign, err)
	}
	if err := registry.CheckName(a.Name); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if !filepath.IsLocal(filepath.FromSlash(a.Inside)) {
		return fmt.Errorf("%w: the project is in %q", errForeign, a.Inside)
	}
	return nil
}

// unpack writes the files of the archive below a folder, and nothing else.
func (a *archive) unpack(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // the files are closed
	for {
		header, err := a.tar.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		inLoop := strings.HasPrefix(header.Name, loopPrefix)
		if header.Typeflag != tar.TypeReg || !inLoop && header.Name != bundleName && header.Name != settingsName {
			return fmt.Errorf("%w: it has %q", errForeign, header.Name)
		}
		if err := a.unpackFile(root, filepath.FromSlash(header.Name)); err != nil {
			return err
		}
	}
}

func (a *archive) unpackFile(root *os.Root, name string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, a.tar)
	if err == nil {
		err = fsync(f)
	}
	return errors.Join(err, f.Close())
}
