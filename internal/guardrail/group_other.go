//go:build !linux && !darwin

package guardrail

import (
	"os"
	"os/exec"
	"time"
)

// On these systems a guardrail is one process: what it starts is not followed.

// awaitExit also reaps: waiting without it takes a call that not every system has. The state stays in cmd.
func awaitExit(cmd *exec.Cmd) error {
	_ = cmd.Wait() // a non-zero exit is no error here
	return nil
}

func endGroup(leader *os.Process, _ time.Duration) error {
	_ = leader.Kill() // that it has ended is as good
	return nil
}

func signalName(*os.ProcessState) string { return "" }
