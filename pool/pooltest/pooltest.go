// Package pooltest has what tests of a pool share: the program ralph, built from the module beside
// this one, and loops that it really runs.
package pooltest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Main builds ralph, puts it on PATH, and runs the tests of a package.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "ralph-pool-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	build := exec.Command("go", "build", "-trimpath", "-o", folder, "github.com/ralph-loop/ralph/cmd/ralph")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build ralph: %v\n%s", err, out)
		return 1
	}
	_ = os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

// A Host is one machine: a home of its own.
type Host struct {
	t    *testing.T
	Home string
	Dir  string // an empty folder
}

// NewHost returns another machine.
func NewHost(t *testing.T) *Host {
	t.Helper()
	return &Host{t: t, Home: t.TempDir(), Dir: t.TempDir()}
}

// Environ is the environment of programs there.
func (h *Host) Environ() []string {
	return append(os.Environ(), "RALPH_HOME="+h.Home, "HOME="+h.Home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
}

// Try runs a program in a folder, and returns all that it printed.
func (h *Host) Try(dir, name string, args ...string) (string, error) {
	var out bytes.Buffer
	command := exec.Command(name, args...)
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, h.Environ(), &out, &out
	err := command.Run()
	return strings.TrimSpace(out.String()), err
}

// Run runs a program that has to succeed.
func (h *Host) Run(dir, name string, args ...string) string {
	h.t.Helper()
	out, err := h.Try(dir, name, args...)
	if err != nil {
		h.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// Script writes an agent to a repository with one commit, and returns its folder.
func (h *Host) Repository(agent string) string {
	h.t.Helper()
	dir := filepath.Join(h.Dir, "project")
	h.Write(filepath.Join(dir, "agent.sh"), "#!/bin/sh\ncat >/dev/null\n"+agent)
	if err := os.Chmod(filepath.Join(dir, "agent.sh"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.Run(dir, "git", "init", "-q", "-b", "main")
	h.Run(dir, "git", "add", ".")
	h.Run(dir, "git", "commit", "-q", "-m", "one")
	return dir
}

// Write writes a file, and the folders that it is in.
func (h *Host) Write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}
