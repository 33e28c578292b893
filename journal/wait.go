package journal

import (
	"context"
	"path/filepath"
	"time"
)

// How often a follower looks by itself.
const (
	pollFlow  = 100 * time.Millisecond // without a bell, while events come
	pollIdle  = time.Second            // without a bell, while none do
	flowPolls = 20                     // so many empty looks are "none do"
	pollFirst = time.Second            // beside a bell, after an event …
	pollMost  = 30 * time.Second       // … doubling up to this
)

// heard is what ended a listener's wait.
type heard int

const (
	nothing heard = iota
	ring
	bellGone // the loop's folder is being moved or cleaned away
)

// waiter sleeps until there may be something new. It listens to the bell file
// itself: the writer never replaces it, and a watch on the folder would also wake
// for each projection that is written there. The slow look beside the bell finds
// out whether the bell rings at all; if events come without it, looking is all
// there is until it rings again.
type waiter struct {
	dir     Folder
	bell    string // its path, empty where there can be none
	ears    *listener
	refused bool // there is a bell, and no watch to be had
	trusted bool // events have not come without a ring since the last ring
	looked  bool // the last wait ended by itself
	empty   int  // so many looks have found nothing
}

func newWaiter(ctx context.Context, loopDir string, dir Folder) *waiter {
	w := &waiter{dir: dir}
	if _, real := dir.(osFolder); real {
		w.bell = filepath.Join(loopDir, bellName)
	}
	w.listen(ctx)
	return w
}

// listen begins to listen to the bell, if it can. It is tried again and again: the
// bell may not hang yet, or others may hold all watches for the moment.
func (w *waiter) listen(ctx context.Context) {
	if w.bell == "" {
		return
	}
	if _, err := w.dir.Stat(bellName); err != nil {
		return
	}
	ears, err := listen(ctx, w.bell)
	w.refused = err != nil
	if err == nil {
		w.ears, w.trusted = ears, true
	}
}

// wait returns when there may be news, or false when ctx has ended. news is how
// much the last look found.
func (w *waiter) wait(ctx context.Context, news int) bool {
	if news > 0 {
		w.empty = 0
		if w.looked {
			w.trusted = false
		}
	} else {
		w.empty++
	}
	what := nothing
	if w.ears != nil {
		what = w.ears.wait(ctx, w.interval())
	} else {
		sleep(ctx, w.interval())
	}
	w.looked = what == nothing
	switch {
	case what == ring:
		w.trusted = true
	case what == bellGone:
		w.close()
	case w.ears == nil && (!w.refused || w.empty >= flowPolls):
		w.listen(ctx)
		// What came before the watch is found by the look that follows.
		w.looked = w.ears == nil
	}
	return ctx.Err() == nil
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

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (w *waiter) close() {
	if w.ears != nil {
		w.ears.close()
		w.ears = nil
	}
	w.trusted = false
}
