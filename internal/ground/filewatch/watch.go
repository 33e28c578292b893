package filewatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// Watch is a watch on one file, or on one or more folders. A goroutine of fsnotify reads its events
// until Close.
type Watch struct {
	paths []string
	watch *fsnotify.Watcher
	names []string
}

// waiting is how many events the goroutine may be ahead of Wait, so that one wake-up gets them all.
const waiting = 64

// New begins to watch the paths until Close. A link is an error. The paths share one inotify
// instance: Linux often allows a user only 128. Without a path it finds out whether one is left.
func New(paths ...string) (*Watch, error) {
	watch, err := fsnotify.NewBufferedWatcher(waiting)
	switch {
	case errors.Is(err, syscall.EMFILE) && runtime.GOOS == "linux":
		return nil, fmt.Errorf("the limit fs.inotify.max_user_instances, or that of open files, is reached: %w", err)
	case err != nil:
		return nil, err
	}
	w := &Watch{watch: watch}
	for _, path := range paths {
		if err := watch.Add(path); err != nil {
			return nil, errors.Join(&fs.PathError{Op: "watch", Path: path, Err: err}, watch.Close())
		}
		if err := notLink(path); err != nil {
			return nil, errors.Join(err, watch.Close())
		}
		w.paths = append(w.paths, filepath.Clean(path))
	}
	return w, nil
}

// notLink returns an error for a link: fsnotify follows it, and would watch elsewhere. It is called
// once the watch has begun: a path that becomes a link later was removed or moved, which is
// reported.
func notLink(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &fs.PathError{Op: "watch", Path: path, Err: syscall.ELOOP}
	}
	return err
}

// Wait returns the names in the folders that appeared or changed since the last call, as soon as
// there are any, and none when ctx has ended. The name of a watched path itself is empty. An
// empty name also reports that changes were lost. [ErrGone] is of any of the paths. The result is
// valid until the next call.
func (w *Watch) Wait(ctx context.Context) ([]string, error) {
	w.names = w.names[:0]
	for len(w.names) == 0 || len(w.watch.Events) > 0 {
		select {
		case <-ctx.Done():
			return w.names, nil
		case _, open := <-w.watch.Errors:
			if !open {
				return nil, ErrGone
			}
			w.names = append(w.names, "") // some changes were lost
		case e, open := <-w.watch.Events:
			itself := slices.Contains(w.paths, e.Name)
			switch {
			case !open, itself && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)):
				return nil, ErrGone
			case itself:
				w.names = append(w.names, "")
			case e.Has(fsnotify.Create) || e.Has(fsnotify.Write) || e.Has(fsnotify.Chmod):
				w.names = append(w.names, filepath.Base(e.Name))
			}
		}
	}
	return w.names, nil
}

// Close ends the watch and its goroutine.
func (w *Watch) Close() error { return w.watch.Close() }
