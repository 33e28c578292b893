//go:build !linux

package journal

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// listener hears the rings of one bell.
type listener struct {
	watch *fsnotify.Watcher
	timer *time.Timer
}

// listen begins to hear the bell at path, until close.
func listen(_ context.Context, path string) (*listener, error) {
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := watch.Add(path); err != nil {
		_ = watch.Close()
		return nil, err
	}
	return &listener{watch, time.NewTimer(time.Hour)}, nil
}

// wait returns when the bell rings, or d has passed, or ctx has ended.
func (l *listener) wait(ctx context.Context, d time.Duration) heard {
	l.timer.Reset(d)
	select {
	case <-ctx.Done():
		return nothing
	case <-l.timer.C:
		return nothing
	case <-l.watch.Errors:
		return ring // some were lost
	case e, ok := <-l.watch.Events:
		if !ok || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
			return bellGone
		}
		return ring
	}
}

func (l *listener) close() {
	l.timer.Stop()
	_ = l.watch.Close()
}
