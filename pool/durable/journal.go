package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/journal"
)

// SyncJournal makes all lines that were read durable: what a log has, the journal may not lose in a
// power failure. Segments before the last are durable, and so is one that is compressed meanwhile.
func SyncJournal(dir string) error {
	all, err := journal.Segments(dir)
	if err != nil || len(all) == 0 || all[len(all)-1].Packed {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(dir, "journal"))
	if err != nil {
		return fmt.Errorf("sync the journal: %w", err)
	}
	defer root.Close()
	f, err := OpenRegular(root, all[len(all)-1].Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sync the journal: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// OpenRegular opens a file that an agent may have replaced: by a link out of the folder, or by a
// FIFO, on which a reader would wait.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
