package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// ErrNoHolder says that no process can be found that holds a loop's lock: nobody does, or one of another host, another user or another
// container.
var ErrNoHolder = errors.New("the process that holds the loop's lock cannot be found")

// Process is one process of this machine, for as long as that is up.
type Process struct {
	PID   int
	Start uint64 // see ProcessStart
}

// Holder returns the process that holds a loop's lock. Who writes into the loop's folder can write any pid into run.lock, so on
// Linux the kernel is asked, and what the file says counts for nothing. Elsewhere the process that it names must have begun at the
// time that it names, since the same start of the machine and on this host. Where none is found the error is ErrNoHolder. It costs some milliseconds.
func Holder(loopDir string) (Process, error) {
	live, err := Probe(loopDir)
	if err != nil {
		return Process{}, err
	}
	if !live.Alive {
		return Process{}, ErrNoHolder
	}
	pid, err := holderOf(filepath.Join(loopDir, lockFile), live.PID)
	if err != nil {
		return Process{}, fmt.Errorf("find the holder of the loop's lock: %w", err)
	}
	start, err := ProcessStart(pid)
	if err != nil || runtime.GOOS != "linux" && !live.isHere(start) {
		return Process{}, ErrNoHolder
	}
	return Process{pid, start}, nil
}

// isHere reports whether the facts are of a process of this host that began then.
func (l Liveness) isHere(start uint64) bool {
	host, err := os.Hostname()
	boot, unknown := bootID()
	return err == nil && unknown == nil && l.Host == host && l.Boot == boot && l.StartTicks == start && start != 0
}
