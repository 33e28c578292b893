package main

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/registry"
)

func TestTheEndOfARunnersProcessIsTold(t *testing.T) {
	process := exec.Command("sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Process.Kill()
	host, _ := os.Hostname()
	began, err := registry.ProcessStart(process.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	runner := registry.Liveness{Alive: true, PID: process.Process.Pid, Host: host, StartTicks: began}
	ctx, cancel := context.WithCancel(t.Context())
	calledOff, over := exited(ctx, runner), exited(t.Context(), runner)
	if over == nil || calledOff == nil {
		t.Skip("this kernel knows no pidfd")
	}
	for name, other := range map[string]registry.Liveness{
		"on another host":         {Alive: true, PID: runner.PID, Host: host + "2", StartTicks: began},
		"another with its number": {Alive: true, PID: runner.PID, Host: host, StartTicks: began + 1},
		"not alive":               {PID: runner.PID, Host: host, StartTicks: began},
		"unknown":                 {Alive: true},
	} {
		if exited(t.Context(), other) != nil {
			t.Errorf("a process is watched that is %s", name)
		}
	}
	cancel()
	select {
	case <-over:
		t.Fatal("its end is told while it lives")
	default:
	}
	process.Process.Kill()
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		t.Fatal("its end is not told")
	}
	process.Wait()
	select {
	case <-calledOff:
		t.Error("the end is told to who called it off")
	default:
	}
}
