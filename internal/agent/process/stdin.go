package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// stdinLimit is how much may wait for an agent that does not read its input.
const stdinLimit = 16 << 20

var (
	// ErrStdinClosed: the agent's standard input was not kept open, or has been closed, or the agent has ended.
	ErrStdinClosed = errors.New("standard input is closed")
	// ErrStdinFull: the agent does not read its standard input, and 16 MiB are waiting for it already.
	ErrStdinFull = errors.New("standard input is full: the agent does not read it")
)

// feeder writes to the agent's standard input from a goroutine of its own, so that no caller ever waits for the agent.
type feeder struct {
	mu    sync.Mutex
	ready sync.Cond // queue, closing or err has changed
	file  *os.File  // nil: the agent has no pipe
	first []byte    // Spec.Stdin; not counted in waiting
	queue [][]byte
	// waiting counts the bytes of queue and of what is being written.
	waiting int
	closing bool
	err     error // set once: why nothing can be written any more
}

func newFeeder(file *os.File, first []byte, keep bool) *feeder {
	f := &feeder{file: file, first: first, closing: !keep}
	f.ready.L = &f.mu
	if file == nil {
		f.err = ErrStdinClosed
	}
	return f
}

func (f *feeder) add(data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil:
		return f.err
	case f.closing:
		return ErrStdinClosed
	case f.waiting+len(data) > stdinLimit:
		return ErrStdinFull
	}
	f.queue = append(f.queue, append([]byte(nil), data...))
	f.waiting += len(data)
	f.ready.Signal()
	return nil
}

func (f *feeder) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	f.ready.Signal()
}

// shut ends the feeding at once, also in the middle of a write.
func (f *feeder) shut(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = reason
	}
	f.queue = nil
	if f.file != nil {
		f.file.Close()
	}
	f.ready.Signal()
}

// run writes until there is nothing more to come. A broken pipe is only an error here: Go raises SIGPIPE for
// descriptors 1 and 2 alone.
func (f *feeder) run() {
	if err := f.write(f.first); err != nil {
		return
	}
	f.first = nil
	for {
		batch, more := f.take()
		if !more {
			f.shut(ErrStdinClosed)
			return
		}
		for _, data := range batch {
			if err := f.write(data); err != nil {
				return
			}
			f.mu.Lock()
			f.waiting -= len(data)
			f.mu.Unlock()
		}
	}
}

func (f *feeder) take() (batch [][]byte, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closing && f.err == nil {
		f.ready.Wait()
	}
	if f.err != nil || len(f.queue) == 0 {
		return nil, false
	}
	batch, f.queue = f.queue, nil
	return batch, true
}

func (f *feeder) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, err := f.file.Write(data); err != nil {
		f.shut(fmt.Errorf("write to standard input: %w", err))
		return err
	}
	return nil
}
