package guardrail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"
)

// maxLogs is how many logs of one name an iteration can have.
const maxLogs = 10_000

// createLog makes guardrail_<iteration>_<slug>.log or, where something stands there already, the first free of …-2.log, …-3.log and
// so on; a slug has no dash. Creating exclusively also fails at a symbolic link, wherever it leads.
func createLog(loop *os.Root, iteration int, slug string) (*os.File, error) {
	base := fmt.Sprintf("guardrail_%d_%s", iteration, slug)
	name := base + ".log"
	for n := 2; ; n++ {
		file, err := loop.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) || n > maxLogs {
			return file, err
		}
		name = fmt.Sprintf("%s-%d.log", base, n)
	}
}

// output takes what a command writes: all of it to its log, the beginning to memory.
type output struct {
	redact Redactor // nil: nothing is hidden
	log    *os.File
	head   []byte
	keep   int   // bytes of head
	held   int64 // bytes of the log
	err    error // the first that the log met
}

func newOutput(log *os.File, chars int) *output {
	// One more than is shown, so that it is known whether there is more.
	return &output{log: log, keep: (max(chars, 0) + 1) * utf8.UTFMax}
}

// write takes what the command wrote.
func (o *output) write(p []byte) {
	if o.redact != nil {
		p = o.redact.Write(p)
	}
	o.keepOf(p)
}

// end says that the command writes no more.
func (o *output) end() {
	if o.redact != nil {
		o.keepOf(o.redact.Flush())
	}
}

// keepOf never refuses: a command must not fail because our disk is full.
func (o *output) keepOf(p []byte) {
	o.head = append(o.head, p[:min(len(p), o.keep-len(o.head))]...)
	if o.err == nil {
		n, err := o.log.Write(p)
		o.held += int64(n)
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // whose log it is stands beside it
		}
		if err != nil {
			o.err = fmt.Errorf("its log has only the first %d bytes: %w", o.held, err)
		}
	}
}

// text returns the first n characters, n being that of newOutput.
func (o *output) text(n int) string { return Truncate(string(o.head), n) }

const (
	// pipeSize is the most that a pipe holds without privileges on any system.
	pipeSize = 1 << 20
	// quietTime is how long a pipe whose writers are gone must be silent to be taken for empty.
	quietTime = 100 * time.Millisecond
)

// drain reads pipe to its end. Where something holds it open, a read deadline in the past says that all who count have ended: what they
// wrote is then in the pipe, and drain reads that and returns.
func (o *output) drain(pipe *os.File) error {
	buf := make([]byte, 64<<10)
	left := -1 // until the deadline comes there is no bound
	for left != 0 {
		space := buf
		if left > 0 {
			space = buf[:min(len(buf), left)]
			if err := pipe.SetReadDeadline(time.Now().Add(quietTime)); err != nil {
				return err
			}
		}
		n, err := pipe.Read(space)
		o.write(space[:n])
		switch {
		case left > 0:
			left -= n
		case errors.Is(err, os.ErrDeadlineExceeded):
			left, err = pipeSize, nil
		}
		if err != nil {
			return readError(err)
		}
	}
	return nil
}
