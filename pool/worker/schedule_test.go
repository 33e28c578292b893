package worker_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/schedule"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/worker"
)

// TestScheduleRunsOnWorker fires a schedule with the times of the real ralph, in a zone with half
// hours, and runs its loop.
func TestScheduleRunsOnWorker(t *testing.T) {
	w := newWorld(t, "")
	h := w.host("mill")
	sp := spec.Spec{
		Repository: w.repository, Branch: "main", Prompt: "do it", By: "ada@mill",
		Start: []string{"--agent", "ralph rehearse work.rehearsal", "--protocol=rehearsal"},
	}
	every := spec.Every{Schedule: "deps", Expression: "hourly", Zone: "Asia/Kolkata", Overlap: schedule.Queue}
	if err := schedule.Make(t.Context(), w.store, sp, every, w.key); err != nil {
		t.Fatal(err)
	}
	made := time.Now()
	o := w.options(h, "mill")
	o.Now = func() time.Time { return made.Add(3 * time.Hour) }
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := schedule.List(t.Context(), w.store)
	if err != nil || len(all) != 1 || len(all[0].Runs) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if r := all[0].Runs[0]; r.Missed != 2 || r.Due.Minute() != 30 || w.ran()[r.ID] != 1 {
		t.Errorf("the run is %+v, and %v ran", r, w.ran())
	}
}
