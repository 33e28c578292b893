package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// goneFS is a disk whose loop folder is removed as soon as a reader has opened it.
type goneFS struct{ fileSystem }

func (g goneFS) OpenFolder(dir string) (folder, error) {
	folder, err := g.fileSystem.OpenFolder(dir)
	return goneFolder{folder, dir}, err
}

type goneFolder struct {
	folder
	dir string
}

func (g goneFolder) List(name string) ([]string, error) {
	if err := os.RemoveAll(g.dir); err != nil {
		return nil, err
	}
	return g.folder.List(name)
}

// Removing a journal while it is read is an error, which the reader does not retry without end.
func TestRemovedJournalIsError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	if err := os.MkdirAll(filepath.Join(dir, segmentsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := last(goneFS{osFS{}}, dir, 1)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the reader still looks for it")
	}
}
