//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// noFollow keeps a planted symbolic link from being written through, and a planted pipe
// from being waited for.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// ownSession takes a process out of the terminal's session, so that neither its closing nor
// ctrl-c there reaches it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// child is a process of ours by its pid, which is its own until it is reaped.
type child int

// spawn starts a program in a session of its own. os.StartProcess would first fork once more, to try whether the kernel
// has descriptors of processes, and a start waits for that.
func spawn(program string, args []string, e *env, files []*os.File) (child, error) {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{
		Dir: e.cwd, Env: e.environ, Files: fds, Sys: ownSession(),
	})
	return child(pid), err
}

func (c child) kill() { _ = syscall.Kill(int(c), syscall.SIGKILL) }

// reap waits for the end.
func (c child) reap() {
	for {
		if _, err := syscall.Wait4(int(c), nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// speakInto sends what this process says from now on to a log: its last words too.
func speakInto(log *os.File) error {
	return errors.Join(dup2(int(log.Fd()), 1), dup2(int(log.Fd()), 2))
}
