package registration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

// ErrNoHolder says that no process was found that holds a loop's lock: none holds it, or one of
// another host, user or container.
var ErrNoHolder = errors.New("the process that holds the loop's lock cannot be found")

// Process identifies a process of this machine until the next boot.
type Process struct {
	PID   int
	Start uint64 // in the system's own unit: clock ticks since boot, or microseconds since 1970
}

// Holder returns the process that holds a loop's lock. A process that writes into the loop's folder
// can write any pid into run.lock. So on Linux, Holder asks the kernel, and the file's content is
// only a hint. Elsewhere, the process that the file names must have started on this host at the
// time in the file. If none is found, the error is ErrNoHolder. A call takes some milliseconds.
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

// isHere reports whether run.lock names a process of this host that began at start.
func isHere(live registry.Liveness, start uint64) bool {
	host, err := os.Hostname()
	return err == nil && live.Host == host && live.StartTicks == start && start != 0
}
