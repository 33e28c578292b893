package journal

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// ringEvery is the shortest time between two rings. The kernel wakes each
// follower inside the write that rings: with a hundred of them that takes two
// milliseconds, so it is never done by the goroutine that appends.
const ringEvery = time.Millisecond

// bell tells followers in other processes that there is something to read. The
// nil bell is silent.
type bell struct {
	file *os.File
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
	b := &bell{file: f, rung: make(chan struct{}, 1), done: make(chan struct{})}
	b.wait.Go(b.run)
	return b, nil
}

// ring returns at once. The ring that it causes comes at once too, or a
// millisecond after the one before.
func (b *bell) ring() {
	if b == nil {
		return
	}
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

func (b *bell) run() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for range b.rung {
		// A bell that cannot be rung costs its followers some latency: they look
		// by themselves now and then.
		_, _ = b.file.WriteAt([]byte{'.'}, 0)
		pause.Reset(ringEvery)
		select {
		case <-pause.C:
		case <-b.done:
		}
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
