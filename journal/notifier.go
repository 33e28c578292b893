package journal

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const (
	// notifyEvery is the shortest time between two notifications.
	notifyEvery = time.Millisecond
	// fastNotify is how long a notification may take that the appending goroutine writes itself.
	// The kernel wakes each follower inside that write: one or two followers take less than waking
	// another thread (15 to 30 µs), a hundred take 2 ms.
	fastNotify = 20 * time.Microsecond
)

// notifier wakes followers in other processes by a write to the notify file. A nil notifier does
// nothing.
type notifier struct {
	file  *os.File
	start time.Time
	last  atomic.Int64 // the last notification, in nanoseconds since start
	// slow: the last write took longer than fastNotify, because there are many followers. The next
	// one is left to the goroutine.
	slow atomic.Bool

	pending chan struct{}
	done    chan struct{}
	wait    sync.WaitGroup
}

// openNotifier opens the notify file of a loop. The file is created once and never replaced,
// because followers watch its inode.
func openNotifier(folder folder) (*notifier, error) {
	real, ok := folder.(osFolder)
	if !ok {
		return nil, errors.New("the notify file needs the operating system's files")
	}
	f, err := safefile.OpenFileIn(real.root, notifyName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b := &notifier{file: f, start: time.Now(), pending: make(chan struct{}, 1), done: make(chan struct{})}
	b.last.Store(-int64(notifyEvery))
	b.wait.Go(b.run)
	return b, nil
}

// notify does not wait. Followers are notified at once, or a millisecond after the last
// notification.
func (b *notifier) notify() {
	if b == nil {
		return
	}
	if !b.slow.Load() && b.untilNext() <= 0 {
		b.write()
		return
	}
	select {
	case b.pending <- struct{}{}:
	default:
	}
}

// untilNext is how long it is until followers may be notified again.
func (b *notifier) untilNext() time.Duration {
	return notifyEvery - (time.Since(b.start) - time.Duration(b.last.Load()))
}

func (b *notifier) write() {
	began := time.Since(b.start)
	b.last.Store(int64(began))
	// A failed notification only costs followers latency: they also poll.
	_, _ = b.file.WriteAt([]byte{'.'}, 0)
	b.slow.Store(time.Since(b.start)-began > fastNotify)
}

func (b *notifier) run() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for range b.pending {
		if due := b.untilNext(); due > 0 {
			pause.Reset(due)
			select {
			case <-pause.C:
			case <-b.done:
			}
		}
		b.write()
	}
}

// stop writes a pending notification and closes the file.
func (b *notifier) stop() {
	if b == nil {
		return
	}
	close(b.done)
	close(b.pending)
	b.wait.Wait()
	_ = b.file.Close()
}
