//go:build linux || darwin

package registry

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// forge writes into run.lock that another process holds it.
func forge(t *testing.T, dir string, change func(*holder)) {
	t.Helper()
	path := filepath.Join(dir, lockFile)
	text, err := os.ReadFile(path)
	var h holder
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	change(&h)
	line, failed := json.Marshal(h)
	if err = errors.Join(err, failed, os.WriteFile(path, append(line, '\n'), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestTheHolderIsWhoHoldsTheLock(t *testing.T) {
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
	begun, err := ProcessStart(pid)
	if err != nil {
		t.Fatal(err)
	}
	want := Process{pid, begun}
	if got, err := Holder(dir); err != nil || got != want {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	other, err := ProcessStart(innocent.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*holder){
		"an innocent pid":               func(h *holder) { h.PID = innocent.cmd.Process.Pid },
		"another start":                 func(h *holder) { h.StartTicks++ },
		"another start of the machine":  func(h *holder) { h.Boot = "another" },
		"another host":                  func(h *holder) { h.Host = "another" },
		"no pid":                        func(h *holder) { h.PID = 0 },
		"an innocent pid and its start": func(h *holder) { h.PID, h.StartTicks = innocent.cmd.Process.Pid, other },
	} {
		before, err := os.ReadFile(filepath.Join(dir, lockFile))
		if err != nil {
			t.Fatal(err)
		}
		forge(t, dir, change)
		got, err := Holder(dir)
		switch {
		case runtime.GOOS == "linux":
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
			}
		case name == "an innocent pid and its start":
			// This system does not say who has a lock.
		case !errors.Is(err, ErrNoHolder):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err := os.WriteFile(filepath.Join(dir, lockFile), before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runner.end()
	runner.said()
	if _, err := Holder(dir); !errors.Is(err, ErrNoHolder) {
		t.Errorf("after its end: %v", err)
	}
}

func TestTheLockNamesTheStartOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	if live, err := Probe(dir); err != nil || boot == "" || live.Boot != boot {
		t.Errorf("%+v, %v, want %q", live, err, boot)
	}
}
