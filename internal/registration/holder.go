package registration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/registry"
)

// ErrNoHolder says that no process was found that holds a loop's lock: none does, or one of another
// host, another user or another container.
var ErrNoHolder = errors.New("the process that holds the loop's lock cannot be found")

// Process is one process of this machine, for as long as that is up.
type Process struct {
	PID   int
	Start uint64 // in the system's own unit: clock ticks since boot, or microseconds since 1970
}

// Holder returns the process that holds a loop's lock. A process that writes into the loop's folder
// can write any pid into run.lock, so on Linux the kernel is asked, and the file's content is only
// a hint. Elsewhere the process that it names must have begun on this host at the time that it
// names. Where none is found the error is ErrNoHolder. It costs some milliseconds.
func Holder(loopDir string) (Process, error) {
	live, err := registry.Probe(loopDir)
	if err != nil {
		return Process{}, err
	}
	if !live.Alive {
		return Process{}, ErrNoHolder
	}
	pid, err := holderOf(filepath.Join(loopDir, registry.LockFile), live.PID)
	if err != nil {
		return Process{}, fmt.Errorf("find the holder of the loop's lock: %w", err)
	}
	start, ok := process.StartTime(pid)
	if !ok || runtime.GOOS != "linux" && !isHere(live, start) {
		return Process{}, ErrNoHolder
	}
	return Process{pid, start}, nil
}

// isHere reports whether the facts are those of a process of this host that began at start.
func isHere(live registry.Liveness, start uint64) bool {
	host, err := os.Hostname()
	return err == nil && live.Host == host && live.StartTicks == start && start != 0
}
