package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ralph-loop/ralph/pool/store"
)

const (
	// pollAfter is the pause between two readings of the folders: writes of other hosts on a
	// network disk cause no notification. The readings take at most a share of 1/pollShare of the
	// time.
	pollAfter = 2 * time.Second
	pollShare = 20
	// settled is the age from which a file that is written again has another time, on any disk.
	settled = 3 * time.Second
)

// A watch knows the last revision of each key that begins with prefix.
type watch struct {
	store    *Store
	prefix   string
	notifier *fsnotify.Watcher
	seen     map[string]version
	yield    func(string, error) bool
}

type version struct {
	revision store.Revision
	at       time.Time // zero if the file could be written again without another time
}

// Watch yields the keys that are written.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		fail := func(err error) {
			if err != nil && ctx.Err() == nil {
				yield("", fmt.Errorf("watch %s: %w", prefix, err))
			}
		}
		notifier, err := fsnotify.NewWatcher()
		if err != nil {
			fail(err)
			return
		}
		defer notifier.Close()
		w := &watch{store: s, prefix: prefix, notifier: notifier, seen: map[string]version{}}
		w.yield = func(string, error) bool { return true }
		if _, err := w.scan(ctx); err != nil {
			fail(err)
			return
		}
		if w.yield = yield; yield("", nil) {
			fail(w.run(ctx))
		}
	}
}

func (w *watch) run(ctx context.Context) error {
	poll := time.NewTimer(pollAfter)
	defer poll.Stop()
	for more := true; more; {
		scan := true
		select {
		case <-ctx.Done():
			return nil
		case event := <-w.notifier.Events:
			more, scan = w.handle(event)
		case <-w.notifier.Errors: // notifications were lost
		case <-poll.C:
		}
		if !scan {
			continue
		}
		began := time.Now()
		var err error
		if more, err = w.scan(ctx); err != nil {
			return err
		}
		poll.Reset(max(pollAfter, pollShare*time.Since(began)))
	}
	return nil
}

// handle reports a key that was written, and tells whether folders have to be read instead.
func (w *watch) handle(event fsnotify.Event) (more, scan bool) {
	name, err := filepath.Rel(w.store.root.Name(), event.Name)
	if err != nil || !event.Has(fsnotify.Create|fsnotify.Write) {
		return true, false
	}
	key := filepath.ToSlash(name)
	if strings.HasPrefix(w.prefix, key+"/") {
		return true, true
	}
	if !strings.HasPrefix(key, w.prefix) || store.CheckKey(key) != nil {
		return true, false
	}
	info, err := w.store.root.Lstat(key)
	if err != nil {
		return true, false
	}
	if info.IsDir() {
		return true, true
	}
	return w.report(key, info.ModTime()), false
}

// scan asks for notifications of each folder, and then reports what it has. Where the system
// allows no more of them, the poll remains.
func (w *watch) scan(ctx context.Context) (more bool, err error) {
	folder := folderOf(w.prefix)
	for above := folder; ; above = path.Dir(above) {
		_ = w.notifier.Add(filepath.Join(w.store.root.Name(), above))
		if above == "." {
			break
		}
	}
	return w.store.walk(ctx, folder, w.prefix, func(key string, entry fs.DirEntry) bool {
		if entry.IsDir() {
			_ = w.notifier.Add(filepath.Join(w.store.root.Name(), key))
			return true
		}
		info, err := entry.Info()
		return err != nil || w.report(key, info.ModTime())
	})
}

// report yields a key if its revision is another one than before. A file whose time is the same
// and was long ago is not read.
func (w *watch) report(key string, at time.Time) (more bool) {
	before, known := w.seen[key]
	if known && before.at.Equal(at) {
		return true
	}
	entry, err := w.store.read(key)
	if errors.Is(err, store.ErrNotFound) {
		return true
	}
	if time.Since(at) < settled {
		at = time.Time{}
	}
	// Who reads a damaged file learns what is wrong with it.
	w.seen[key] = version{revision: entry.Revision, at: at}
	return known && err == nil && before.revision == entry.Revision || w.yield(key, nil)
}
