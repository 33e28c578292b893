package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// pipeSize is asked for on Linux: an agent can write this much before it has to wait.
	pipeSize     = 1 << 20
	stdoutBuffer = 128 << 10
	stderrBuffer = 32 << 10
)

// A sink takes what is read from a pipe.
type sink interface {
	space() []byte       // where the next read goes; never empty
	advance(n int) error // the first n bytes of space were read
	end()
}

// writerSink passes on to a writer what is read.
type writerSink struct {
	to  io.Writer
	buf []byte
}

func newWriterSink(to io.Writer) *writerSink {
	return &writerSink{to: to, buf: make([]byte, stderrBuffer)}
}

func (s *writerSink) space() []byte { return s.buf }

func (s *writerSink) advance(n int) error {
	_, err := s.to.Write(s.buf[:n])
	return err
}

func (s *writerSink) end() {}

// reader takes one stream of a process from its pipe to a sink.
type reader struct {
	name string
	file *os.File
	sink sink
	err  error
}

// run reads until the last writer has closed the pipe, or until the drain is over.
func (r *reader) run() {
	defer r.file.Close()
	err := r.readAll()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = r.readRemainder()
	}
	if err != nil && !errors.Is(err, os.ErrClosed) { // closed by drainUntil
		r.err = fmt.Errorf("read %s: %w", r.name, err)
	}
	r.sink.end()
}

func (r *reader) readAll() error {
	for {
		n, err := r.file.Read(r.sink.space())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if n > 0 {
			err = errors.Join(r.sink.advance(n), err)
		}
		if err != nil {
			return err
		}
	}
}

// readRemainder takes what is in the pipe, without waiting. The deadline may pass while a slow sink
// has left data in the pipe, which must not be lost. It reads at most one pipe full: after that
// much, everything that was there when the process ended has been read, and a descendant that
// prints without end cannot hold the reader.
func (r *reader) readRemainder() error {
	if err := r.file.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	conn, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	for left := pipeSize; left > 0; {
		space := r.sink.space()
		n, err := readNow(conn, space[:min(len(space), left)])
		if err != nil || n == 0 {
			return err
		}
		if err := r.sink.advance(n); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// drainUntil makes run return soon after the deadline, at the latest.
func (r *reader) drainUntil(deadline time.Time) {
	if errors.Is(r.file.SetReadDeadline(deadline), os.ErrNoDeadline) { // Windows
		time.AfterFunc(time.Until(deadline), func() { r.file.Close() })
	}
}
