package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/registry"
)

// program writes a script in place of ralph, which notes its arguments, a line each.
func program(t *testing.T, script string) (path string, arguments func() []string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "ralph")
	notes := filepath.Join(dir, "arguments")
	text := "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\" >> '" + notes + "'; done\n" + script
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() []string {
		text := testfile.Read(t, notes)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func TestStartReturnsTheLoop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Folder, "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, arguments := program(t, `read prompt; [ "$prompt" = "do it" ] || exit 2; printf '{"name":"one","dir":"`+dir+`","pid":7}\n'`)
	s := Start{
		Project: t.TempDir(), Name: "one", Prompt: "do it\n", Agent: "claude", Iterations: 3, Numbered: true, ID: "01JD0000000000000000000000",
		Set: map[string]string{"limits.cost": "2", "a": "b"}, Flags: []string{"--worktree"}, Program: path,
	}
	loop, err := s.Start(t.Context())
	if err != nil || loop.Dir != dir || loop.Name != "one" {
		t.Fatalf("%+v %v", loop, err)
	}
	want := []string{
		"start", "--detach", "--json", "one", "--numbered", "--id=01JD0000000000000000000000", "--prompt=-", "--agent=claude",
		"--maximum-iterations=3", "--set=a=b", "--set=limits.cost=2", "--worktree",
	}
	if got := arguments(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The runner has the program's stderr until it has opened its log, which may be after the program.
func TestStartDoesNotAwaitRunner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Folder, "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, _ := program(t, `sleep 600 > /dev/null &
echo $! > '`+dir+`/pid'; printf '{"dir":"`+dir+`"}\n'`)
	if _, err := (Start{Project: t.TempDir(), Program: path}).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := testfile.Read(t, filepath.Join(dir, "pid"))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Kill(); err != nil {
		t.Errorf("it waited for what the program had started: %v", err)
	}
}

func TestResumeNamesTheFolder(t *testing.T) {
	project := t.TempDir()
	dir := filepath.Join(project, Folder, "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, arguments := program(t, `printf '{"dir":"`+dir+`"}\n'`)
	loop := registry.Status{Entry: registry.Entry{Name: "one", Dir: dir, Project: project}}
	if _, err := (Start{Prompt: "other", Iterations: 9, Program: path}).Resume(t.Context(), loop); err != nil {
		t.Fatal(err)
	}
	want := []string{"start", "--detach", "--json", "--resume", dir, "--maximum-iterations=9"}
	if got := arguments(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRefusalOfTheProgram(t *testing.T) {
	path, _ := program(t, `echo 'ralph: nothing holds the agent back' >&2
echo 'ralph: error: loop one is running:' >&2
echo '  since noon' >&2
echo 'ralph: hint: attach to it' >&2
exit 2`)
	var notes strings.Builder
	_, err := Start{Project: t.TempDir(), Program: path, Notes: &notes}.Start(t.Context())
	refused, ok := errors.AsType[*ProgramError](err)
	if !ok || *refused != (ProgramError{2, "loop one is running:\n  since noon", "attach to it"}) || notes.String() != "ralph: nothing holds the agent back\n" {
		t.Fatalf("%+v, %v, %q", refused, err, notes.String())
	}
	if _, err := (Start{Project: t.TempDir(), Program: filepath.Join(t.TempDir(), "none")}).Start(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Start{Project: t.TempDir(), Program: path}).Start(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}
