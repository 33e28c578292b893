package registration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// A probe holds a shared lock for an instant. A child that a killed runner was starting holds the
// runner's lock until its exec. So a refused lock is tried again before it counts as held.
const (
	lockTries = 50
	lockPause = time.Millisecond
)

// retry calls take until it succeeds or fails, at most lockTries times.
func retry(take func() (bool, error)) (bool, error) {
	got, err := take()
	for try := 1; !got && err == nil && try < lockTries; try++ {
		time.Sleep(lockPause)
		got, err = take()
	}
	return got, err
}

// Lock is the right to run one loop. It belongs to the process: children do not inherit it, and the
// kernel ends it with the process.
type Lock struct{ file *os.File }

// HeldError says that another runner has the loop.
type HeldError struct {
	Loop  string    // the loop's name
	PID   int       // 0 if the other runner has not written its facts
	Host  string    // "" as PID
	Since time.Time // zero as PID
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("loop %s is already run by another process", e.Loop)
	}
	return fmt.Sprintf("loop %s is already run by pid %d on %s since %s", e.Loop, e.PID, e.Host, e.Since.Format(time.RFC3339))
}

// Usage says that a person has to change something.
func (*HeldError) Usage() {}

// ErrNoFolder says that the loop's folder is missing, as after a move to the archive.
var ErrNoFolder = errors.New("the loop's folder is not there")

// ErrLockGone says that run.lock is no longer the file that a [Lock] is on: it was removed or
// replaced, and the next runner would lock another file.
var ErrLockGone = errors.New("run.lock was removed or replaced")

// Acquire takes the loop's lock, and creates run.lock if it is missing. The folder must exist, else
// the error is ErrNoFolder. If another process, or another Lock of this one, has the lock, the
// error is a *HeldError after some 50 ms. The lock ends with Release or with the process.
func Acquire(loopDir string) (*Lock, error) {
	l, err := lockFile(loopDir)
	// An archived loop takes its run.lock along, which may happen between its opening and its
	// locking. The path then leads to the next loop's file, or to none.
	for try := 1; errors.Is(err, ErrLockGone) && try < lockTries; try++ {
		l, err = lockFile(loopDir)
	}
	if err != nil {
		return nil, err
	}
	if err := l.sign(); err != nil {
		return nil, errors.Join(fmt.Errorf("write lock holder: %w", err), l.Release())
	}
	return l, nil
}

// lockFile locks the run.lock that is in the folder now. The error is ErrLockGone if the folder has
// another one by then.
func lockFile(loopDir string) (*Lock, error) {
	// Writable, because NFS grants an exclusive lock only on such a file.
	f, err := safefile.OpenFile(filepath.Join(loopDir, registry.LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(ErrNoFolder, err)
	}
	if err != nil {
		return nil, fmt.Errorf("take loop lock: %w", err)
	}
	got, err := retry(func() (bool, error) { return filelock.TryExclusive(f) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take loop lock: %w", err), f.Close())
	}
	if !got {
		return nil, errors.Join(heldBy(loopDir), f.Close())
	}
	l := &Lock{f}
	if err := l.Check(); err != nil {
		return nil, errors.Join(fmt.Errorf("take loop lock: %w", err), f.Close())
	}
	return l, nil
}

func heldBy(loopDir string) error {
	held := &HeldError{Loop: filepath.Base(loopDir)}
	live, err := registry.Probe(loopDir)
	if err != nil {
		return fmt.Errorf("%w; its lock cannot be read: %w", held, err)
	}
	held.PID, held.Host, held.Since = live.PID, live.Host, live.Since
	return held
}

// sign writes which process holds the lock. The time is that of the file after a first, empty line:
// this package reads no clock, and hosts that share a folder share the file system's time.
func (l *Lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.WriteAt([]byte{'\n'}, 0); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	start, _ := process.StartTime(os.Getpid()) // unknown is 0
	line, err := json.Marshal(registry.Liveness{PID: os.Getpid(), Host: host, Since: info.ModTime().UTC().Truncate(time.Microsecond), StartTicks: start})
	if err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(line, '\n'), 0)
	return err
}

// Check returns ErrLockGone if the lock does not exclude other runners any more.
func (l *Lock) Check() error {
	have, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("check loop lock: %w", err)
	}
	there, err := os.Lstat(l.file.Name())
	switch {
	case err == nil && os.SameFile(have, there):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return ErrLockGone
	}
	return fmt.Errorf("check loop lock: %w", err)
}

// Release empties run.lock and releases the lock; the file stays. The runner writes its last
// state.json before it. So a state that says running and a free lock mean that the runner died.
// Call it once.
func (l *Lock) Release() error {
	if err := errors.Join(l.file.Truncate(0), filelock.Release(l.file), l.file.Close()); err != nil {
		return fmt.Errorf("release loop lock: %w", err)
	}
	return nil
}
