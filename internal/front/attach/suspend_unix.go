//go:build unix

package attach

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyTerminal sends the signals that the terminal's size has changed, or that this program was
// suspended and continues.
func notifyTerminal(received chan<- os.Signal) {
	signal.Notify(received, syscall.SIGWINCH, syscall.SIGCONT)
}

// continued reports whether a signal is SIGCONT.
func continued(s os.Signal) bool { return s == syscall.SIGCONT }

// suspendSelf stops this program and its job, as ctrl-z does in a terminal's line mode. If no shell
// could continue it, the kernel does nothing.
func suspendSelf() { _ = syscall.Kill(0, syscall.SIGTSTP) }
