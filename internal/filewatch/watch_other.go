//go:build !linux

package filewatch

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watch is a watch on one file or one folder.
type Watch struct {
	path  string
	watch *fsnotify.Watcher
}

// New begins to watch a path until Close.
func New(path string) (*Watch, error) {
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := watch.Add(path); err != nil {
		return nil, errors.Join(err, watch.Close())
	}
	return &Watch{filepath.Clean(path), watch}, nil
}

// Wait returns the names in the folder that changed since the last call, as soon as there are any,
// and none when ctx has ended. The name of the watched path itself is empty. An empty name also
// reports that changes were lost. The result is valid until the next call.
func (w *Watch) Wait(ctx context.Context) ([]string, error) {
	select {
	case <-ctx.Done():
		return nil, nil
	case <-w.watch.Errors:
		return []string{""}, nil // some changes were lost
	case e, ok := <-w.watch.Events:
		switch {
		case !ok, e.Name == w.path && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)):
			return nil, ErrGone
		case e.Name == w.path:
			return []string{""}, nil
		}
		return []string{filepath.Base(e.Name)}, nil
	}
}

// Close ends the watch.
func (w *Watch) Close() error { return w.watch.Close() }
