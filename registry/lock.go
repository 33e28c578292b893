package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// lockFile is the name of a loop's lock in its folder.
const lockFile = "run.lock"

// A probe holds a shared lock for an instant, so a taker that is refused asks again before it believes that another runner is there.
const (
	lockTries = 50
	lockPause = time.Millisecond
)

// Lock is the right to run one loop. It is the process's: children do not inherit it, and the kernel ends it with the process.
type Lock struct {
	flock *flock.Flock
	facts *os.File // the same file again, for the holder facts; closing it does not end the lock
}

// HeldError says that another runner has the loop.
type HeldError struct {
	Loop  string    // the loop's name
	PID   int       // 0 where the holder has not written its facts
	Host  string    // "" as PID
	Since time.Time // zero as PID
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("loop %s is already run by another process", e.Loop)
	}
	return fmt.Sprintf("loop %s is already run by pid %d on %s since %s", e.Loop, e.PID, e.Host, e.Since.Format(time.RFC3339))
}

// ErrNoFolder says that the loop's folder is not there, or not any more: it was moved to the archive.
var ErrNoFolder = errors.New("the loop's folder is not there")

// Liveness is the answer to "is it alive?", with what the holder wrote about itself.
type Liveness struct {
	Alive bool // a process holds the lock now
	// The facts below are the present holder's if Alive. If not, they are of one that died holding the lock, and zero after an orderly
	// Release. In the instant between taking the lock and writing them, they are zero or of a holder before.
	PID        int
	Host       string
	Since      time.Time // the file system's clock when the facts were written
	StartTicks uint64    // see ProcessStart; with PID and Boot it names one process for ever. 0 where unknown
	Boot       string    // names the start of the machine that the holder ran since; "" where unknown
}

// holder is the content of run.lock.
type holder struct {
	PID        int       `json:"pid"`
	Host       string    `json:"host"`
	Since      time.Time `json:"since"`
	StartTicks uint64    `json:"startTicks,omitempty"`
	Boot       string    `json:"boot,omitempty"`
}

// Acquire takes the loop's lock, creating run.lock if it is missing; the folder must exist. It does not block: where another process, or another
// Lock of this one, has it, the error is a *HeldError after some 50 ms; without the folder it is ErrNoFolder. The lock ends with Release or with the process, however that ends.
func Acquire(loopDir string) (*Lock, error) {
	path := filepath.Join(loopDir, lockFile)
	if err := refuseForeign(path); err != nil {
		return nil, fmt.Errorf("take loop lock: %w", err)
	}
	// Writable, because NFS grants an exclusive lock only on such a file. flock opens with O_CLOEXEC, as all of package os does.
	f := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|openFlags), flock.SetPermissions(0o600))
	got, err := f.TryLock()
	for try := 1; !got && err == nil && try < lockTries; try++ {
		time.Sleep(lockPause)
		got, err = f.TryLock()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(ErrNoFolder, err)
	}
	if err != nil {
		return nil, fmt.Errorf("take loop lock: %w", err)
	}
	if !got {
		return nil, heldBy(loopDir)
	}
	l := &Lock{flock: f}
	if l.facts, err = openFacts(path, f); err == nil {
		err = l.sign()
	}
	if err != nil && !lockIsMandatory {
		return nil, errors.Join(fmt.Errorf("write lock holder: %w", err), l.Release())
	}
	return l, nil
}

func heldBy(loopDir string) error {
	held := &HeldError{Loop: filepath.Base(loopDir)}
	live, err := Probe(loopDir)
	if err != nil {
		return fmt.Errorf("%w; its lock cannot be read: %w", held, err)
	}
	held.PID, held.Host, held.Since = live.PID, live.Host, live.Since
	return held
}

// refuseForeign keeps a lock off anything but a plain file. A missing file is fine: it is about to be created.
func refuseForeign(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return nil
}

var (
	errNotRegular = errors.New("not a regular file")
	errReplaced   = errors.New("replaced while it was being locked")
)

// openFacts opens the locked file again and makes sure that it is still the one: a lock on a file that has lost its name excludes nobody.
func openFacts(path string, locked *flock.Flock) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if err != nil {
		return nil, err
	}
	want, err := locked.Stat()
	if err == nil {
		var have fs.FileInfo
		if have, err = f.Stat(); err == nil && !os.SameFile(want, have) {
			err = &fs.PathError{Op: "lock", Path: path, Err: errReplaced}
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sign writes who holds the lock. The time is the one that the file system stamps on a first, empty line: this package reads no clock, and two
// hosts that share a folder share its time.
func (l *Lock) sign() error {
	if err := l.facts.Truncate(0); err != nil {
		return err
	}
	if _, err := l.facts.WriteAt([]byte{'\n'}, 0); err != nil {
		return err
	}
	info, err := l.facts.Stat()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	start, _ := ProcessStart(os.Getpid()) // unknown is 0
	boot, _ := bootID()                   // unknown is empty
	line, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Since: info.ModTime().UTC().Truncate(time.Microsecond), StartTicks: start, Boot: boot})
	if err != nil {
		return err
	}
	_, err = l.facts.WriteAt(append(line, '\n'), 0)
	return err
}

// ErrLockGone says that run.lock is not the file any more that a [Lock] is on: somebody removed or replaced it, and the next
// runner would lock another file.
var ErrLockGone = errors.New("run.lock was removed or replaced")

// Check returns ErrLockGone where the lock keeps nobody out any more. It takes microseconds.
func (l *Lock) Check() error {
	if l.facts == nil {
		return nil // a system that locks by force does not remove a locked file either
	}
	have, err := l.facts.Stat()
	if err != nil {
		return fmt.Errorf("check loop lock: %w", err)
	}
	there, err := os.Lstat(l.flock.Path())
	switch {
	case err == nil && os.SameFile(have, there):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return ErrLockGone
	}
	return fmt.Errorf("check loop lock: %w", err)
}

// Release empties run.lock and gives the lock back; the file stays. Before it, the runner writes its last state.json: from then on a
// state that says running is that of a runner which died. Call it once.
func (l *Lock) Release() error {
	var errs []error
	if l.facts != nil {
		errs = append(errs, l.facts.Truncate(0), l.facts.Close())
	}
	errs = append(errs, l.flock.Unlock())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("release loop lock: %w", err)
	}
	return nil
}

// Probe reports whether a runner holds the loop's lock. It creates nothing; a loop without run.lock, or without a folder, is not alive. A
// run.lock that is a symbolic link or otherwise no regular file is an error. Cost: some microseconds.
func Probe(loopDir string) (Liveness, error) {
	p, err := openProbe(filepath.Join(loopDir, lockFile))
	if err != nil {
		return Liveness{}, fmt.Errorf("probe loop lock: %w", err)
	}
	defer p.close()
	alive, err := p.alive()
	if err != nil {
		return Liveness{}, fmt.Errorf("probe loop lock: %w", err)
	}
	return decodeHolder(alive, p.facts(make([]byte, 0, firstRead))), nil
}

func decodeHolder(alive bool, b []byte) Liveness {
	if len(b) == 0 {
		return Liveness{Alive: alive}
	}
	h, ok := scanHolder(b)
	if !ok {
		h = holder{}
		if json.Unmarshal(b, &h) != nil {
			return Liveness{Alive: alive} // caught while it is being written
		}
	}
	return Liveness{Alive: alive, PID: h.PID, Host: h.Host, Since: h.Since, StartTicks: h.StartTicks, Boot: h.Boot}
}
