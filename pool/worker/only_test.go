package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/projector"
)

// end writes what a mirror writes of a loop that has ended.
func (w *world) end(sp *spec.Spec, status event.Status, code int) {
	w.t.Helper()
	view := &projector.View{}
	view.ID, view.Status, view.State, view.ExitCode = sp.ID, status, string(status), &code
	cell := live.Cell{Key: keys.View(sp.ID)}
	if err := cell.Put(w.t.Context(), w.store, 1, live.View{Version: 1, Loop: sp.ID, Epoch: 1, Host: "old", View: view}); err != nil {
		w.t.Error(err)
	}
}

func TestOnlyOneLoopIsClaimed(t *testing.T) {
	w := newWorld(t, "")
	other, only := w.submit("other", nil), w.submit("only", nil)
	o := w.options(w.host("mill"), "mill")
	o.Once, o.Only = false, only.ID
	o.Say = func(format string, args ...any) {
		if strings.HasSuffix(fmt.Sprintf(format, args...), ": completed") {
			w.end(only, event.StatusCompleted, 0)
		}
	}
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held, err := queue.Hold(t.Context(), w.store, other.ID); err != nil || held.Epoch != 0 {
		t.Errorf("the other loop: %+v, %v", held, err)
	}
	if held, err := queue.Hold(t.Context(), w.store, only.ID); err != nil || held.Host != "mill" {
		t.Errorf("the loop: %+v, %v", held, err)
	}
}

// A pod that replaces a lost one ends with the code of a loop that has ended meanwhile.
func TestEndElsewhereIsReported(t *testing.T) {
	w := newWorld(t, "")
	stopped, refused := w.submit("stopped", nil), w.submit("refused", func(s *spec.Spec) { s.Inside = "elsewhere" })
	w.begin(stopped, "old", event.StatusStopped)
	w.end(stopped, event.StatusStopped, event.ExitPerson)
	for sp, want := range map[*spec.Spec]int{stopped: event.ExitPerson, refused: 75} {
		o := w.options(w.host("mill"), "mill")
		o.Once, o.Only = false, sp.ID
		err := worker.Again(sp.ID, worker.New(o).Run(t.Context()))
		if ended, known := errors.AsType[*worker.Ended](err); !known || ended.ExitCode() != want {
			t.Errorf("%s: %v, want code %d", sp.Name, err, want)
		}
	}
	if err := worker.Again("L", errors.New("no store")); err.Error() != "loop L: no store; 'ralph pool list' shows it" {
		t.Error(err)
	}
}
