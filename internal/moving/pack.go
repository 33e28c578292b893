package moving

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// staysHere are the files of a loop's folder that mean nothing elsewhere: locks, the space for the
// last events, the fence; and what the bundle holds.
var staysHere = []string{"run.lock", "notify", "reserve", "sandbox", ".git", workspace.Folder, workspace.Record, workspace.MergeFolder, launch.FenceName}

// pack writes an archive. It is durable on return, but for its name.
func pack(name string, m Manifest, dir, bundle, settings string) (err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	p := packer{tar.NewWriter(z)}
	if err = p.all(m, dir, bundle, settings); err != nil {
		return errors.Join(err, z.Close())
	}
	if err = p.Close(); err == nil {
		err = z.Close()
	}
	if err == nil {
		err = fsync(f)
	}
	return err
}

// Tests notice with these what was made durable, and when.
var (
	fsync      = (*os.File).Sync
	syncFolder = safefile.SyncFolder
)

type packer struct{ *tar.Writer }

func (p packer) all(m Manifest, dir, bundle, settings string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := p.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: m.At}); err != nil {
		return err
	}
	if _, err := p.Write(text); err != nil {
		return err
	}
	if bundle != "" {
		if err := p.file(bundleName, bundle); err != nil {
			return err
		}
	}
	if err := p.file(settingsName, settings); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return p.folder(dir)
}

// folder adds the loop's files. It skips links and devices, which no file of ralph's is.
func (p packer) folder(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if slices.Contains(staysHere, name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return p.file(loopPrefix+filepath.ToSlash(name), path)
	})
}

func (p packer) file(name, path string) error {
	f, err := safefile.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := p.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.Copy(p, io.LimitReader(f, info.Size()))
	return err
}
