package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// LockFile is the name of a loop's lock in its folder.
const LockFile = "run.lock"

// maxLock bounds what is read of a run.lock, in bytes.
const maxLock = 1 << 10

// Liveness says whether a loop is alive, and what its runner wrote into run.lock.
type Liveness struct {
	Alive bool `json:"-"` // a process holds the lock now
	// The facts below are of the process that holds the lock if Alive. If not, they are of one that
	// died holding it, and zero after an orderly end. In the instant between taking the lock and
	// writing them, they are zero or of an earlier process.
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"` // the file system's clock when the facts were written
	// StartTicks is when the process began: on Linux in clock ticks since boot, on macOS in
	// microseconds since 1970; 0 if that is unknown. With PID it names one process of a host.
	StartTicks uint64 `json:"startTicks,omitempty"`
}

// Probe reports whether a runner holds the loop's lock. It creates nothing; a loop without
// run.lock, or without a folder, is not alive. A run.lock that is a symbolic link or otherwise no
// regular file is an error.
func Probe(loopDir string) (Liveness, error) {
	lock, err := openLock(loopDir)
	if err != nil {
		return Liveness{}, fmt.Errorf("probe loop lock: %w", err)
	}
	defer lock.Close()
	alive, err := held(lock)
	if err != nil {
		return Liveness{}, fmt.Errorf("probe loop lock: %w", err)
	}
	return liveness(lock, alive), nil
}

// openLock opens a loop's lock. It returns nil if there is none.
func openLock(loopDir string) (*os.File, error) {
	lock, err := safefile.Open(filepath.Join(loopDir, LockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lock, err
}

// held takes a shared lock, which the runner's exclusive one forbids and other probes' do not, and
// gives it back at once.
func held(lock *os.File) (bool, error) {
	if lock == nil {
		return false, nil
	}
	free, err := filelock.TryShared(lock)
	if err == nil && free {
		err = filelock.Release(lock)
	}
	return !free, err
}

// liveness reads what the runner wrote. There is nothing to read where the file is empty, being
// written, or locked against reading, as on Windows.
func liveness(lock *os.File, alive bool) (live Liveness) {
	text := make([]byte, maxLock)
	n, _ := lock.Read(text)
	if n > 0 && json.Unmarshal(text[:n], &live) != nil {
		live = Liveness{}
	}
	live.Alive = alive
	return live
}
