package journal

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// ringEvery is the shortest time between two rings.
	ringEvery = time.Millisecond
	// lightRing is how long a ring may take that is done by the goroutine that appends. The
	// kernel wakes each follower inside the write that rings: one or two take no longer than waking
	// another thread to do it, a hundred take two milliseconds.
	lightRing = 20 * time.Microsecond
)

// bell tells followers in other processes that there is something to read. The
// nil bell is silent.
type bell struct {
	file *os.File
	made time.Time
	last atomic.Int64 // when it was rung, in nanoseconds since then
	// heavy says that the last ring took longer than lightRing: there are many followers, and the
	// next one is not the appending goroutine's to do.
	heavy atomic.Bool

	rung chan struct{}
	done chan struct{}
	wait sync.WaitGroup
}

// hangBell opens the bell of a loop's folder. The file is made once and never
// replaced, since followers watch the file and not its name.
func hangBell(folder Folder) (*bell, error) {
	real, ok := folder.(osFolder)
	if !ok {
		return nil, errors.New("the bell needs the operating system's files")
	}
	if _, err := real.regular(bellName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := real.root.OpenFile(bellName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b := &bell{file: f, made: time.Now(), rung: make(chan struct{}, 1), done: make(chan struct{})}
	b.last.Store(-int64(ringEvery))
	b.wait.Go(b.run)
	return b, nil
}

// ring returns soon. The ring that it causes comes at once, or a millisecond after
// the one before.
func (b *bell) ring() {
	if b == nil {
		return
	}
	if !b.heavy.Load() && b.due() <= 0 {
		b.strike()
		return
	}
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// due is how long it is until the bell may be rung again.
func (b *bell) due() time.Duration {
	return ringEvery - (time.Since(b.made) - time.Duration(b.last.Load()))
}

func (b *bell) strike() {
	began := time.Since(b.made)
	b.last.Store(int64(began))
	// A bell that cannot be rung costs its followers some latency: they look
	// by themselves now and then.
	_, _ = b.file.WriteAt([]byte{'.'}, 0)
	b.heavy.Store(time.Since(b.made)-began > lightRing)
}

func (b *bell) run() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for range b.rung {
		if due := b.due(); due > 0 {
			pause.Reset(due)
			select {
			case <-pause.C:
			case <-b.done:
			}
		}
		b.strike()
	}
}

// stop rings what has not been rung yet and lets the file go.
func (b *bell) stop() {
	if b == nil {
		return
	}
	close(b.done)
	close(b.rung)
	b.wait.Wait()
	_ = b.file.Close()
}
