package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

// asking is an agent that asks a question and works on until it may end.
const asking = `#!/bin/sh
cat > /dev/null
ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite
until [ -e may-end ]; do sleep 0.05; done
echo '<promise>COMPLETE</promise>'
`

// A person starts loops with this front end, follows them, steers one, answers and stops another.
func TestPublicPackagesSuffice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a loop runs on Linux and macOS")
	}
	dir := t.TempDir()
	ralph := filepath.Join(dir, "ralph")
	command(t.Context(), t, "../..", "go", "build", "-o", ralph, "./cmd/ralph")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("RALPH_HOME", filepath.Join(dir, "home"))
	for _, name := range []string{"RALPH_LOOP", "RALPH_LOOP_DIR", "RALPH_ITERATION", "TASK_FOLDER"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	for name, text := range map[string]string{"work.rehearsal": scenario, "asking.sh": asking} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // after a failure the loops may still run
		for _, name := range []string{"one", "two"} {
			_ = exec.Command(ralph, "kill", name, "--project", project).Run()
		}
	})
	call := func(args ...string) string {
		var out bytes.Buffer
		if err := run(ctx, &out, args); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out.String())
		}
		return out.String()
	}
	begin := func(name string, flags ...string) (out *watched, ended chan error) {
		out, ended = new(watched), make(chan error, 1)
		go func() { ended <- run(ctx, out, append([]string{"start", "do it", name}, flags...)) }()
		return out, ended
	}

	out, ended := begin("one", "--agent=ralph rehearse work.rehearsal", "--protocol=rehearsal")
	out.await(ctx, t, "said: I will run the tests.\ntool: bash\n")
	wants(t, call("list"), "one: running after 1 of", "alive: true")
	wants(t, call("steer", "one", "use the other branch"), "steer delivered live")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wants(t, out.String(), "said: I heard you: use the other branch\n", "completed by promise\n")
	wants(t, call("follow", "one"), out.String())

	out, ended = begin("two", "--agent=./asking.sh", "--protocol=text")
	out.await(ctx, t, "question 1: Postgres or SQLite?\n")
	wants(t, call("list"), "two: ", "  question 1: Postgres or SQLite?\n")
	wants(t, call("answer", "two", "1", "sqlite"), "answer received")
	wants(t, call("stop", "two"), "stop delivered loop")
	if err := os.WriteFile("may-end", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wants(t, call("list"), "one: completed after 1", "two: ", "alive: false")

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"steer", "none", "x"}, `there is no loop "none" here`},
		{[]string{"steer", "one", "x"}, "loop one is not running: it has ended (promise)"},
		{[]string{"start", "do it", "--no-such-flag"}, "no-such-flag"},
		{[]string{"dance"}, "usage: "},
	} {
		if err := run(ctx, new(bytes.Buffer), c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}

func wants(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("the output lacks %q:\n%s", part, out)
		}
	}
}

// watched is an output that a test waits for.
type watched struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await waits until the output has a text.
func (w *watched) await(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	for {
		w.mu.Lock()
		found := strings.Contains(w.text.String(), text)
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the output lacks %q:\n%s", text, w.String())
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
