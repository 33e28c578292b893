package worker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/projector"
)

// A worker asks about some hosts at a time, and finds the one that is dead among many.
func TestManyHostsCostFewCalls(t *testing.T) {
	w := newWorld(t, "")
	begun := w.submit("begun", nil)
	w.begin(begun, "old", event.StatusRunning)
	w.begin(w.submit("ended", nil), "old", event.StatusStopped)
	c := &clock{time.Now()}
	counting := &pooltest.Counting{Store: w.store}
	var taken []string
	o := w.options(w.host("mill"), "mill")
	o.Store, o.Now = counting, func() time.Time { return c.now }
	o.Take = func(_ context.Context, id, _ string) error {
		taken = append(taken, id)
		w.mirroredOn(id, "mill")
		return nil
	}
	one := worker.New(o)
	const hosts = 60
	var cells [hosts]live.Cell
	beat := func(cell *live.Cell, host string) {
		cell.Key = keys.Beat(host)
		if err := cell.Put(t.Context(), w.store, 0, live.Beat{Version: 1, Host: host, At: c.now}); err != nil {
			t.Fatal(err)
		}
	}
	for range 12 {
		for i := range cells {
			beat(&cells[i], fmt.Sprint("host-", i))
		}
		w.beat("mill")
		reads, lists := counting.Gets.Load(), counting.Lists.Load()
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Reads: 20 beats and its own, the one that is late, who drains, the cursor, and once what
		// is read of two loops. Lists: hosts, schedules, the queue, and the dead host's loops.
		if reads, lists = counting.Gets.Load()-reads, counting.Lists.Load()-lists; reads > 35 || lists > 4 {
			t.Errorf("a round has %d reads and %d lists", reads, lists)
		}
		c.now = c.now.Add(time.Minute + time.Second)
	}
	one.Wait()
	if !slices.Equal(taken, []string{begun.ID}) {
		t.Errorf("%v were taken over, want %s", taken, begun.ID)
	}
}

// mirroredOn says that another host has a loop now.
func (w *world) mirroredOn(id, host string) {
	w.t.Helper()
	v, err := live.ReadView(w.t.Context(), w.store, id)
	if err == nil {
		v.Host, v.Epoch = host, 2
		cell := live.Cell{Key: keys.View(id)}
		err = cell.Put(w.t.Context(), w.store, 2, v)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A loop that a host has claimed, and not begun, is found after the cursor of the queue.
func TestUnbegunLoopBehindCursor(t *testing.T) {
	w := newWorld(t, "")
	old := &queue.Reader{Store: w.store, Host: "old"}
	for i := range queue.Batch {
		w.submit(fmt.Sprint("task-", i), func(s *spec.Spec) {
			if i > 0 {
				s.Labels = []string{"gpu"}
			}
		})
	}
	for range 2 { // the second time, it moves the cursor
		waiting, err := old.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range waiting {
			if _, err := queue.NewClaim(item.ID, "old", item.Text).Try(t.Context(), w.store); err != nil {
				t.Fatal(err)
			}
			old.Claimed(item.ID, "old")
		}
	}
	w.beat("old")
	c := &clock{time.Now()}
	one := w.worker("mill", c, nil)
	for range 2 {
		w.beat("mill")
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(worker.StaleAfter + time.Second)
	}
	one.Wait()
	if ran := w.ran(); len(ran) != 1 || ran[w.ids["task-0"]] != 1 {
		t.Errorf("%v ran, want %s", ran, w.ids["task-0"])
	}
}

// A host that took a loop over, and died before it wrote a view, has the loop all the same.
func TestDeadTakerWithoutView(t *testing.T) {
	w := newWorld(t, "")
	sp := w.submit("one", nil)
	w.begin(sp, "kiln", event.StatusRunning)
	before, err := w.store.Get(t.Context(), keys.Chunk(sp.ID, 1))
	if err != nil {
		t.Fatal(err)
	}
	value, err := chunk.Encode(chunk.Header{Version: 1, Loop: sp.ID, Number: 2, Epoch: 2, Host: "old", Prev: chunk.Hash(before.Value), Nonce: "m"}, nil)
	if err == nil {
		_, err = w.store.PutIfAbsent(t.Context(), keys.Chunk(sp.ID, 2), value)
	}
	if err := errors.Join(err, live.NoteLoop(t.Context(), w.store, "old", sp.ID)); err != nil {
		t.Fatal(err)
	}
	w.beat("old")
	c := &clock{time.Now()}
	var taken []string
	one := w.worker("mill", c, func(_ context.Context, id, into string) error {
		taken = append(taken, id+" "+filepath.Base(into))
		return nil
	})
	for range 2 {
		w.beat("mill")
		w.beat("kiln")
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(worker.StaleAfter + time.Second)
	}
	one.Wait()
	if want := []string{sp.ID + " after-epoch-2"}; !slices.Equal(taken, want) {
		t.Errorf("%v were taken over, want %v", taken, want)
	}
}

// What a host could not begin, and tries no more, begins on no other host once that one is silent.
func TestGivenUpStaysGivenUp(t *testing.T) {
	w := newWorld(t, "")
	sp := w.submit("one", nil)
	text, _ := spec.Encode(*sp)
	if _, err := queue.NewClaim(sp.ID, "old", text).Try(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	cell := live.Cell{Key: keys.View(sp.ID)}
	err := cell.Put(t.Context(), w.store, 1, live.View{Version: 1, Loop: sp.ID, Epoch: 1, Host: "old", View: &projector.View{}, GivenUp: true})
	if err := errors.Join(err, live.NoteLoop(t.Context(), w.store, "old", sp.ID)); err != nil {
		t.Fatal(err)
	}
	w.beat("old")
	c := &clock{time.Now()}
	one := w.worker("mill", c, nil)
	for range 2 {
		w.beat("mill")
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(worker.StaleAfter + time.Second)
	}
	one.Wait()
	if ran := w.ran(); len(ran) > 0 {
		t.Errorf("%v ran", ran)
	}
}
