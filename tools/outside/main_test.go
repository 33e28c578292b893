package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// scenario uses a tool and is silent until it is steered.
const scenario = `iteration
  say I will run the tests.
  tool bash {"command":"make test"} -> ok: 12 passed
  silence
  steered -> say I heard you: {steer}
  steered -> promise
  steered -> finish
`

func TestPublicPackagesSuffice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a loop runs on Linux and macOS")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	ralph := filepath.Join(dir, "ralph")
	command(ctx, t, "../..", "go", "build", "-o", ralph, "./cmd/ralph")

	t.Setenv("RALPH_HOME", filepath.Join(dir, "home"))
	for _, name := range []string{"RALPH_LOOP", "RALPH_LOOP_DIR", "RALPH_ITERATION", "TASK_FOLDER"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "work.rehearsal"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	command(ctx, t, project, ralph, "start", "one", "--detach", "-p", "do it",
		"--agent", ralph+" rehearse work.rehearsal", "--protocol", "rehearsal")
	t.Cleanup(func() { // after a failure the loop may still run
		cmd := exec.Command(ralph, "kill", "one")
		cmd.Dir = project
		_ = cmd.Run()
	})

	var out bytes.Buffer
	if err := run(ctx, &out, filepath.Join(project, ".ralph", "one"), "use the other branch"); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"listed one, alive: true\n",
		"followed: I will run the tests.\n",
		"steered: delivered live\n",
		"followed: I heard you: use the other branch\n",
		"followed: completed by promise\n",
		"rebuilt: completed after 1 iteration\n",
		"the last one: done, 1 tools\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}

func command(ctx context.Context, t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}
