package repo

import (
	"os/exec"
	"strings"
	"testing"
)

// isAlive reports whether a process runs; one that only waits to be collected does not.
func isAlive(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return err == nil && state != "" && !strings.HasPrefix(state, "Z")
}

// waitUntilGone allows for the moment between a signal and its effect.
func waitUntilGone(t *testing.T, pid string) {
	t.Helper()
	if pid == "" {
		t.Fatal("no process to wait for")
	}
	for range 2000 { // each takes the time of a process
		if !isAlive(pid) {
			return
		}
	}
	t.Errorf("process %s is still there", pid)
}
