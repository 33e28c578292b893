//go:build linux || darwin

package registration

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/registry"
)

// forge writes into run.lock that another process holds it.
func forge(t *testing.T, dir string, change func(*registry.Liveness)) {
	t.Helper()
	path := filepath.Join(dir, registry.LockFile)
	text, err := os.ReadFile(path)
	var h registry.Liveness
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	change(&h)
	line, failed := json.Marshal(h)
	if err = errors.Join(err, failed, os.WriteFile(path, append(line, '\n'), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestHolderHasTheLock(t *testing.T) {
	dir := t.TempDir()
	if _, err := Holder(dir); !errors.Is(err, ErrNoHolder) {
		t.Errorf("without a lock: %v", err)
	}
	runner, innocent := start(t, "hold", dir), start(t, "linger", dir)
	if said := runner.said(); said != "held 0" {
		t.Fatal(said)
	}
	innocent.said()
	pid := runner.cmd.Process.Pid
	begun, ok := process.StartTime(pid)
	if !ok {
		t.Fatal("the process has no start time")
	}
	want := Process{pid, begun}
	if got, err := Holder(dir); err != nil || got != want {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	other, ok := process.StartTime(innocent.cmd.Process.Pid)
	if !ok {
		t.Fatal("the process has no start time")
	}
	for name, change := range map[string]func(*registry.Liveness){
		"an innocent pid":               func(h *registry.Liveness) { h.PID = innocent.cmd.Process.Pid },
		"another start":                 func(h *registry.Liveness) { h.StartTicks++ },
		"another host":                  func(h *registry.Liveness) { h.Host = "another" },
		"no pid":                        func(h *registry.Liveness) { h.PID = 0 },
		"an innocent pid and its start": func(h *registry.Liveness) { h.PID, h.StartTicks = innocent.cmd.Process.Pid, other },
	} {
		before := testfile.Read(t, filepath.Join(dir, registry.LockFile))
		forge(t, dir, change)
		got, err := Holder(dir)
		switch {
		case runtime.GOOS == "linux":
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
			}
		case name == "an innocent pid and its start":
			// This system does not report who has a lock.
		case !errors.Is(err, ErrNoHolder):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		testfile.Write(t, filepath.Join(dir, registry.LockFile), before)
	}
	runner.end()
	runner.said()
	if _, err := Holder(dir); !errors.Is(err, ErrNoHolder) {
		t.Errorf("after its end: %v", err)
	}
}
