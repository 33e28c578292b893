package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// settleAfter is how long a file that is named by its kind has to stay as it is before it counts as
// written to its end, although it is empty or cut short. A complete file that is moved here never
// waits.
const settleAfter = 2 * time.Second

// errUnfinished marks a file that is still being written.
var errUnfinished = errors.New("unfinished")

// unfinished is a file that was empty or cut short when it was read.
type unfinished struct {
	was     fs.FileInfo
	settled bool
}

// isUnfinished reports whether what was read is the beginning of a JSON text, or nothing. A JSON
// object that is cut short anywhere is not valid, so half a command is never taken for another one.
func isUnfinished(content []byte) bool {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(content)).Decode(&value)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// hasSettled reports whether an unfinished file has not changed for settleAfter since this Box
// first read it. When that time is over, the Box looks again.
func (b *Box) hasSettled(name string, now fs.FileInfo) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u := b.unfinished[name]; u != nil && u.is(now) {
		return u.settled
	}
	u := &unfinished{was: now}
	b.unfinished[name] = u
	time.AfterFunc(settleAfter, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		u.settled = true
		b.ring()
	})
	return false
}

// isBeingWritten reports whether a name is that of an unfinished file that has not settled and is
// as it was. b.mu is held.
func (b *Box) isBeingWritten(d *dir, name string) bool {
	u := b.unfinished[name]
	if u == nil || u.settled {
		return false
	}
	now, err := d.root.Lstat(name)
	return err == nil && u.is(now)
}

func (u *unfinished) is(now fs.FileInfo) bool {
	return os.SameFile(u.was, now) && u.was.Size() == now.Size() && u.was.ModTime().Equal(now.ModTime())
}
