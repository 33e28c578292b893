//go:build linux || darwin

package registration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

func TestRunnerAmongAncestors(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	dir := filepath.Join(project, ".ralph", "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	holder := start(t, "hold", dir)
	if said := holder.said(); said != "held 0" {
		t.Fatal(said)
	}
	line, complete := process.Lineage(holder.cmd.Process.Pid)
	if !complete || len(line) < 2 || line[1].PID != os.Getpid() {
		t.Fatalf("%v, %v: want the holder, then this process", line, complete)
	}
	want := registry.Entry{Name: "one", Dir: dir, Project: project, ID: "01JD0000000000000000000000", PID: line[0].PID}
	look := func(line []process.ID, dirs ...string) string {
		t.Helper()
		loop, found, err := RunnerAmong(home, line, dirs...)
		if err != nil || found != (loop.Name != "") {
			t.Fatal(loop, found, err)
		}
		return loop.Name
	}
	below := slices.Concat([]process.ID{{PID: 1 << 30, Start: 1}}, line)
	if name := look(below); name != "" {
		t.Errorf("without an entry it found %q", name)
	}
	if name := look(below, dir); name != "one" {
		t.Errorf("by its folder it found %q", name)
	}
	if err := registry.Put(home, want); err != nil {
		t.Fatal(err)
	}
	if loop, _, err := RunnerAmong(home, below, dir); err != nil || loop.ID != want.ID {
		t.Errorf("%+v, %v: want the entry", loop, err)
	}
	other := slices.Clone(below)
	other[1].Start++ // another process, which has got the pid
	if name := look(other); name != "" {
		t.Errorf("a process that began at another time is taken for the runner of %q", name)
	}
	if name := look(line[1:]); name != "" {
		t.Errorf("a parent of the runner is taken for an agent of %q", name)
	}
	holder.end()
	holder.said()
	if name := look(below, dir); name != "" {
		t.Errorf("after its end it found %q", name)
	}
}
