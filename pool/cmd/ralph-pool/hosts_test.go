package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

func TestStatusNamesDrainingHosts(t *testing.T) {
	mill, folder := pooltest.NewHost(t), t.TempDir()
	mill.Join(folder, "mill")
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cell := live.Cell{Key: keys.Beat("mill")}
	if err := cell.Put(t.Context(), s, 0, live.Beat{Version: 1, Host: "mill", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if out := mill.Run(mill.Dir, "ralph-pool", "drain", "mil"); !strings.Contains(out, "host mil was never heard of") {
		t.Errorf("drain mil: %s", out)
	}
	for args, want := range map[string]bool{"mill": true, "mill --undo": false} {
		out := mill.Run(mill.Dir, "ralph-pool", append([]string{"drain"}, strings.Fields(args)...)...)
		if strings.Contains(out, "never heard of") {
			t.Errorf("drain %s: %s", args, out)
		}
		out = mill.Run(mill.Dir, "ralph-pool", "status")
		if strings.Contains(out, "drains") != want {
			t.Errorf("after drain %s: %s", args, out)
		}
	}
}

// An error is one line with what to do, and git's exit code is not that of the program.
func TestErrorsAreShort(t *testing.T) {
	mill := pooltest.NewHost(t)
	mill.Join(t.TempDir(), "mill")
	out, errs, code := run(t, mill.Home, "stpo", "x")
	if lines := strings.Count(out+errs, "\n"); code != 80 || lines > 5 || !strings.Contains(errs, "stpo") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	t.Chdir(mill.Dir)
	if _, errs, code := run(t, mill.Home, "submit", "-p", "x"); code != 1 || !strings.Contains(errs, "is in no git repository") {
		t.Errorf("%d, %s", code, errs)
	}
}
