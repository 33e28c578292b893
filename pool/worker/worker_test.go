package worker_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/ralph-loop/ralph/registry"
)

// runUntil runs workers until so many loops have completed.
func (w *world) runUntil(completed int, slots int, names ...string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var done atomic.Int64
	var group sync.WaitGroup
	hosts := map[string]*pooltest.Host{}
	for _, name := range names {
		hosts[name] = w.host(name)
	}
	for name, h := range hosts {
		o := w.options(h, name)
		o.Slots, o.Once = slots, false
		o.Say = func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			w.t.Log(name + ": " + text)
			if strings.HasSuffix(text, ": completed") && done.Add(1) == int64(completed) {
				cancel()
			}
		}
		group.Go(func() {
			if err := worker.New(o).Run(ctx); err != nil {
				w.t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestTwoWorkersRunEachOnce(t *testing.T) {
	w := newWorld(t, "")
	for i := range 20 {
		w.submit(fmt.Sprint("task-", i), nil)
	}
	w.runUntil(20, 2, "mill", "kiln")
	w.eachOnce()
}

// A worker that is killed before or after any write to its store is followed by one that goes on.
func TestKilledWorkerGoesOn(t *testing.T) {
	w := newWorld(t, "")
	for kill := 1; ; kill++ {
		w.newStore()
		h := w.host("mill")
		w.submit(fmt.Sprint("task-", kill), func(s *spec.Spec) { s.Account, s.Budget = "team", 1 })
		process, out := w.process(h, "mill", 1, kill, true)
		err := process.Wait()
		if err != nil && err.Error() != "signal: killed" {
			t.Fatalf("kill %d: %v\n%s", kill, err, out)
		}
		if err == nil {
			t.Logf("a loop takes %d writes", kill/2)
			break
		}
		if err := worker.New(w.options(h, "mill")).Run(t.Context()); err != nil {
			t.Errorf("kill %d: %v", kill, err)
		}
		a, err := queue.ReadAccount(t.Context(), w.store, "team")
		if err != nil || len(a.Reserved) != 0 || len(a.Settled) != 1 {
			t.Errorf("kill %d: %+v, %v", kill, a, err)
		}
	}
	w.eachOnce()
}

func TestWorkerEndsAndLoopsLive(t *testing.T) {
	w := newWorld(t, "run while ! test -e "+filepath.Join(t.TempDir(), "go")+"; do sleep 0.1; done\n")
	h := w.host("mill")
	sp := w.submit("long", nil)
	ctx, cancel := context.WithCancel(t.Context())
	o := w.options(h, "mill")
	o.Say = func(format string, args ...any) {
		if strings.Contains(format, "runs in") {
			cancel() // SIGTERM
		}
	}
	if err := worker.New(o).Run(ctx); err != nil {
		t.Fatal(err)
	}
	view := h.Run(h.Dir, "ralph", "list", "--all", "--json")
	if !strings.Contains(view, `"status":"running"`) {
		t.Fatalf("the loop does not run: %s", view)
	}
	text, err := os.ReadFile(filepath.Join(h.Home, "pool", "loops", sp.ID, "work", ".ralph", "long", "pool.json"))
	if err != nil || !strings.Contains(string(text), `{"epoch":1,"host":"mill","loop":"`+sp.ID+`"}`) {
		t.Errorf("%s, %v", text, err)
	}
	branch := h.Run(filepath.Join(h.Home, "pool", "loops", sp.ID, "work"), "git", "branch", "--show-current")
	if branch != "ralph/long/e1" {
		t.Errorf("it works on branch %s", branch)
	}
	scenario, err := os.ReadFile(filepath.Join(h.Home, "pool", "loops", sp.ID, "work", "work.rehearsal"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(scenario), "test -e ")
	file, _, _ := strings.Cut(after, ";")
	h.Write(file, "")
	w.submit("other", nil)
	o = w.options(h, "mill")
	o.Drain = true // waits for the loop, and claims nothing
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.ran(); len(got) != 1 || got[sp.ID] != 1 {
		t.Errorf("%v ran", got)
	}
}

func TestSecondWorkerIsRefused(t *testing.T) {
	w := newWorld(t, "")
	h := w.host("mill")
	o := w.options(h, "mill")
	var second error
	o.Say = func(format string, args ...any) {
		if strings.HasSuffix(format, "claimed") {
			second = worker.New(w.options(h, "mill")).Run(t.Context())
		}
	}
	w.submit("one", nil)
	if err := worker.New(o).Run(t.Context()); err != nil || second == nil || !strings.Contains(second.Error(), "another worker runs here") {
		t.Errorf("%v, %v", err, second)
	}
	w.eachOnce()
}

// complete says in the store that a loop has completed, as its mirror does.
func (w *world) complete(id string) {
	w.t.Helper()
	first, err := w.store.Get(w.t.Context(), keys.Chunk(id, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	h, _, err := chunk.Decode(first.Value)
	if err != nil {
		w.t.Fatal(err)
	}
	h.Number, h.First, h.Last, h.Prev = 1, 1, 1, chunk.Hash(first.Value)
	value, err := chunk.Encode(h, []byte(`{"type":"loop.ended","data":{"status":"completed"}}`+"\n"))
	if err == nil {
		_, err = w.store.PutIfAbsent(w.t.Context(), keys.Chunk(id, 1), value)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	view := &projector.View{}
	view.Status = event.StatusCompleted
	cell := live.Cell{Key: keys.View(id)}
	if err := cell.Put(w.t.Context(), w.store, 9, live.View{Version: 1, Loop: id, Epoch: 9, View: view}); err != nil {
		w.t.Fatal(err)
	}
}

func TestWaitingSpecificationsSayWhy(t *testing.T) {
	w := newWorld(t, "")
	limit := 5.0
	if err := queue.Limit(t.Context(), w.store, "team", &limit); err != nil {
		t.Fatal(err)
	}
	first := w.submit("first", nil)
	waiting := map[string]string{}
	for why, change := range map[string]func(*spec.Spec){
		"waits for a worker with the labels gpu, mac": func(s *spec.Spec) { s.Labels = []string{"gpu", "mac"} },
		"waits for " + first.ID + " to be completed":  func(s *spec.Spec) { s.Needs = []string{first.ID} },
		"has $5.00 of its $5.00 left":                 func(s *spec.Spec) { s.Account, s.Budget = "team", 6 },
	} {
		waiting[w.submit(fmt.Sprint("task-", len(waiting)), change).ID] = why
	}
	mine := w.key
	w.key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // another person
	waiting[w.submit("foreign", nil).ID] = "waits for trust by host mill: 'ralph pool trust "
	w.key = mine
	o := w.options(w.host("mill"), "mill")
	o.Labels = []string{"gpu"}
	one := worker.New(o)
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.Wait()
	for id, why := range waiting {
		if got := one.Refused()[id]; !strings.Contains(got, why) {
			t.Errorf("%q, want %q", got, why)
		}
	}
	reports, err := worker.Reports(t.Context(), w.store)
	if err != nil || len(reports) != 1 || len(reports[0].Refused) != len(waiting) {
		t.Errorf("%+v, %v", reports, err)
	}
	if got := w.ran(); len(got) != 1 || got[first.ID] != 1 {
		t.Fatalf("%v ran", got)
	}
	// What they waited for comes.
	w.complete(first.ID)
	limit = 8
	if err := queue.Limit(t.Context(), w.store, "team", &limit); err != nil {
		t.Fatal(err)
	}
	o.Labels = []string{"mac", "gpu"}
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.ran(); len(got) != 4 {
		t.Errorf("%v ran", got)
	}
	a, err := queue.ReadAccount(t.Context(), w.store, "team")
	if err != nil || len(a.Reserved) != 0 || len(a.Settled) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSlotsTakeHighestPriorities(t *testing.T) {
	w := newWorld(t, "")
	var want []string
	for _, priority := range []int{1, 9, 5} {
		sp := w.submit(fmt.Sprint("task-", priority), func(s *spec.Spec) { s.Priority = priority })
		if priority > 1 {
			want = append(want, sp.ID)
		}
	}
	o := w.options(w.host("mill"), "mill")
	o.Slots = 2
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.ran()
	if len(got) != 2 || got[want[0]] != 1 || got[want[1]] != 1 {
		t.Errorf("%v ran, want %v", got, want)
	}
}

// A host without the agent leaves what needs it in the queue, and says so once.
func TestAbsentAgentLeavesQueueAlone(t *testing.T) {
	w := newWorld(t, "")
	if path, err := exec.LookPath("kimi"); err == nil {
		t.Fatalf("the test needs a known agent that is not here, and there is %s", path)
	}
	h := w.host("mill")
	absent := []*spec.Spec{
		w.submit("one", func(s *spec.Spec) { s.Start = []string{"--agent=kimi --yolo"} }),
		w.submit("two", func(s *spec.Spec) { s.Start = []string{"--agent", "kimi"} }),
	}
	there := w.submit("three", nil)
	var said []string
	o := w.options(h, "mill")
	o.Say = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if got := w.ran(); len(got) != 1 || got[there.ID] != 1 {
		t.Errorf("%v ran", got)
	}
	reports, err := worker.Reports(t.Context(), w.store)
	if err != nil || len(reports) != 1 {
		t.Fatalf("%+v, %v", reports, err)
	}
	for _, sp := range absent {
		if held, err := queue.Hold(t.Context(), w.store, sp.ID); err != nil || held.Epoch != 0 {
			t.Errorf("%s: %+v, %v", sp.Name, held, err)
		}
		if why := reports[0].Refused[sp.ID]; !strings.HasPrefix(why, "host mill has no program kimi: install it there") {
			t.Errorf("%s: %q", sp.Name, why)
		}
	}
	if n := strings.Count(strings.Join(said, "\n"), "no program kimi"); n != 1 {
		t.Errorf("it was said %d times: %q", n, said)
	}
	// The person's own settings may say what it is.
	h.Write(filepath.Join(h.Home, "settings.json"), `{"agents":{"kimi":{"command":"ralph rehearse work.rehearsal","protocol":"rehearsal"}}}`)
	if err := worker.New(w.options(h, "mill")).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if got := w.ran(); got[absent[1].ID] != 1 {
		t.Errorf("%v ran", got)
	}
}

// What a host was refused to begin, it does not claim again.
func TestRefusedKindStaysQueued(t *testing.T) {
	w := newWorld(t, "")
	var all []*spec.Spec
	for i := range 4 {
		all = append(all, w.submit(fmt.Sprint("task-", i), func(s *spec.Spec) { s.Start = []string{"--set", "nonsense.x=1"} }))
	}
	c := &clock{time.Now()}
	o := w.options(w.host("mill"), "mill")
	o.Now, o.Slots = func() time.Time { return c.now }, 1
	one := worker.New(o)
	for range 4 {
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		one.Wait()
		c.now = c.now.Add(time.Minute)
	}
	for i, sp := range all {
		held, err := queue.Hold(t.Context(), w.store, sp.ID)
		if err != nil || (held.Epoch == 1) != (i == 0) {
			t.Errorf("%s: %+v, %v", sp.Name, held, err)
		}
		if why := one.Refused()[sp.ID]; i > 0 && !strings.Contains(why, "host mill could not begin task-0, of the same repository and options") {
			t.Errorf("%s: %q", sp.Name, why)
		}
	}
	// What was wrong may have been mended: an hour later, it tries one.
	c.now = c.now.Add(time.Hour)
	w.beat("mill")
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.Wait()
	if held, err := queue.Hold(t.Context(), w.store, all[1].ID); err != nil || held.Epoch != 1 {
		t.Errorf("an hour later: %+v, %v", held, err)
	}
}

// A clock is one that a test moves.
type clock struct{ now time.Time }

func (w *world) worker(name string, c *clock, take func(context.Context, string, string) error) *worker.Worker {
	o := w.options(w.host(name), name)
	o.Now, o.Take = func() time.Time { return c.now }, take
	return worker.New(o)
}

func TestNothingIsClaimedWithoutMirror(t *testing.T) {
	w := newWorld(t, "")
	c := &clock{time.Now()}
	one := w.worker("mill", c, nil)
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	sp := w.submit("one", nil)
	c.now = c.now.Add(worker.StaleAfter + time.Second)
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held, err := queue.Hold(t.Context(), w.store, sp.ID); err != nil || held.Epoch != 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	w.beat("mill")
	c.now = c.now.Add(time.Minute)
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.Wait()
	w.eachOnce()
}

func TestUnbegunLoopOfDeadHost(t *testing.T) {
	w := newWorld(t, "")
	sp := w.submit("one", nil)
	text, _ := spec.Encode(*sp)
	if _, err := queue.NewClaim(sp.ID, "old", text).Try(t.Context(), w.store); err != nil {
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
	w.eachOnce()
	held, err := queue.Hold(t.Context(), w.store, sp.ID)
	if err != nil || held.Host != "mill" || held.Epoch != 2 {
		t.Errorf("%+v, %v", held, err)
	}
}

// begin lets a host seal the first event of a loop, and then be silent.
func (w *world) begin(sp *spec.Spec, host string, status event.Status) {
	w.t.Helper()
	text, _ := spec.Encode(*sp)
	if _, err := queue.NewClaim(sp.ID, host, text).Try(w.t.Context(), w.store); err != nil {
		w.t.Fatal(err)
	}
	first, err := w.store.Get(w.t.Context(), keys.Chunk(sp.ID, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	w.mirrored(sp.ID, 1, chunk.Hash(first.Value), host, status)
}

// mirrored stores the first events of a loop as chunk n, and its view.
func (w *world) mirrored(loop string, n uint64, prev, host string, status event.Status) {
	w.t.Helper()
	value, err := chunk.Encode(chunk.Header{
		Version: 1, Loop: loop, Number: n, Epoch: 1, Host: host, First: 1, Last: 1, Prev: prev, Nonce: "n",
	}, []byte("{}\n"))
	if err == nil {
		_, err = w.store.PutIfAbsent(w.t.Context(), keys.Chunk(loop, n), value)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	view := &projector.View{}
	view.Status = status
	cell := live.Cell{Key: keys.View(loop)}
	err = cell.Put(w.t.Context(), w.store, 1, live.View{Version: 1, Loop: loop, Epoch: 1, Host: host, View: view})
	if err := errors.Join(err, live.NoteLoop(w.t.Context(), w.store, host, loop)); err != nil {
		w.t.Fatal(err)
	}
	w.beat(host)
}

func TestLoopsOfDeadHosts(t *testing.T) {
	w := newWorld(t, "")
	running := w.submit("running", nil)
	w.begin(running, "old", event.StatusRunning)
	w.begin(w.submit("ended", nil), "old", event.StatusStopped)
	w.begin(w.submit("labelled", func(s *spec.Spec) { s.Labels = []string{"gpu"} }), "old", event.StatusRunning)
	w.begin(w.submit("drained", nil), "drained", event.StatusRunning)
	w.mirrored("01M8FX3Q89BE9NNZY1Y89SJT8F", 0, "", "old", event.StatusRunning) // no key says what it may run
	if err := worker.SetDraining(t.Context(), w.store, "drained", "ada", true); err != nil {
		t.Fatal(err)
	}
	var taken []string
	c := &clock{time.Now()}
	one := w.worker("mill", c, func(_ context.Context, id, into string) error {
		taken = append(taken, id)
		if filepath.Base(into) != "after-epoch-1" {
			t.Errorf("into %s", into)
		}
		return nil
	})
	for range 2 {
		w.beat("mill")
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(worker.StaleAfter + time.Second)
	}
	one.Wait()
	if !slices.Equal(taken, []string{running.ID}) {
		t.Errorf("%v were taken over, want %s", taken, running.ID)
	}
}

func TestDrainedHostClaimsNothing(t *testing.T) {
	w := newWorld(t, "")
	sp := w.submit("one", nil)
	c := &clock{time.Now()}
	one := w.worker("mill", c, nil)
	for _, on := range []bool{true, false} {
		if err := worker.SetDraining(t.Context(), w.store, "mill", "ada", on); err != nil {
			t.Fatal(err)
		}
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		one.Wait()
		if held, err := queue.Hold(t.Context(), w.store, sp.ID); err != nil || held.Epoch == 0 != on {
			t.Errorf("draining %t: %+v, %v", on, held, err)
		}
		c.now = c.now.Add(time.Minute)
	}
	w.eachOnce()
}

// TestRunnerDiedBeforeItsJournal lets a runner die when the registry has its loop.
func TestRunnerDiedBeforeItsJournal(t *testing.T) {
	w := newWorld(t, "")
	h := w.host("mill")
	sp := w.submit("one", nil)
	work := filepath.Join(h.Home, "pool", "loops", sp.ID, "work")
	h.Run(h.Dir, "git", "clone", "-q", w.repository, work)
	folder := filepath.Join(work, ".ralph", "one")
	h.Write(filepath.Join(folder, "run.lock"), "")
	if err := registry.Put(h.Home, registry.Entry{Name: "one", Dir: folder, Project: work, ID: sp.ID, PID: 1, Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := worker.New(w.options(h, "mill")).Run(t.Context()); err != nil {
		t.Error(err)
	}
	w.eachOnce()
}

func TestDyingRunnersAreGivenUp(t *testing.T) {
	w := worker.New(worker.Options{})
	begun := time.Now()
	for n := range 10 {
		if err := w.Rest(t.Context(), "one", time.Millisecond); err != nil {
			t.Fatalf("runner %d: %v", n, err)
		}
	}
	if time.Since(begun) < 200*time.Millisecond {
		t.Errorf("10 runners in %v", time.Since(begun))
	}
	if err := w.Rest(t.Context(), "one", time.Millisecond); err == nil || !strings.Contains(err.Error(), "10 runners have died") {
		t.Error(err)
	}
	if err := w.Rest(t.Context(), "two", time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestRefusedStartIsGivenUp(t *testing.T) {
	w := newWorld(t, "")
	o := w.options(w.host("mill"), "mill")
	w.submit("folder", func(s *spec.Spec) { s.Inside = "elsewhere" })
	w.submit("branch", func(s *spec.Spec) { s.Branch = "elsewhere" })
	bad := w.submit("bad", func(s *spec.Spec) { s.Start = []string{"--agent=ralph rehearse none", "--set=limits.idle=never ever"} })
	account := w.submit("setting", func(s *spec.Spec) {
		s.Start, s.Account, s.Budget = []string{"--set", "nonsense.x=1"}, "team", 2
	})
	if err := worker.New(o).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "did not run") {
		t.Errorf("%v", err)
	}
	v, err := w.store.Get(t.Context(), keys.View(bad.ID))
	if err != nil || !strings.Contains(string(v.Value), "given up") || !strings.Contains(string(v.Value), `"givenUp":true`) {
		t.Errorf("%s, %v", v.Value, err)
	}
	a, err := queue.ReadAccount(t.Context(), w.store, "team")
	if err != nil || len(a.Reserved) != 0 || a.Spent != 0 || !slices.Equal(a.Settled, []string{account.ID}) {
		t.Errorf("%+v, %v", a, err)
	}
	if got := w.ran(); len(got) != 0 {
		t.Errorf("%v ran", got)
	}
}
