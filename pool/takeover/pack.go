package takeover

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// pack writes the file of an export from a folder that has its files.
func pack(folder, file string) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = packFile(t, folder, "manifest.json") // the first
	if err == nil {
		err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || name == "manifest.json" || isProjection(name) || !entry.Type().IsRegular() {
				return err
			}
			return packFile(t, folder, name)
		})
	}
	if err == nil {
		err = t.Close()
	}
	return errors.Join(err, z.Close())
}

// isProjection reports whether a file is computed from the journal. That of a tree may be of
// another moment than the log.
func isProjection(name string) bool {
	return name == "loop/state.json" || strings.HasPrefix(name, "loop/iterations/")
}

func packFile(t *tar.Writer, folder, name string) error {
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
