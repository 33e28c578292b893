package guardrail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unicode/utf8"
)

// maxLogs is how many logs of one name an iteration can have.
const maxLogs = 10_000

// createLog creates guardrail_<iteration>_<slug>.log or, if the name is taken, the first free of
// …-2.log, …-3.log and so on; a slug has no dash. Exclusive creation also fails if the name is a
// symbolic link.
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

// output writes all that a command prints to its log and keeps the beginning in memory.
type output struct {
	redactor Redactor
	log      *os.File
	head     []byte
	keep     int   // bytes of head
	logged   int64 // bytes of the log
	err      error // the first error of the log
}

func newOutput(log *os.File, redactor Redactor, chars int) *output {
	// One character more than is shown: Truncate then knows whether there is more.
	return &output{redactor: redactor, log: log, keep: (max(chars, 0) + 1) * utf8.UTFMax}
}

// Write never fails: a command must not fail because our disk is full.
func (o *output) Write(p []byte) (int, error) {
	o.store(o.redactor.Write(p))
	return len(p), nil
}

// end stores what the redactor has withheld.
func (o *output) end() { o.store(o.redactor.Flush()) }

func (o *output) store(p []byte) {
	o.head = append(o.head, p[:min(len(p), o.keep-len(o.head))]...)
	if o.err == nil {
		n, err := o.log.Write(p)
		o.logged += int64(n)
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // the message names the log
		}
		if err != nil {
			o.err = fmt.Errorf("its log has only the first %d bytes: %w", o.logged, err)
		}
	}
}

// text returns the first n characters, n being that of newOutput.
func (o *output) text(n int) string { return Truncate(string(o.head), n) }
