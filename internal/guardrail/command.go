package guardrail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// command is one shell command to be run.
type command struct {
	line    string
	dir     string
	env     []string
	timeout time.Duration
	grace   time.Duration
}

// exit is how the shell ended.
type exit struct {
	code    int
	signal  string
	took    time.Duration
	cut     cut
	warning error
}

// cut is why a command was ended, if it did not end by itself.
type cut int

const (
	byItself cut = iota
	byTimeout
	byContext
)

// run starts the shell, hands its output on, and returns when it and its process group have ended. An error says that it
// could not be started.
//
// The output goes through a pipe although the log itself could be handed to the shell: a script that writes to /dev/stderr
// opens the file behind it anew, and would empty the log.
func (c command) run(ctx context.Context, out *output) (exit, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return exit{}, err
	}
	defer read.Close()
	cmd, err := c.start(write)
	if closeErr := write.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return exit{}, err
	}
	started := time.Now()

	drained := make(chan error, 1)
	go func() { drained <- out.drain(read) }()
	exited := make(chan error, 1)
	go func() { exited <- awaitExit(cmd) }()

	e := exit{code: -1, cut: c.await(ctx, exited)}
	if e.cut == byItself {
		e.took = time.Since(started)
	}
	groupErr := endGroup(cmd.Process, c.grace)
	leaderErr := reap(cmd, exited, &e)
	if e.cut != byItself {
		e.took = time.Since(started)
	}
	e.warning = errors.Join(groupErr, leaderErr, release(read, drained))
	return e, nil
}

func (c command) start(output *os.File) (*exec.Cmd, error) {
	cmd, err := shell(c.line)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = c.dir, c.environment()
	cmd.Stdout, cmd.Stderr = output, output // standard input is the null device
	if err := cmd.Start(); err != nil {
		return nil, diagnose(c.dir, err)
	}
	return cmd, nil
}

func (c command) environment() []string {
	env := c.env
	if env == nil {
		env = os.Environ()
	}
	// A PWD inherited from the caller names another directory, and some programs believe it.
	if dir, err := filepath.Abs(c.dir); err == nil {
		env = append(slices.Clip(env), "PWD="+dir)
	}
	return env
}

// diagnose finds out what "no such file or directory" is about: the kernel says it alike for the shell and for its directory.
func diagnose(dir string, err error) error {
	if dir == "" {
		return err
	}
	info, statErr := os.Stat(dir)
	if statErr == nil && !info.IsDir() {
		statErr = &fs.PathError{Op: "chdir", Path: dir, Err: errors.New("not a directory")}
	}
	if statErr != nil {
		return fmt.Errorf("working directory: %w", statErr)
	}
	return err
}

// await waits for the shell's end, for no longer than the timeout and the context allow. It leaves exited as it was, for reap.
func (c command) await(ctx context.Context, exited chan error) cut {
	var late <-chan time.Time
	if c.timeout > 0 {
		timer := time.NewTimer(c.timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case err := <-exited:
		exited <- err
		return byItself
	case <-late:
		return byTimeout
	case <-ctx.Done():
		return byContext
	}
}

// reap collects the exit status. Before it the shell's pid, which is its group's id, cannot be given to another process.
func reap(cmd *exec.Cmd, exited chan error, e *exit) error {
	limit := time.NewTimer(killTime)
	defer limit.Stop()
	select {
	case err := <-exited:
		if err != nil {
			err = fmt.Errorf("wait for the shell: %w", err)
		}
		// A non-zero exit is an error to os/exec and an answer to us: both stand in ProcessState.
		_ = cmd.Wait()
		if state := cmd.ProcessState; state != nil {
			e.code, e.signal = state.ExitCode(), signalName(state)
		}
		return err
	case <-limit.C:
		go func() { _ = cmd.Wait() }() // it is stuck inside the kernel; whenever it comes out, nobody waits for an answer
		return fmt.Errorf("the shell, pid %d, outlived KILL", cmd.Process.Pid)
	}
}

// release ends the reading of a pipe that processes out of our reach may hold open, when all others have ended.
func release(pipe *os.File, drained <-chan error) error {
	if err := pipe.SetReadDeadline(time.Now()); err != nil {
		// Pipes of this system have no deadlines: close it under the reader, once it had time for what is there.
		late := time.AfterFunc(quietTime, func() { _ = pipe.Close() })
		defer late.Stop()
	}
	return <-drained
}

// readError returns err unless it is one of the ways in which reading a pipe ends well.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return fmt.Errorf("read its output: %w", err)
}
