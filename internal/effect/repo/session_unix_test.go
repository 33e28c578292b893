//go:build unix

package repo

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A new session has no terminal, even if these tests have one.
func TestHooksRunInOwnSession(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("pre-commit", "echo $$ > .git/said\nexec sleep 600")
	w.Write("a", "x")
	session := 0
	_, err := w.runUntil(Config{Message: "x"}, func(text string) {
		if pid, err := strconv.Atoi(text); err == nil {
			session, _ = unix.Getsid(pid)
		}
	})
	if err == nil {
		t.Error("the hook did not wait")
	}
	own, err := unix.Getsid(0)
	must(t, err)
	if session == 0 || session == own {
		t.Errorf("session %d, that of the tests is %d", session, own)
	}
}
