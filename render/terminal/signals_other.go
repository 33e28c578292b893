//go:build !unix

package terminal

import (
	"os"
)

const canSuspend = false

// endingSignals end a program in an orderly way.
var endingSignals = []os.Signal{os.Interrupt}

// notifyContinued sends nothing: this system does not stop processes.
func notifyContinued(chan<- os.Signal) {}

func wakeUnstopped() {}
