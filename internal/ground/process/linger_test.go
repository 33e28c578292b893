//go:build linux || darwin

package process

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waiting is a FIFO that a process waits on, and the calls of Linger.
type waiting struct {
	fifo  string
	asked chan struct{}
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	w := &waiting{fifo: filepath.Join(t.TempDir(), "go"), asked: make(chan struct{}, 10)}
	if err := syscall.Mkfifo(w.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// patience answers Spec.Linger.
func (w *waiting) patience(d time.Duration) func() time.Duration {
	return func() time.Duration {
		w.asked <- struct{}{}
		return d
	}
}

func (w *waiting) await(t *testing.T) {
	t.Helper()
	select {
	case <-w.asked:
	case <-time.After(deadline):
		t.Fatal("Linger was not called")
	}
}

func (w *waiting) release(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(w.fifo, nil, 0o600); err != nil { // returns when the other side has it open
		t.Error(err)
	}
}

func TestStraysMayExitByThemselves(t *testing.T) {
	for name, spec := range map[string]func(fifo string) Spec{
		"in the agent's group": func(fifo string) Spec {
			return shell(`(read x <'` + fifo + `'; echo the end) & echo $!; exit 5`)
		},
		"in a session of its own": func(fifo string) Spec { return actor("daemon", "until", fifo) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaiting(t)
			s := spec(w.fifo)
			s.Linger = w.patience(time.Hour)
			a := start(t, s)
			child := a.pidLine()
			w.await(t)
			if !alive(child) {
				t.Fatal("it is gone before it was given its time")
			}
			w.release(t)
			exit := a.ended()
			if len(exit.Strays) > 0 || exit.Err != nil || len(w.asked) > 0 {
				t.Errorf("got %+v, asked %d times more", exit, len(w.asked))
			}
			if got := a.output(Stdout); !strings.HasSuffix(got, "the end|") {
				t.Errorf("what it printed in its time: %q", got)
			}
		})
	}
}

func TestStraysEndAfterWait(t *testing.T) {
	for name, row := range map[string]struct {
		manner string
		want   Ending
	}{
		"one that takes TERM":   {"", Terminated},
		"one that ignores TERM": {"stubborn", Killed},
	} {
		t.Run(name, func(t *testing.T) {
			spec := actor("daemon", row.manner)
			if row.want == Killed {
				spec.strayGrace = shortGrace
			}
			spec.Linger = func() time.Duration { return shortGrace }
			a := start(t, spec)
			daemon := a.pidLine()
			exit := a.ended()
			if alive(daemon) || len(exit.Strays) != 1 || endings(exit.Strays)[daemon] != row.want || exit.Code != 0 {
				t.Errorf("got %+v, daemon %d", exit, daemon)
			}
		})
	}
}

func TestNoWaitWithoutStrays(t *testing.T) {
	w := newWaiting(t)
	spec := shell("exit 0")
	spec.Linger = w.patience(time.Hour)
	if exit := start(t, spec).ended(); len(w.asked) > 0 || len(exit.Strays) > 0 {
		t.Errorf("asked %d times, %+v", len(w.asked), exit)
	}
}

func TestKillEndsStrayWait(t *testing.T) {
	for name, end := range map[string]func(*agent){
		"by Kill": func(a *agent) { a.Kill() },
		"by Terminate": func(a *agent) {
			if report := a.terminated(a.t.Context(), deadline); !report.Gone {
				a.t.Errorf("got %+v", report)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaiting(t)
			spec := actor("daemon", "until", w.fifo)
			spec.Linger = w.patience(time.Hour)
			a := start(t, spec)
			daemon := a.pidLine()
			w.await(t)
			end(a)
			// The agent itself had ended before: that stays how it ended.
			if exit := a.ended(); alive(daemon) || exit.Code != 0 || exit.Signal != "" {
				t.Errorf("got %+v, daemon %d", exit, daemon)
			}
		})
	}
}

func TestEndOthersWaitsForStrays(t *testing.T) {
	w := newWaiting(t)
	spec := actor("agent with daemon", "until", w.fifo)
	spec.Linger = w.patience(time.Hour)
	a := start(t, spec)
	daemon := a.pidLine()
	a.line()
	done := make(chan []Stray, 1)
	go func() {
		strays, err := a.EndOthers(t.Context(), deadline)
		if err != nil {
			t.Error(err)
		}
		done <- strays
	}()
	w.await(t)
	w.release(t)
	select {
	case strays := <-done:
		if len(strays) > 0 || alive(daemon) || !alive(a.PID()) {
			t.Errorf("strays %+v, daemon alive: %v, agent alive: %v", strays, alive(daemon), alive(a.PID()))
		}
	case <-time.After(deadline):
		t.Fatal("it is still waited for")
	}
	a.Kill()
	a.ended()
}

func TestKillEndsEndOthersWait(t *testing.T) {
	w := newWaiting(t)
	spec := actor("agent with daemon")
	spec.Linger = w.patience(time.Hour)
	a := start(t, spec)
	daemon := a.pidLine()
	a.line()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// whether it still found the daemon is a race with Kill
		_, _ = a.EndOthers(t.Context(), deadline)
	}()
	w.await(t)
	a.Kill()
	select {
	case <-done:
	case <-time.After(deadline):
		t.Fatal("it is still waited for")
	}
	a.ended()
	if alive(daemon) {
		t.Error("the daemon lives on")
	}
}
