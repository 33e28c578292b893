package dir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/pool/store"
)

// List yields keys in order.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_, err := s.walk(ctx, folderOf(prefix), prefix, func(key string, entry fs.DirEntry) bool {
			switch {
			case entry.IsDir():
				// All keys of this folder begin with its own, so they are smaller if it is.
				return key > after || strings.HasPrefix(after, key)
			case key > after && store.CheckKey(key) == nil:
				return yield(key, nil)
			}
			return true
		})
		if err != nil {
			yield("", fmt.Errorf("list %s: %w", prefix, err))
		}
	}
}

// folderOf returns the folder below which all keys with this prefix are. No key has a prefix that
// is none, such as that of the engine's own folders.
func folderOf(prefix string) string {
	folder := path.Dir(prefix)
	if prefix != "" && store.CheckKey(strings.TrimSuffix(prefix, "/")) != nil {
		return newFiles + "/absent"
	}
	return folder
}

// walk calls visit for the keys that begin with prefix, in order, and before those of a folder
// with the folder's name and a slash. If visit returns false, the folder is left out, or the walk
// ends.
func (s *Store) walk(ctx context.Context, folder, prefix string, visit func(string, fs.DirEntry) bool) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := s.names(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		key := path.Join(folder, entry.Name())
		switch {
		case entry.IsDir():
			key += "/"
			if !strings.HasPrefix(key, prefix) && !strings.HasPrefix(prefix, key) || !visit(key, entry) {
				continue
			}
			if more, err := s.walk(ctx, path.Join(folder, entry.Name()), prefix, visit); !more {
				return false, err
			}
		case entry.Type().IsRegular() && strings.HasPrefix(key, prefix) && !visit(key, entry):
			return false, nil
		}
	}
	return true, nil
}

// names reads a folder, without the engine's own names, in the order of the keys: that of a
// folder has a slash at its end, so 'a-b' comes before 'a/b'.
func (s *Store) names(folder string) ([]fs.DirEntry, error) {
	f, err := s.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return strings.HasPrefix(entry.Name(), ".") })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(fullName(a), fullName(b)) })
	return entries, nil
}

func fullName(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
