//go:build linux || darwin

package guardrail

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shell returns sh -c in a process group of its own. It stays in our session: by that an agent's ending, which looks for strays in
// other sessions, knows a child of ours from a process that the agent left to us.
func shell(line string) (*exec.Cmd, error) {
	path, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "-c", line)
	cmd.Args[0] = "sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}

// endGroup ends all processes of the group that leader leads: TERM, up to grace for them to leave, KILL, and returns when a look
// finds none, or with an error when some outlived KILL. The leader must not have been reaped.
func endGroup(leader *os.Process, grace time.Duration) error {
	group := leader.Pid
	n, err := countAlive(group)
	if err == nil && n == 0 {
		return nil
	}
	_ = unix.Kill(-group, unix.SIGTERM) // that it has gone meanwhile is as good, and what may not be signalled is found again
	_ = unix.Kill(-group, unix.SIGCONT) // a stopped process receives TERM only when it runs again
	if err == nil {
		n, err = awaitNone(group, grace)
	}
	if err == nil && n == 0 {
		return nil
	}
	_ = unix.Kill(-group, unix.SIGKILL)
	if err == nil {
		n, err = awaitNone(group, killTime)
	}
	switch {
	case err != nil:
		return fmt.Errorf("look for processes of its group: %w", err)
	case n > 0:
		return fmt.Errorf("%d processes of its group, %d, outlived KILL", n, group)
	}
	return nil
}

// awaitNone returns 0 once nobody is alive in the group, and how many are when the time is over. It polls, ever more slowly: no event tells the
// end of processes that are not our children, and the wait is short or the processes are stubborn.
func awaitNone(group int, limit time.Duration) (int, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	pause := time.Millisecond
	next := time.NewTimer(pause)
	defer next.Stop()
	for over := false; ; {
		n, err := countAlive(group)
		if err != nil || n == 0 || over {
			return n, err
		}
		select {
		case <-late.C:
			over = true
		case <-next.C:
			pause = min(2*pause, 20*time.Millisecond)
			next.Reset(pause)
		}
	}
}

// reapAdopted collects a zombie that has become our child, by its pid: a wait for any child would take the exit status from
// whoever waits for it.
func reapAdopted(pid int) {
	_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
}

func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return unix.SignalName(status.Signal())
}
