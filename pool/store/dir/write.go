package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/ralph-loop/ralph/pool/store"
)

// PutIfAbsent writes a key that does not exist.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	revision, err := s.write(ctx, key, value, s.root.Link)
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	return revision, nil
}

// CompareAndSwap replaces the value of a key that has this revision.
func (s *Store) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	next, err := s.swap(ctx, key, revision, value)
	if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrNotFound) {
		err = store.ErrChanged
	}
	if err != nil {
		return "", fmt.Errorf("replace %s: %w", key, err)
	}
	return next, nil
}

func (s *Store) swap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	if revision == "" {
		return s.write(ctx, key, value, s.root.Link)
	}
	if err := store.CheckKey(key); err != nil {
		return "", err
	}
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return "", err
	}
	defer unlock()
	entry, err := s.read(key)
	if err != nil {
		return "", err
	}
	if entry.Revision != revision {
		return "", store.ErrChanged
	}
	return s.write(ctx, key, value, s.root.Rename)
}

// write makes a file durable, and then its name, which it gets by a link or a rename.
func (s *Store) write(ctx context.Context, key string, value []byte, name func(from, to string) error) (store.Revision, error) {
	if err := errors.Join(store.CheckKey(key), store.CheckValue(value), ctx.Err()); err != nil {
		return "", err
	}
	revision := rand.Text()
	file := path.Join(newFiles, revision)
	defer s.root.Remove(file) // after a rename there is none
	if err := s.create(file, revision, value); err != nil {
		return "", err
	}
	folder := path.Dir(key)
	err := s.makeDurable(folder)
	if err == nil {
		err = name(file, key)
	}
	if errors.Is(err, fs.ErrNotExist) {
		// The folder has been removed since it was made durable.
		s.durable.Clear()
		if err = s.makeDurable(folder); err == nil {
			err = name(file, key)
		}
	}
	// A network disk that repeats a request whose answer was lost says that the name exists.
	if errors.Is(err, fs.ErrExist) && !s.same(file, key) {
		// The caller acts on what the other has written: that has to last as well.
		if err := s.sync(folder); err != nil {
			return "", err
		}
		if info, err := s.root.Lstat(key); err == nil && info.IsDir() {
			return "", errors.New("it is the beginning of other keys, and a folder on the disk")
		}
		return "", store.ErrExists
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := s.sync(folder); err != nil {
		return "", err
	}
	return store.Revision(revision), nil
}

func (s *Store) create(file, revision string, value []byte) error {
	f, err := s.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(revision+"\n"), value...))
	if err == nil {
		err = s.syncFile(f)
	}
	return errors.Join(err, f.Close())
}

// same tells whether two names are of one file.
func (s *Store) same(one, other string) bool {
	a, errOne := s.root.Lstat(one)
	b, errOther := s.root.Lstat(other)
	return errOne == nil && errOther == nil && os.SameFile(a, b)
}

// makeDurable makes a folder and those above it, and syncs their names once in this process: one
// that exists may have been made a moment ago by a process that has not synced it yet.
func (s *Store) makeDurable(folder string) error {
	if _, known := s.durable.Load(folder); known || folder == "." {
		return nil
	}
	above := path.Dir(folder)
	if err := s.makeDurable(above); err != nil {
		return err
	}
	if err := s.root.Mkdir(folder, 0o770); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := s.sync(above); err != nil {
		return err
	}
	s.durable.Store(folder, true)
	return nil
}

// sync makes the names in a folder durable.
func (s *Store) sync(folder string) error {
	f, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(s.syncFile(f), f.Close())
}
