package journal

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How often a follower looks by itself.
const (
	pollFlow  = 100 * time.Millisecond // without a bell, while events come
	pollIdle  = time.Second            // without a bell, while none do
	flowPolls = 20                     // so many empty looks are "none do"
	pollFirst = time.Second            // beside a bell, after an event …
	pollMost  = 30 * time.Second       // … doubling up to this
)

// waiter sleeps until there may be something new. It watches the bell file
// itself: the writer never replaces it, and a watch on the folder would also wake
// for each projection that is written there. The slow look beside the bell finds
// out whether the bell rings at all; if events come without it, looking is all
// there is until it rings again.
type waiter struct {
	dir     Folder
	bell    string // its path, empty where there can be none
	watch   *fsnotify.Watcher
	rings   <-chan fsnotify.Event
	faults  <-chan error
	refused bool // there is a bell, and no watch to be had
	trusted bool // events have not come without a ring since the last ring
	looked  bool // the last wait ended by itself
	empty   int  // so many looks have found nothing
	timer   *time.Timer
}

func newWaiter(loopDir string, dir Folder) *waiter {
	w := &waiter{dir: dir, timer: time.NewTimer(pollMost)}
	if _, real := dir.(osFolder); real {
		w.bell = filepath.Join(loopDir, bellName)
	}
	w.listen()
	return w
}

// listen begins to watch the bell, if it can. It is tried again and again: the
// bell may not hang yet, or others may hold all watches for the moment.
func (w *waiter) listen() {
	if w.bell == "" {
		return
	}
	if _, err := w.dir.Stat(bellName); err != nil {
		return
	}
	w.refused = true
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	if err := watch.Add(w.bell); err != nil {
		_ = watch.Close()
		return
	}
	w.watch, w.rings, w.faults = watch, watch.Events, watch.Errors
	w.trusted, w.refused = true, false
}

func (w *waiter) deafen() {
	if w.watch != nil {
		_ = w.watch.Close()
		w.watch, w.rings, w.faults = nil, nil, nil
	}
	w.trusted = false
}

// wait returns when there may be news, or false when ctx has ended. news is how
// much the last look found.
func (w *waiter) wait(ctx context.Context, news int) bool {
	switch {
	case news == 0:
		w.empty++
	case w.looked && w.watch != nil:
		w.trusted = false
		fallthrough
	default:
		w.empty = 0
	}
	w.timer.Reset(w.interval())
	select {
	case <-ctx.Done():
		return false
	case ring, ok := <-w.rings:
		w.looked, w.trusted = false, true
		if !ok || ring.Has(fsnotify.Remove) || ring.Has(fsnotify.Rename) {
			w.deafen() // the loop's folder is being moved or cleaned away
		}
	case <-w.faults:
		// Rings were lost: this wait ends, and nothing is.
		w.looked = false
	case <-w.timer.C:
		w.looked = true
		if w.watch == nil && (!w.refused || w.empty >= flowPolls) {
			w.listen()
			// What came before the watch is found by the look that follows.
			w.looked = w.watch == nil
		}
	}
	return true
}

func (w *waiter) interval() time.Duration {
	switch {
	case w.trusted:
		return min(pollFirst<<min(w.empty, 5), pollMost)
	case w.empty < flowPolls:
		return pollFlow
	}
	return pollIdle
}

func (w *waiter) close() {
	w.deafen()
	w.timer.Stop()
}
