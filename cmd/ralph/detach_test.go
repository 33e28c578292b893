//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestARunnerWithoutAJobEnds covers both ways to that: its starter finds that there is none, and
// its starter is gone.
func TestARunnerWithoutAJobEnds(t *testing.T) {
	for name, end := range map[string]func(*waiting){
		"dismissed": func(w *waiting) { w.dismiss() },
		"forgotten": func(w *waiting) {
			w.job.Close()
			w.process.reap()
			w.ready.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := beginRunner(&env{cwd: t.TempDir(), environ: os.Environ()}, "loop")
			if err != nil {
				t.Fatal(err)
			}
			end(w)
			if err := syscall.Kill(int(w.process), 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the runner is still there: %v", err)
			}
		})
	}
}

// A log that cannot be written is known before anything is begun.
func TestARunnerThatCannotSpeakRefuses(t *testing.T) {
	e := &env{cwd: t.TempDir(), environ: os.Environ()}
	w, err := beginRunner(e, "loop")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.hand(e, job{Name: "one", Dir: e.cwd + "/nowhere", Settings: "{}"})
	if f, ok := errors.AsType[*failure](err); !ok || f.code != 3 || f.Error() != "open runner.log: open "+e.cwd+"/nowhere/runner.log: no such file or directory" {
		t.Errorf("%v", err)
	}
}
