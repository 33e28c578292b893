//go:build linux || darwin

package process

import (
	"os"
	"slices"
	"testing"
)

func TestLineageEndsAtFirstProcess(t *testing.T) {
	line, complete := Lineage(os.Getpid())
	if !complete || len(line) < 2 || line[0].PID != os.Getpid() || line[1].PID != os.Getppid() {
		t.Fatalf("%v, %v", line, complete)
	}
	if !slices.IsSortedFunc(line, func(a, b ID) int { return int(b.Start) - int(a.Start) }) {
		t.Errorf("%v: a parent began after its child", line)
	}
	if line, complete := Lineage(1 << 30); complete || len(line) > 0 {
		t.Errorf("a pid that no process has: %v, %v", line, complete)
	}
}
