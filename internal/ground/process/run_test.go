//go:build linux || darwin

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	t.Run("both streams in one writer keep their order", func(t *testing.T) {
		var out bytes.Buffer
		exit, err := Run(t.Context(), Command{Shell: "cat; echo two >&2; echo three; exit 3", Stdin: []byte("one\n"), Stdout: &out, Stderr: &out})
		if err != nil || exit.Code != 3 || exit.Failure() == nil || out.String() != "one\ntwo\nthree\n" {
			t.Errorf("%+v, %v: %q", exit, err, out.String())
		}
	})
	t.Run("two writers get a stream each", func(t *testing.T) {
		var out, errs bytes.Buffer
		exit, err := Run(t.Context(), Command{Argv: []string{"sh", "-c", "echo out; echo err >&2"}, Stdout: &out, Stderr: &errs})
		if err != nil || exit.Failure() != nil || out.String() != "out\n" || errs.String() != "err\n" {
			t.Errorf("%+v, %v: %q, %q", exit, err, out.String(), errs.String())
		}
	})
	t.Run("a program that is missing is an error", func(t *testing.T) {
		if _, err := Run(t.Context(), Command{Argv: []string{"no-such-program"}}); !errors.Is(err, exec.ErrNotFound) {
			t.Error(err)
		}
	})
	t.Run("nothing starts after the context has ended", func(t *testing.T) {
		cause := errors.New("over")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err := Run(ctx, Command{Argv: []string{"no-such-program"}}); !errors.Is(err, cause) {
			t.Error(err)
		}
	})
	t.Run("a writer that fails breaks the pipe", func(t *testing.T) {
		exit, err := Run(t.Context(), Command{Argv: []string{"yes"}, Stdout: failingWriter{}})
		if err != nil || exit.Signal != "SIGPIPE" || !errors.Is(exit.Err, errFull) {
			t.Errorf("%+v, %v", exit, err)
		}
	})
}

var errFull = errors.New("full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

// background is a shell command that prints the pid of a process of its group, which keeps running.
const background = "sleep 1000 >/dev/null 2>&1 & echo $!"

func TestRunEndsItsGroup(t *testing.T) {
	for name, test := range map[string]struct {
		command Command
		lives   bool
	}{
		"in a group":            {command: Command{Shell: background}},
		"in a session":          {command: Command{Shell: background, Session: true}},
		"one that ignores TERM": {command: Command{Shell: "trap '' TERM; " + background, Grace: shortGrace}},
		"strays are left":       {command: Command{Shell: background, LeaveStrays: true}, lives: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			test.command.Stdout = &out
			exit, err := Run(t.Context(), test.command)
			pid, noPID := strconv.Atoi(strings.TrimSpace(out.String()))
			if err != nil || exit.Err != nil || noPID != nil {
				t.Fatal(err, exit.Err, noPID)
			}
			if lives := alive(pid); lives != test.lives || len(exit.Strays) == 0 != test.lives {
				t.Errorf("alive: %v, %+v", lives, exit)
			}
			if test.lives {
				killAndReap(t, pid)
			}
		})
	}
}

// What runs in a sandbox may be hostile: it leaves its group, its session and its mark.
func TestRunEndsSandboxed(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no setsid, or orphans go elsewhere")
	}
	var out bytes.Buffer
	exit, err := Run(t.Context(), Command{
		Shell:  `echo $(env -i setsid sh -c '` + background + `')`,
		Env:    append(os.Environ(), MarkVariable+"=test-of-a-sandbox"),
		Wrap:   func(argv, env []string) ([]string, []string, error) { return argv, env, nil },
		Stdout: &out,
	})
	pid, noPID := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || exit.Err != nil || noPID != nil {
		t.Fatal(err, exit.Err, noPID)
	}
	if alive(pid) {
		killAndReap(t, pid)
		t.Errorf("%d is alive: %+v", pid, exit)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	for name, command := range map[string]Command{
		"it leaves on TERM": {Shell: "echo $$; exec sleep 1000"},
		"it ignores TERM":   {Shell: "trap '' TERM; echo $$; sleep 1000; sleep 1000", Grace: shortGrace},
		"strays are left":   {Shell: "echo $$; sleep 1000 & wait", LeaveStrays: true, Session: true},
	} {
		t.Run(name, func(t *testing.T) {
			cause := errors.New("over")
			ctx, cancel := context.WithCancelCause(t.Context())
			var out bytes.Buffer
			command.Stdout = &cancelingWriter{&out, func() { cancel(cause) }}
			exit, err := Run(ctx, command)
			group, noPID := strconv.Atoi(strings.TrimSpace(out.String()))
			if !errors.Is(err, cause) || exit.Err != nil || exit.Signal == "" || noPID != nil {
				t.Fatalf("%+v, %v, %v", exit, err, noPID)
			}
			if left, err := listProcesses(group); err != nil || len(left) > 0 {
				t.Errorf("left: %+v, %v", left, err)
			}
		})
	}
}

// cancelingWriter cancels when the first output has come.
type cancelingWriter struct {
	*bytes.Buffer
	cancel func()
}

func (w *cancelingWriter) Write(p []byte) (int, error) {
	defer w.cancel()
	return w.Buffer.Write(p)
}

// A command in a session of its own is a child that the end of an agent must not take for an
// adopted one.
func TestAgentEndSparesRunningCommand(t *testing.T) {
	a := start(t, shell("read x"))
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var out bytes.Buffer
	exit, err := Run(ctx, Command{
		Shell: fmt.Sprintf("echo x; while kill -0 %d 2>/dev/null; do sleep 0.01; done", a.PID()), Session: true,
		Stdout: &cancelingWriter{&out, a.Kill},
	})
	if err != nil || exit.Failure() != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	a.ended()
}

func TestAwaitExit(t *testing.T) {
	a := start(t, actor("sit"))
	start, _ := StartTime(a.PID())
	ctx, cancel := context.WithCancel(t.Context())
	canceled, ended := AwaitExit(ctx, a.PID(), start), AwaitExit(t.Context(), a.PID(), start)
	if ended == nil || canceled == nil {
		t.Skip("this kernel has no pidfd")
	}
	if AwaitExit(t.Context(), a.PID(), start+1) != nil {
		t.Error("another process with the pid is awaited")
	}
	cancel()
	select {
	case <-ended:
		t.Fatal("the end is reported while the process runs")
	default:
	}
	a.Kill()
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Fatal("the end is not reported")
	}
	a.ended()
	select {
	case <-canceled:
		t.Error("the end is reported after the context has ended")
	default:
	}
}
