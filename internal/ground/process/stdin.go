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
	// ErrStdinClosed: the agent's standard input was not kept open, or has been closed, or the
	// agent has ended.
	ErrStdinClosed = errors.New("standard input is closed")
	// ErrStdinFull: the agent does not read its standard input, and 16 MiB are waiting for it
	// already.
	ErrStdinFull = errors.New("standard input is full: the agent does not read it")
)

// stdinWriter writes to the agent's standard input in a goroutine of its own, so that no caller
// waits for the agent.
type stdinWriter struct {
	mu      sync.Mutex
	ready   sync.Cond // queue, closing or err has changed
	file    *os.File  // nil: the agent has no pipe
	queue   [][]byte  // the first is being written
	waiting int       // the bytes of queue
	closing bool
	err     error // set once: why nothing can be written any more
}

func newStdinWriter(file *os.File, first []byte, keep bool) *stdinWriter {
	f := &stdinWriter{file: file, closing: !keep}
	f.ready.L = &f.mu
	if file == nil {
		f.err = ErrStdinClosed
	}
	if len(first) > 0 {
		f.queue, f.waiting = [][]byte{first}, len(first)
	}
	return f
}

func (f *stdinWriter) add(data []byte) error {
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

func (f *stdinWriter) closeWhenWritten() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	f.ready.Signal()
}

// fail ends the writing at once, also in the middle of a write.
func (f *stdinWriter) fail(reason error) {
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

// run writes until the input is closed. A broken pipe is an error and no signal: Go raises SIGPIPE
// only for descriptors 1 and 2.
func (f *stdinWriter) run() {
	for {
		data, more := f.next()
		if !more {
			f.fail(ErrStdinClosed)
			return
		}
		if _, err := f.file.Write(data); err != nil {
			f.fail(fmt.Errorf("write to standard input: %w", err))
			return
		}
		f.written()
	}
}

// next waits for something to write.
func (f *stdinWriter) next() (data []byte, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closing && f.err == nil {
		f.ready.Wait()
	}
	if f.err != nil || len(f.queue) == 0 {
		return nil, false
	}
	return f.queue[0], true
}

func (f *stdinWriter) written() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) > 0 { // fail empties it
		f.waiting -= len(f.queue[0])
		f.queue = f.queue[1:]
	}
}
