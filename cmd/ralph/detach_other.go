//go:build !unix

package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

const noFollow = 0

func ownSession() *syscall.SysProcAttr { return nil }

// child is a process of ours.
type child struct{ *os.Process }

func spawn(program string, args []string, e *env, files []*os.File) (child, error) {
	p, err := os.StartProcess(program, args, &os.ProcAttr{Dir: e.cwd, Env: e.environ, Files: files})
	return child{p}, err
}

func (c child) kill() { _ = c.Kill() }
func (c child) reap() { _, _ = c.Wait() }

// speakInto sends what this process says from now on to a log.
func speakInto(log *os.File) error {
	os.Stdout, os.Stderr = log, log
	return debug.SetCrashOutput(log, debug.CrashOptions{})
}
