package inbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchSettings are the clockwork of a Watch. Tests replace them.
type watchSettings struct {
	// slow is the poll beside file system events that work: they miss nothing, so it only has to notice that they do not. Each wakes an idle
	// runner, which otherwise sleeps.
	slow time.Duration
	// fast is the poll where there are no events.
	fast time.Duration
	// listen begins to watch a folder.
	listen func(dir string) (*listener, error)
}

var defaultWatch = watchSettings{slow: 30 * time.Second, fast: 250 * time.Millisecond, listen: listenFsnotify}

// listener is a running watch on one folder.
type listener struct {
	events <-chan fsnotify.Event
	errors <-chan error
	remote bool // others may change the folder from where no event comes
	close  func() error
}

func listenFsnotify(dir string) (*listener, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(dir); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &listener{events: w.Events, errors: w.Errors, remote: isRemote(dir), close: w.Close}, nil
}

// Watch returns a channel that holds one wake-up as long as there may be something to claim since the last was taken: one at once, and one
// after each drop. Many drops may share a wake-up, and one may come for nothing; so on each, call Pending until it gives fewer than PassLimit.
// The channel is closed when ctx is done; ctx must end, or the watch does not.
//
// Wake-ups come from file system events, some 0.1 ms after the rename, and from a poll every 30 s beside them. Where events cannot be had (the
// limit of watches is reached, the queue has overflowed, the folder is on a network file system, a poll found what no event had announced), the
// poll comes every 250 ms; events are tried again after 30 s. When the inbox has vanished, every poll wakes the runner, whose Pending then says
// so.
func (b *Box) Watch(ctx context.Context) <-chan struct{} {
	w := &watcher{box: b, watchSettings: b.watch, wake: make(chan struct{}, 1)}
	go func() {
		defer close(w.wake)
		w.run(ctx)
	}()
	return w.wake
}

// watcher is one Watch; its goroutine owns it.
type watcher struct {
	box *Box
	watchSettings
	wake chan struct{}
}

func (w *watcher) ring() {
	select {
	case w.wake <- struct{}{}:
	default: // one is waiting already, and will see all there is
	}
}

func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		l, folder, err := w.begin()
		w.ring() // after the watch stands: what was dropped before it is seen now, what comes later is announced
		if err == nil {
			err = w.follow(ctx, l, folder)
			_ = l.close() // a failure to end a watch leaves nothing to do
		}
		if !errors.Is(err, errVanished) {
			w.poll(ctx)
		}
	}
}

// errVanished ends a follow whose folder is no longer the inbox.
var errVanished = errors.New("inbox vanished")

// begin listens to the inbox, and also returns which folder that is.
func (w *watcher) begin() (*listener, os.FileInfo, error) {
	d, err := openDir(w.box.loopDir)
	if err != nil {
		return nil, nil, err
	}
	defer d.close()
	info, err := d.handle.Stat()
	if err != nil {
		return nil, nil, err
	}
	l, err := w.listen(w.path())
	return l, info, err
}

func (w *watcher) path() string { return filepath.Join(w.box.loopDir, folder) }

// follow turns events into wake-ups until ctx is done or the events end, and says why.
func (w *watcher) follow(ctx context.Context, l *listener, watched os.FileInfo) error {
	interval := w.slow
	if l.remote {
		interval = w.fast
	}
	tick := time.NewTimer(interval)
	defer tick.Stop()
	heard := false // an announcement since the last tick
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-l.errors:
			return errors.Join(errors.New("file system events ended"), err)
		case e, ok := <-l.events:
			if !ok {
				return errors.New("file system events ended")
			}
			if e.Name == w.path() && !w.isStill(watched) {
				return errVanished
			}
			if e.Has(fsnotify.Write) && mayGrow(filepath.Base(e.Name)) {
				w.ring()
			}
			if e.Has(fsnotify.Create) && announces(filepath.Base(e.Name)) {
				w.ring()
				if heard = true; !l.remote && interval != w.slow {
					interval = w.slow // they work after all
					tick.Reset(interval)
				}
			}
		case <-w.box.settled:
			w.ring()
		case <-tick.C:
			if !w.isStill(watched) {
				return errVanished
			}
			if w.look() && !heard {
				interval = w.fast
			}
			heard = false
			tick.Reset(interval)
		}
	}
}

// isStill reports whether the inbox is the folder that is being watched.
func (w *watcher) isStill(watched os.FileInfo) bool {
	now, err := os.Lstat(w.path())
	return err == nil && os.SameFile(watched, now)
}

// poll looks quickly until it is time to try for events again.
func (w *watcher) poll(ctx context.Context) {
	tick := time.NewTicker(w.fast)
	defer tick.Stop()
	for range max(1, w.slow/w.fast) {
		select {
		case <-ctx.Done():
			return
		case <-w.box.settled:
			w.ring()
		case <-tick.C:
			w.look()
		}
	}
}

// look rings if there is something to claim, or if the inbox cannot be read, which Pending then tells.
func (w *watcher) look() bool {
	found, err := w.box.hasDropped()
	if found || err != nil {
		w.ring()
	}
	return found
}

// announces reports whether a new name in the inbox is for the runner: not its own claim.
func announces(name string) bool {
	f, concerns := parseName(name)
	return concerns && !f.claimed
}

// mayGrow reports whether a name is one under which a shell script writes, and not only moves, a file.
func mayGrow(name string) bool {
	f, _ := parseName(name)
	return f.id == "" && f.kind != ""
}

// passesOver reports whether a file is stuck or unfinished.
func (b *Box) passesOver(d *dir, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isStuck(d, name) || b.isBeingWritten(d, name)
}

// hasDropped reports whether there is something that was not claimed.
func (b *Box) hasDropped() (bool, error) {
	d, err := openDir(b.loopDir)
	if err != nil {
		return false, err
	}
	defer d.close()
	for {
		names, err := d.handle.Readdirnames(256)
		for _, name := range names {
			if announces(name) && !b.passesOver(d, name) {
				return true, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}
