package runner

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
)

// keepAwake keeps the machine from sleeping until the returned function is called. Where no program
// can do that, it warns. What it starts ends with this process, however that ends: it reads from a
// pipe that only this process holds open, or watches its pid.
func (r *runner) keepAwake() (end func()) {
	if !r.Settings.KeepAwake {
		return func() {}
	}
	argv := []string{"systemd-inhibit", "--what=sleep:idle", "--who=ralph", "--why=loop " + r.Name + " is running", "--mode=block", "cat"}
	if runtime.GOOS == "darwin" {
		argv = []string{"caffeinate", "-i", "-w", strconv.Itoa(os.Getpid())}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.warn(fmt.Errorf("keep the machine awake: %w", err))
		return func() {}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		// A signal of the terminal ends it with the loop.
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 {
			select {
			case <-r.driverDone:
			default:
				r.warn(fmt.Errorf("keep the machine awake: %s: %w", argv[0], err))
			}
		}
	}()
	return func() { release(pipe, cmd, gone) }
}

func release(pipe io.Closer, cmd *exec.Cmd, gone <-chan struct{}) {
	_ = pipe.Close()
	if runtime.GOOS == "darwin" {
		_ = cmd.Process.Kill() // it has nothing to do any more
	}
	<-gone
}
