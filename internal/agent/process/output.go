package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// pipeSize is asked for on Linux: an agent can be this far ahead before it has to wait for us.
	pipeSize     = 1 << 20
	stdoutBuffer = 128 << 10
	stderrBuffer = 32 << 10
)

// reader takes one stream of the agent from its pipe to Spec.Output.
type reader struct {
	name  string
	file  *os.File
	lines *splitter
	tail  *tail // standard error's
	held  bool  // closed by us while something else still had it open
	err   error
}

func newReader(stream Stream, file *os.File, size int, spec Spec) *reader {
	r := &reader{name: "standard output", file: file}
	if stream == Stderr {
		r.name = "standard error"
	}
	r.lines = newSplitter(stream, size, spec.MaxLine, spec.Raw, nil)
	return r
}

// run reads until the last writer has closed the pipe, or until the drain is over.
func (r *reader) run(emit func(Chunk)) {
	defer r.file.Close()
	r.lines.emit = emit
	err := r.readAll()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = r.readRemainder()
	}
	switch {
	case errors.Is(err, os.ErrClosed): // by drainUntil
		r.held = true
	case err != nil:
		r.err = fmt.Errorf("read %s: %w", r.name, err)
	}
	r.lines.end()
}

func (r *reader) readAll() error {
	for {
		space := r.lines.space()
		n, err := r.file.Read(space)
		r.took(space[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readRemainder takes what is in the pipe, without waiting. The deadline strikes by the clock even if a slow Output has left data of
// the agent behind, and that must not be lost: it is at most one pipe full, so after that much everything which was there when
// the agent ended has been read, and a descendant that prints without end cannot hold us.
func (r *reader) readRemainder() error {
	if err := r.file.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	conn, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	for left := pipeSize; left > 0; {
		space := r.lines.space()
		n, end, err := readNow(conn, space[:min(len(space), left)])
		r.took(space[:n])
		if err != nil || end {
			return err
		}
		if n == 0 {
			break
		}
		left -= n
	}
	r.held = true
	return nil
}

func (r *reader) took(data []byte) {
	if len(data) == 0 {
		return
	}
	if r.tail != nil {
		r.tail.add(data)
	}
	r.lines.took(len(data))
}

// drainUntil makes run come to its end at the latest shortly after the deadline.
func (r *reader) drainUntil(deadline time.Time) {
	if errors.Is(r.file.SetReadDeadline(deadline), os.ErrNoDeadline) { // Windows
		time.AfterFunc(time.Until(deadline), func() { r.file.Close() })
	}
}

// tail keeps the last bytes of a stream.
type tail struct {
	mu    sync.Mutex
	limit int
	kept  []byte
}

func (t *tail) add(data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data = data[max(0, len(data)-t.limit):]
	// Twice the limit is let in before the front is cut, so that the copying is paid for by as many bytes added.
	if len(t.kept)+len(data) > 2*t.limit {
		keep := t.limit - len(data)
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-keep:]...)
	}
	t.kept = append(t.kept, data...)
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept[max(0, len(t.kept)-t.limit):]...)
}
