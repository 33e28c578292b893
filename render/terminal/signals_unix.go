//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

const canSuspend = true

// endingSignals end a program in an orderly way.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// notifyContinued sends the signal that this process was stopped and continues.
func notifyContinued(received chan<- os.Signal) { signal.Notify(received, syscall.SIGCONT) }

// notStopped is how long to wait for this process to be stopped.
const notStopped = 300 * time.Millisecond

// wakeUnstopped sends SIGCONT to this process if it was not stopped: the kernel does not stop a
// process group that no shell controls. A process that was stopped and continues gets one more,
// which changes nothing.
func wakeUnstopped() {
	time.AfterFunc(notStopped, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGCONT) })
}
