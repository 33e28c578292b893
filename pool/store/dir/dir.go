package dir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

const (
	newFiles  = ".new"
	lockFiles = ".lock"
	// abandoned is the age from which a file without a name is one of a process that died.
	abandoned = 24 * time.Hour
	// revisionBytes is the length of a revision: crypto/rand.Text.
	revisionBytes = 26
)

// A Store is a folder.
type Store struct {
	root *os.Root
	// durable has the folders of keys whose names were synced.
	durable sync.Map
	// syncFile is (*os.File).Sync, but in tests.
	syncFile func(*os.File) error
}

var _ store.Store = (*Store)(nil)

// Open opens a folder that exists. It makes none, because an absent folder may be a disk that is
// not mounted, and a pool on the disk below would have the same loops a second time.
func Open(folder string) (*Store, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the store: the folder %s does not exist: mount its disk, or make it with mkdir", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s := &Store{root: root, syncFile: (*os.File).Sync}
	for _, name := range []string{newFiles, lockFiles} {
		if err := root.Mkdir(name, 0o770); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(fmt.Errorf("open the store in %s: %w", folder, err), root.Close())
		}
	}
	s.removeAbandoned()
	return s, nil
}

// removeAbandoned removes files that dead processes have left. Where the clock is wrong and a
// living process loses its file, its link fails, and nothing is written.
func (s *Store) removeAbandoned() {
	names, err := s.names(newFiles)
	if err != nil {
		return
	}
	for _, entry := range names {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = s.root.Remove(path.Join(newFiles, entry.Name()))
		}
	}
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// Get reads a key.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	err := errors.Join(store.CheckKey(key), ctx.Err())
	if err != nil {
		return store.Entry{}, err
	}
	entry, err := s.read(key)
	if err != nil {
		return store.Entry{}, fmt.Errorf("get %s: %w", key, err)
	}
	return entry, nil
}

func (s *Store) read(key string) (store.Entry, error) {
	// Without O_NONBLOCK a FIFO that another user put there would stop the caller.
	f, err := s.root.OpenFile(key, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return store.Entry{}, store.ErrNotFound
	}
	if err != nil {
		return store.Entry{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return store.Entry{}, err
	case info.IsDir():
		return store.Entry{}, store.ErrNotFound
	case !info.Mode().IsRegular() || info.Size() > revisionBytes+1+store.MaxValue:
		return store.Entry{}, fmt.Errorf("it is no file of a store: %s, %d bytes", info.Mode(), info.Size())
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return store.Entry{}, err
	}
	revision, value, found := bytes.Cut(text, []byte("\n"))
	if !found || len(revision) != revisionBytes {
		return store.Entry{}, fmt.Errorf("it is no file of a store: its first line is no revision")
	}
	return store.Entry{Value: value, Revision: store.Revision(revision)}, nil
}
