package journal

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filewatch"
)

// How often a follower polls.
const (
	pollActive  = 100 * time.Millisecond // without notifications, while events come
	pollIdle    = time.Second            // without notifications, while none do
	activePolls = 20                     // after so many empty polls in a row, none do
	safetyFirst = time.Second            // with notifications, after an event …
	safetyMost  = 30 * time.Second       // … doubling up to this
)

// waiter sleeps until there may be new events. It watches the notify file, which the writer never
// replaces; a watch on the folder would also wake for each projection. With notifications it still
// polls, rarely, to find out whether they arrive: where events come without one, it polls often
// until the next notification.
type waiter struct {
	dir        folder
	path       string // of the notify file, empty if there can be none
	watch      *filewatch.Watch
	reliable   bool // since the last notification, no event came without one
	polled     bool // the last wait ended without a notification
	emptyReads int  // polls without events, in a row
}

func newWaiter(loopDir string, dir folder) *waiter {
	w := &waiter{dir: dir}
	if _, real := dir.(osFolder); real {
		w.path = filepath.Join(loopDir, notifyName)
	}
	w.listen()
	return w
}

// listen begins to watch the notify file, if it can. It is tried repeatedly: the file may not exist
// yet, or other processes may use up all watches for the moment.
func (w *waiter) listen() {
	if w.path == "" {
		return
	}
	if _, err := w.dir.Stat(notifyName); err != nil {
		return
	}
	if watch, err := filewatch.New(w.path); err == nil {
		w.watch, w.reliable = watch, true
	}
}

// wait returns when there may be new events, or false when ctx has ended. news is how many events
// the last read returned.
func (w *waiter) wait(ctx context.Context, news int) bool {
	if news > 0 {
		w.emptyReads = 0
		if w.polled {
			w.reliable = false
		}
	} else {
		w.emptyReads++
	}
	poll, cancel := context.WithTimeout(ctx, w.interval())
	defer cancel()
	var changed []string
	var err error
	if w.watch != nil {
		changed, err = w.watch.Wait(poll)
	} else {
		<-poll.Done()
	}
	w.polled = len(changed) == 0
	switch {
	case err != nil: // the loop's folder is being moved or removed
		w.close()
	case !w.polled:
		w.reliable = true
	case w.watch == nil:
		w.listen()
		// The read that follows finds what came before the watch.
		w.polled = w.watch == nil
	}
	return ctx.Err() == nil
}

func (w *waiter) interval() time.Duration {
	switch {
	case w.reliable:
		return min(safetyFirst<<min(w.emptyReads, 5), safetyMost)
	case w.emptyReads < activePolls:
		return pollActive
	}
	return pollIdle
}

func (w *waiter) close() {
	if w.watch != nil {
		_ = w.watch.Close()
		w.watch = nil
	}
	w.reliable = false
}
