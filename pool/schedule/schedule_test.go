package schedule_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/schedule"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/projector"
)

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// hourly has the times that 'ralph every next' prints for that word.
func hourly(_ context.Context, _ spec.Every, after, until time.Time, n int) (all []time.Time, _ error) {
	for at := after.Truncate(time.Hour).Add(time.Hour); len(all) < n && (until.IsZero() || !at.After(until)); at = at.Add(time.Hour) {
		all = append(all, at)
	}
	return all, nil
}

func firer() *schedule.Firer { return &schedule.Firer{Times: hourly} }

// pool has one schedule, and returns when it was made.
func pool(t *testing.T, overlap string) (store.Store, time.Time) {
	t.Helper()
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	sp := spec.Spec{Repository: "/srv/app", Prompt: "do it", By: "ada@mill"}
	every := spec.Every{Schedule: "deps", Expression: "hourly", Zone: "UTC", Overlap: overlap}
	if err := schedule.Make(t.Context(), s, sp, every, key); err != nil {
		t.Fatal(err)
	}
	return s, only(t, s).Spec.Every.Made
}

func only(t *testing.T, s store.Store) schedule.Schedule {
	t.Helper()
	all, err := schedule.List(t.Context(), s)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0]
}

func fire(t *testing.T, s store.Store, now time.Time) []schedule.Run {
	t.Helper()
	if err := firer().Fire(t.Context(), s, now); err != nil {
		t.Fatal(err)
	}
	return only(t, s).Runs
}

func queued(t *testing.T, s store.Store) []*queue.Item {
	t.Helper()
	waiting, err := (&queue.Reader{Store: s}).Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range waiting {
		if item.Wrong != nil || item.Spec.Verify() != nil {
			t.Errorf("%s is in the queue: %v, %v", item.Spec.Name, item.Wrong, item.Spec.Verify())
		}
	}
	return waiting
}

func claim(t *testing.T, s store.Store, id string) {
	t.Helper()
	if _, err := queue.NewClaim(id, "mill", []byte("{}")).Try(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, s store.Store, id string) {
	t.Helper()
	v := &projector.View{}
	v.ID, v.Status = id, event.StatusCompleted
	cell := live.Cell{Key: keys.View(id)}
	if err := cell.Put(t.Context(), s, 1, live.View{Version: 1, Loop: id, Epoch: 1, Host: "mill", View: v}); err != nil {
		t.Fatal(err)
	}
}

// TestOneHostFires lets many hosts look at the same time, after the pool was off for hours.
func TestOneHostFires(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	if runs := fire(t, s, made); len(runs) != 0 {
		t.Fatalf("before its time: %+v", runs)
	}
	now := made.Truncate(time.Hour).Add(3*time.Hour + time.Minute)
	var hosts sync.WaitGroup
	for range 8 {
		hosts.Go(func() {
			if err := firer().Fire(t.Context(), s, now); err != nil {
				t.Error(err)
			}
		})
	}
	hosts.Wait()
	runs, waiting := only(t, s).Runs, queued(t, s)
	if len(runs) != 1 || runs[0].Outcome != schedule.Submitted || runs[0].Missed != 2 || !runs[0].Due.Equal(now.Truncate(time.Hour)) {
		t.Errorf("the runs are %+v", runs)
	}
	if len(waiting) != 1 || waiting[0].ID != runs[0].ID || !strings.HasPrefix(waiting[0].Spec.Name, "deps-20") {
		t.Errorf("the queue has %+v", waiting)
	}
}

// TestLongAbsenceFiresOnce lets more times pass than are counted.
func TestLongAbsenceFiresOnce(t *testing.T) {
	s, made := pool(t, schedule.Queue)
	now := made.Truncate(time.Hour).Add(25_000*time.Hour + time.Minute)
	for range 3 {
		runs := fire(t, s, now)
		if len(runs) != 1 || runs[0].Outcome != schedule.Submitted || !runs[0].Uncounted() || !runs[0].Due.Equal(now.Truncate(time.Hour)) {
			t.Errorf("the runs are %+v", runs)
		}
	}
	if waiting := queued(t, s); len(waiting) != 1 {
		t.Errorf("the queue has %+v", waiting)
	}
}

// TestDamagedScheduleHidesNoOther lists, fires and removes.
func TestDamagedScheduleHidesNoOther(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	for name, text := range map[string]string{"bad": "{", "new": `{"v":9,"spec":{}}`} {
		if _, err := s.PutIfAbsent(t.Context(), keys.Schedule(name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := schedule.List(t.Context(), s)
	if err != nil || len(all) != 3 || all[0].Damaged == nil || all[1].Damaged != nil || all[2].Damaged == nil || all[2].Name() != "new" {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := firer().Fire(t.Context(), s, made.Add(2*time.Hour)); err == nil || !strings.Contains(err.Error(), "schedule bad") {
		t.Error(err)
	}
	for _, name := range []string{"bad", "new"} {
		if err := schedule.Remove(t.Context(), s, name, "ada@mill"); err != nil {
			t.Error(err)
		}
	}
	if found := only(t, s); len(found.Runs) != 1 || found.Name() != "deps" {
		t.Errorf("%+v", found)
	}
}

// A lossy store answers the call of a number with an error, before or after it does it.
type lossy struct {
	store.Store
	calls, fails int
	after        bool
}

var errLost = errors.New("the answer is lost")

func (l *lossy) lost() bool { l.calls++; return l.calls == l.fails }

func (l *lossy) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	lost := l.lost()
	if lost && !l.after {
		return "", errLost
	}
	r, err := l.Store.PutIfAbsent(ctx, key, value)
	if lost {
		return "", errLost
	}
	return r, err
}

func (l *lossy) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	lost := l.lost()
	if lost && !l.after {
		return "", errLost
	}
	r, err := l.Store.CompareAndSwap(ctx, key, revision, value)
	if lost {
		return "", errLost
	}
	return r, err
}

// TestEachWriteMayFail loses the answer of each write, or the write, of the first host, and lets
// another one finish.
func TestEachWriteMayFail(t *testing.T) {
	for _, after := range []bool{false, true} {
		for fails := 1; ; fails++ {
			s, made := pool(t, schedule.Skip)
			now := made.Add(time.Hour)
			l := &lossy{Store: s, fails: fails, after: after}
			_ = firer().Fire(t.Context(), l, now) // the other host finds what is there
			runs, waiting := fire(t, s, now), queued(t, s)
			if len(runs) != 1 || runs[0].Outcome != schedule.Submitted || len(waiting) != 1 || waiting[0].ID != runs[0].ID {
				t.Errorf("write %d, after %v: %+v, and the queue has %d", fails, after, runs, len(waiting))
			}
			if l.calls < fails {
				if fails < 4 {
					t.Errorf("there were only %d writes", l.calls)
				}
				break
			}
		}
	}
}

// TestOverlapOverHosts follows each policy while the loop of the run before is claimed and ends.
func TestOverlapOverHosts(t *testing.T) {
	for overlap, while := range map[string]string{schedule.Skip: schedule.Skipped, schedule.Queue: schedule.Waiting, schedule.Replace: schedule.Waiting} {
		s, made := pool(t, overlap)
		first := fire(t, s, made.Add(time.Hour))[0].ID
		// None has claimed it: whatever the policy, one waits already.
		if runs := fire(t, s, made.Add(2*time.Hour)); len(runs) != 2 || runs[1].Outcome != schedule.Skipped || runs[1].Before != first {
			t.Errorf("%s while it is not claimed: %+v", overlap, runs)
		}
		claim(t, s, first)
		if runs := fire(t, s, made.Add(3*time.Hour)); len(runs) != 3 || runs[2].Outcome != while {
			t.Errorf("%s while it runs: %+v", overlap, runs)
		}
		commands := 0
		for key, err := range s.List(t.Context(), keys.Inbox(first), "") {
			if err != nil {
				t.Fatal(err)
			}
			commands++
			entry, err := s.Get(t.Context(), key)
			if c, wrong := command.Parse(entry.Value); errors.Join(err, wrong) != nil || c.Epoch != 0 {
				t.Errorf("a host that took the loop over refuses %+v: %v", c, errors.Join(err, wrong))
			}
		}
		if stops := overlap == schedule.Replace; commands > 0 != stops {
			t.Errorf("%s sends %d commands", overlap, commands)
		}
		if waiting := queued(t, s); len(waiting) != 1 || waiting[0].ID != first {
			t.Errorf("%s: the queue has %d", overlap, len(waiting))
		}
		end(t, s, first)
		runs := fire(t, s, made.Add(3*time.Hour))
		if overlap == schedule.Skip {
			runs = fire(t, s, made.Add(4*time.Hour))
		}
		if last := runs[len(runs)-1]; last.Outcome != schedule.Submitted || last.ID == first {
			t.Errorf("%s after its end: %+v", overlap, runs)
		}
	}
}

// TestRunAfterOneGivenUp shows that one run without a network is not the end of a schedule.
func TestRunAfterOneGivenUp(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	first := fire(t, s, made.Add(time.Hour))[0].ID
	claim(t, s, first)
	cell := live.Cell{Key: keys.View(first)}
	v := live.View{Version: 1, Loop: first, Epoch: 1, Host: "mill", View: &projector.View{}, GivenUp: true}
	if err := cell.Put(t.Context(), s, 1, v); err != nil {
		t.Fatal(err)
	}
	if runs := fire(t, s, made.Add(2*time.Hour)); len(runs) != 2 || runs[1].Outcome != schedule.Submitted {
		t.Errorf("%+v", runs)
	}
}

// TestRunIsSeenAfterCursor fires a time before which later specifications were claimed.
func TestRunIsSeenAfterCursor(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	if _, err := s.CompareAndSwap(t.Context(), keys.Cursor, "", []byte(`{"after":{"0":"7ZZZ0000000000000000000000"}}`)); err != nil {
		t.Fatal(err)
	}
	fire(t, s, made.Add(time.Hour))
	if waiting := queued(t, s); len(waiting) != 1 {
		t.Errorf("readers see %d", len(waiting))
	}
}

// TestForgedRunsAreRefused shows what a host that writes into the store cannot do with a signature.
func TestForgedRunsAreRefused(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	template := only(t, s).Spec
	due := made.Truncate(time.Hour).Add(time.Hour)
	good := template.Run(due)
	if why, err := firer().Judge(t.Context(), good, due); good.Verify() != nil || why != "" || err != nil {
		t.Fatalf("the run is refused: %v, %q, %v", good.Verify(), why, err)
	}
	for name, change := range map[string]func(sp *spec.Spec){
		"another prompt":     func(sp *spec.Spec) { sp.Prompt = "rm" },
		"another id":         func(sp *spec.Spec) { sp.ID = template.Run(due.Add(time.Hour)).ID },
		"another name":       func(sp *spec.Spec) { sp.Name = "deps" },
		"another expression": func(sp *spec.Spec) { every := *sp.Every; every.Expression = "*:*"; *sp = withEvery(*sp, every) },
		"no schedule":        func(sp *spec.Spec) { sp.Every = nil },
	} {
		sp := good
		if change(&sp); sp.Verify() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, at := range map[string]time.Time{"not due": due.Add(time.Minute), "in the future": due.Add(time.Hour), "before it was made": due.Add(-time.Hour)} {
		sp := template.Run(at)
		if why, err := firer().Judge(t.Context(), sp, due.Add(2*time.Minute)); sp.Verify() != nil || why == "" || err != nil {
			t.Errorf("a run %s: %v, %q, %v", name, sp.Verify(), why, err)
		}
	}
}

func withEvery(sp spec.Spec, every spec.Every) spec.Spec {
	sp.Every = &every
	return sp.Run(every.Due)
}

// TestRemovedScheduleFiresNothing also makes it again under its name.
func TestRemovedScheduleFiresNothing(t *testing.T) {
	s, made := pool(t, schedule.Skip)
	sp, every := spec.Spec{Repository: "/srv/app", Prompt: "do it"}, spec.Every{Schedule: "deps", Expression: "hourly", Zone: "UTC", Overlap: schedule.Skip}
	if err := schedule.Make(t.Context(), s, sp, every, key); err == nil {
		t.Error("there are two of one name")
	}
	if err := schedule.Remove(t.Context(), s, "deps", "bob@mill"); err != nil {
		t.Fatal(err)
	}
	if err := firer().Fire(t.Context(), s, made.Add(time.Hour)); err != nil || len(queued(t, s)) != 0 {
		t.Errorf("it fires: %v", err)
	}
	if err := schedule.Remove(t.Context(), s, "deps", "bob@mill"); err == nil {
		t.Error("it is removed twice")
	}
	if err := schedule.Make(t.Context(), s, sp, every, key); err != nil || len(only(t, s).Runs) != 0 {
		t.Errorf("it is not made again: %v", err)
	}
}
