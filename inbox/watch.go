package inbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filewatch"
)

// watchSettings are how a Watch waits. Tests replace them.
type watchSettings struct {
	// slow is the interval of the poll beside notifications that work. It only has to notice when
	// they fail, and each poll wakes an idle runner.
	slow time.Duration
	// fast is the interval of the poll where there are no notifications.
	fast time.Duration
	// watch begins to watch folders.
	watch func(paths ...string) (folderWatch, error)
}

var defaultWatch = watchSettings{slow: 30 * time.Second, fast: 250 * time.Millisecond, watch: watchFolders}

// folderWatch is a [filewatch.Watch].
type folderWatch interface {
	Wait(ctx context.Context) (changed []string, err error)
	Close() error
}

func watchFolders(paths ...string) (folderWatch, error) { return filewatch.New(paths...) }

// Watch returns a channel that holds one wake-up as long as there may be something to claim since
// the last was taken: one at the beginning, and one after each drop. Several drops may share a
// wake-up, and a wake-up may find nothing; so on each, call Pending until it returns fewer than
// PassLimit items. The channel is closed when ctx has ended, and ctx must end. An inbox has one
// Watch at a time.
//
// Wake-ups come from file system notifications, some 0.1 ms after the rename, and from a poll every
// 30 s beside them. Where there are no notifications (the limit of watches is reached, the inbox is
// on a network file system, a poll found what no notification announced), the poll comes every
// 250 ms, and every second once nothing has come for 5 s; notifications are tried again after 30 s.
// When the inbox has vanished, every poll sends a wake-up, and Pending then returns the error.
func (b *Box) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	b.setWake(wake)
	go func() {
		(&watcher{box: b, watchSettings: b.watch}).run(ctx)
		b.setWake(nil)
		close(wake)
	}()
	return wake
}

func (b *Box) setWake(wake chan struct{}) {
	for _, part := range b.parts() {
		part.mu.Lock()
		part.wake = wake
		part.mu.Unlock()
	}
}

// parts are that of people and that of the agent.
func (b *Box) parts() []*Box { return []*Box{b, b.agent} }

// ring sends a wake-up to the running Watch, if there is one. b.mu is held.
func (b *Box) ring() {
	select {
	case b.wake <- struct{}{}:
	default: // one is waiting already, and its receiver will see everything
	}
}

// watcher is one Watch of both parts; its goroutine owns it.
type watcher struct {
	box   *Box
	empty int // polls that found nothing, in a row
	watchSettings
}

// activePolls is how many polls in a row find nothing until they become rare.
const activePolls = 20

func (w *watcher) ring() {
	w.box.mu.Lock()
	defer w.box.mu.Unlock()
	w.box.ring()
}

func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		watch, folders, err := w.begin()
		// What was dropped before the watch began is seen now. What comes later is announced.
		w.ring()
		if err == nil {
			err = w.follow(ctx, watch, folders)
			_ = watch.Close() // nothing can be done about a watch that cannot be ended
		}
		if !errors.Is(err, filewatch.ErrGone) {
			w.poll(ctx)
		}
	}
}

// begin watches the folders of the inbox, and also returns which ones those are.
func (w *watcher) begin() (watch folderWatch, folders []os.FileInfo, err error) {
	var paths []string
	for _, part := range w.box.parts() {
		d, err := part.open()
		if part != w.box && isAbsent(err) {
			continue // what people send is announced all the same
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := d.handle.Stat()
		d.close()
		if err != nil {
			return nil, nil, err
		}
		folders, paths = append(folders, info), append(paths, part.path())
	}
	watch, err = w.watch(paths...)
	return watch, folders, err
}

func (b *Box) path() string { return filepath.Join(b.loopDir, b.folder) }

// follow turns notifications into wake-ups until ctx has ended or the watch fails, and returns why.
func (w *watcher) follow(ctx context.Context, watch folderWatch, folders []os.FileInfo) error {
	remote := filewatch.Remote(w.box.path())
	silent := remote // no notification announces what comes
	for {
		interval := w.slow
		if silent {
			interval = w.interval()
		}
		notified, err := w.wait(ctx, watch, interval)
		if err == nil && !w.areInbox(folders) {
			err = filewatch.ErrGone
		}
		if err != nil {
			return err
		}
		switch found := w.check(); {
		case notified && !remote:
			silent = false
		case found && !notified:
			silent = true
		}
	}
}

// wait sends a wake-up for each notification until the next poll is due, and reports whether there
// was one.
func (w *watcher) wait(ctx context.Context, watch folderWatch, interval time.Duration) (notified bool, err error) {
	poll, cancel := context.WithTimeout(ctx, interval)
	defer cancel()
	for poll.Err() == nil {
		changed, err := watch.Wait(poll)
		if err != nil {
			return notified, err
		}
		if slices.ContainsFunc(changed, isDropped) {
			w.ring()
			notified = true
		}
	}
	return notified, ctx.Err()
}

// areInbox reports whether the watched folders are still those of the inbox. That of the agent,
// the last, may have been missing, and must be still.
func (w *watcher) areInbox(watched []os.FileInfo) bool {
	for i, part := range w.box.parts() {
		now, err := os.Lstat(part.path())
		if i < len(watched) && (err != nil || !os.SameFile(watched[i], now)) || i == len(watched) && err == nil && now.IsDir() {
			return false
		}
	}
	return true
}

// interval is the time until the next poll without notifications: a second where nothing has come
// for a while, since a thousand runners may have to poll.
func (w *watcher) interval() time.Duration {
	if w.empty >= activePolls {
		return 4 * w.fast
	}
	return w.fast
}

// poll polls until it is time to try notifications again.
func (w *watcher) poll(ctx context.Context) {
	for waited := time.Duration(0); waited < w.slow; {
		interval := w.interval()
		waited += interval
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		w.check()
	}
}

// check sends a wake-up if there is something to claim, or if the inbox of people cannot be read,
// which Pending then returns.
func (w *watcher) check() (found bool) {
	found, err := w.box.hasDropped()
	if !found && err == nil {
		found, _ = w.box.agent.hasDropped() // the agent may have put anything in the place of its part
	}
	if found || err != nil {
		w.ring()
	}
	if w.empty++; found {
		w.empty = 0
	}
	return found
}

// isDropped reports whether a file that was created or changed is for the runner, and not its own
// claim. The empty name means any file.
func isDropped(name string) bool {
	f, concerns := parseName(name)
	return concerns && !f.claimed
}

// passesOver reports whether a file is stuck or unfinished.
func (b *Box) passesOver(d *dir, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isStuck(d, name) || b.isBeingWritten(d, name)
}

// hasDropped reports whether there is an unclaimed file.
func (b *Box) hasDropped() (bool, error) {
	d, err := b.open()
	if err != nil {
		return false, err
	}
	defer d.close()
	for {
		names, err := d.handle.Readdirnames(256)
		for _, name := range names {
			if isDropped(name) && !b.passesOver(d, name) {
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
