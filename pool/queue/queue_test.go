package queue_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

var seeds = flag.Uint64("claims", 5, "seeds with which hosts compete for claims")

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func task(name string, priority int) *spec.Spec {
	return &spec.Spec{Name: name, Repository: "/srv/app", Prompt: "do it", Priority: priority, By: "ada@mill"}
}

func submit(t *testing.T, s store.Store, sp *spec.Spec) *spec.Spec {
	t.Helper()
	if err := queue.Submit(t.Context(), s, sp, key); err != nil {
		t.Fatal(err)
	}
	return sp
}

func names(waiting []*queue.Item) (all []string) {
	for _, item := range waiting {
		all = append(all, item.Spec.Name)
	}
	return all
}

func TestHigherPrioritiesComeFirst(t *testing.T) {
	s := open(t)
	for _, sp := range []*spec.Spec{task("low", 0), task("high", 9), task("middle", 5)} {
		submit(t, s, sp)
	}
	waiting, err := (&queue.Reader{Store: s}).Waiting(t.Context())
	if err != nil || !slices.Equal(names(waiting), []string{"high", "middle", "low"}) {
		t.Errorf("%q, %v", names(waiting), err)
	}
}

func TestForeignEntriesAreNamed(t *testing.T) {
	s := open(t)
	sp := submit(t, s, task("one", 0))
	text, _ := spec.Encode(*sp)
	for id, value := range map[string][]byte{"01JD0000000000000000000001": []byte("{"), "01JD0000000000000000000002": text} {
		if _, err := s.PutIfAbsent(t.Context(), keys.Queued(0, id), value); err != nil {
			t.Fatal(err)
		}
	}
	waiting, err := (&queue.Reader{Store: s}).Waiting(t.Context())
	if err != nil || len(waiting) != 3 || waiting[0].Wrong == nil || waiting[1].Wrong == nil || waiting[2].Wrong != nil {
		t.Errorf("%+v, %v", waiting, err)
	}
}

// claimAll claims all that waits, and returns how many that were.
func claimAll(t *testing.T, s store.Store, r *queue.Reader) (claimed int) {
	t.Helper()
	waiting, err := r.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range waiting {
		c := queue.NewClaim(item.ID, "mill", item.Text)
		held, err := c.Try(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		r.Claimed(item.ID, held.By())
		if held.Mine(c) {
			claimed++
		}
	}
	return claimed
}

func TestCursorPassesClaimedEntries(t *testing.T) {
	s := open(t)
	r := &queue.Reader{Store: s}
	for i := range queue.Batch {
		submit(t, s, task(fmt.Sprint("task-", i), 0))
	}
	if n := claimAll(t, s, r); n != queue.Batch {
		t.Fatalf("%d were claimed", n)
	}
	if n := claimAll(t, s, r); n != 0 { // moves the cursor
		t.Fatalf("%d were claimed again", n)
	}
	fresh, err := (&queue.Reader{Store: s}).Waiting(t.Context())
	if err != nil || len(fresh) != 0 {
		t.Errorf("a new reader begins with %d claimed entries, %v", len(fresh), err)
	}
	if held, err := live.Loops(t.Context(), s, "mill"); err != nil || len(held) != queue.Batch {
		t.Errorf("behind the cursor, %d loops are found by their host, %v", len(held), err)
	}
	submit(t, s, task("last", 0))
	submit(t, s, task("first", 9))
	if n := claimAll(t, s, r); n != 2 {
		t.Errorf("of what was submitted later, %d were claimed", n)
	}
	if n, err := queue.CountWaiting(t.Context(), s); n != 0 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
	submit(t, s, task("waits", 5))
	if n, err := queue.CountWaiting(t.Context(), s); n != 1 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}

// A submitter whose clock is behind gets a later ID, and its loop runs once.
func TestSubmissionBehindCursor(t *testing.T) {
	s := open(t)
	future := "7ZZZ0000000000000000000000"
	text := `{"after":{"3":"` + future + `"}}`
	if _, err := s.CompareAndSwap(t.Context(), keys.Cursor, "", []byte(text)); err != nil {
		t.Fatal(err)
	}
	sp := submit(t, s, task("one", 3))
	if sp.ID <= future {
		t.Errorf("its id %s is not after the cursor", sp.ID)
	}
	waiting, err := (&queue.Reader{Store: s}).Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ID != sp.ID {
		t.Errorf("%q, %v", names(waiting), err)
	}
	withdrawn := 0
	for key, err := range s.List(t.Context(), keys.Queue, "") {
		if err != nil {
			t.Fatal(err)
		}
		held, err := queue.Hold(t.Context(), s, path.Base(key))
		if err != nil {
			t.Fatal(err)
		}
		if held.Withdrawn {
			withdrawn++
		}
	}
	if withdrawn != 1 {
		t.Errorf("%d of the entries are withdrawn, and there is one before the cursor", withdrawn)
	}
}

// slowStore submits something while a worker is between its listing and its write of the cursor.
type slowStore struct {
	store.Store
	before func()
}

func (s *slowStore) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	if f := s.before; f != nil && key == keys.Cursor {
		s.before = nil
		f()
	}
	return s.Store.CompareAndSwap(ctx, key, revision, value)
}

func TestSubmissionDuringCursorMove(t *testing.T) {
	s := &slowStore{Store: open(t)}
	r := &queue.Reader{Store: s}
	for i := range queue.Batch {
		submit(t, s, task(fmt.Sprint("task-", i), 0))
	}
	claimAll(t, s, r)
	late := task("late", 0)
	s.before = func() { submit(t, s, late) }
	claimAll(t, s, r)
	if n := claimAll(t, s, r); n != 1 {
		t.Errorf("%d were claimed, and one was submitted", n)
	}
}

func TestWithdrawnLoopHasNoHost(t *testing.T) {
	s := open(t)
	sp := submit(t, s, task("one", 0))
	if host, err := queue.Withdraw(t.Context(), s, *sp, "ada@mill"); host != "" || err != nil {
		t.Fatalf("%q, %v", host, err)
	}
	if host, err := queue.Withdraw(t.Context(), s, *sp, "bob@kiln"); host != "" || err != nil {
		t.Errorf("again: %q, %v", host, err)
	}
	if n := claimAll(t, s, &queue.Reader{Store: s}); n != 0 {
		t.Errorf("%d were claimed after it", n)
	}
	other := submit(t, s, task("two", 0))
	claimAll(t, s, &queue.Reader{Store: s})
	if host, err := queue.Withdraw(t.Context(), s, *other, "ada@mill"); host != "mill" || err != nil {
		t.Errorf("of a loop that mill has: %q, %v", host, err)
	}
}

// The mirror of the host that claims a loop continues with chunk 1.
func TestMirrorContinuesAfterClaim(t *testing.T) {
	s := open(t)
	sp := submit(t, s, task("one", 0))
	claimAll(t, s, &queue.Reader{Store: s})
	entry, err := s.Get(t.Context(), keys.Chunk(sp.ID, 0))
	if err != nil {
		t.Fatal(err)
	}
	m := decide.NewMirror(sp.ID, "mill", 1, decide.Tail{})
	if err := m.Found(entry.Value, nil); err != nil {
		t.Fatal(err)
	}
	m.Missing()
	if step := m.Next(decide.Journal{Last: 1, Due: true}); step.Do != decide.Seal || m.Tail().Next != 1 {
		t.Errorf("%+v after %+v", step, m.Tail())
	}
}

func TestUnbegunLoopIsTakenOver(t *testing.T) {
	s := open(t)
	sp := submit(t, s, task("one", 0))
	claimAll(t, s, &queue.Reader{Store: s})
	next := queue.NewClaim(sp.ID, "kiln", nil)
	next.After = 1
	held, err := next.Try(t.Context(), s)
	if err != nil || !held.Mine(next) || held.Epoch != 2 || len(held.Record) == 0 {
		t.Errorf("%+v, %v", held, err)
	}
	again, err := next.Try(t.Context(), s) // its answer was lost
	if err != nil || !again.Mine(next) || again.Epoch != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	// A host that has decided about the dead one is too late: kiln has the loop, and lives.
	late := queue.NewClaim(sp.ID, "oven", nil)
	late.After = 1
	if held, err := late.Try(t.Context(), s); err != nil || held.Mine(late) || held.Host != "kiln" || held.Epoch != 2 {
		t.Errorf("%+v, %v", held, err)
	}
	// A loop with events is only taken over with them.
	tail := decide.Tail{Loop: sp.ID}
	for n := range uint64(2) {
		entry, _ := s.Get(t.Context(), keys.Chunk(sp.ID, n))
		h, _, _ := chunk.Decode(entry.Value)
		tail, _ = tail.Follow(h, chunk.Hash(entry.Value))
	}
	lines, _ := chunk.Encode(chunk.Header{
		Version: 1, Loop: sp.ID, Number: 2, Epoch: 2, Host: "kiln", First: 1, Last: 1, Prev: tail.Prev, Nonce: "n",
	}, []byte("{}\n"))
	if _, err := s.PutIfAbsent(t.Context(), keys.Chunk(sp.ID, 2), lines); err != nil {
		t.Fatal(err)
	}
	third := queue.NewClaim(sp.ID, "oven", nil)
	third.After = 2
	if held, err := third.Try(t.Context(), s); err != nil || held.Mine(third) || !held.Begun {
		t.Errorf("%+v, %v", held, err)
	}
}

// A claim is an operation on a loop: the first one gets it, and each returns who has it.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, o := range history {
			loop := o.Input.(queue.Claim).Loop
			parts[loop] = append(parts[loop], o)
		}
		var all [][]porcupine.Operation
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		winner := state.(string)
		if winner == "" {
			winner = input.(queue.Claim).Nonce
		}
		return output == nil || output.(string) == winner, winner
	},
}

// Hosts compete for loops while requests and answers are lost, late and doubled.
func TestClaimsAreLinearizable(t *testing.T) {
	for seed := range *seeds {
		s := open(t)
		var mu sync.Mutex
		var history []porcupine.Operation
		var group sync.WaitGroup
		const hosts, loops = 4, 6
		begun := time.Now()
		for host := range hosts {
			group.Go(func() {
				faulty := storetest.NewFaulty(s, seed*hosts+uint64(host))
				defer faulty.Settle()
				for loop := range loops {
					c := queue.NewClaim(fmt.Sprint("L", loop), fmt.Sprint("host", host), []byte(`{}`))
					o := porcupine.Operation{ClientId: host, Input: c, Call: int64(time.Since(begun))}
					held, err := c.Try(t.Context(), faulty)
					for err != nil && (errors.Is(err, storetest.ErrLost)) {
						held, err = c.Try(t.Context(), faulty)
					}
					if err != nil {
						t.Error(err)
						return
					}
					o.Output, o.Return = held.Nonces[0], int64(time.Since(begun))
					mu.Lock()
					history = append(history, o)
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if !porcupine.CheckOperations(model, history) {
			t.Fatalf("seed %d: two hosts have one loop, or one has none", seed)
		}
	}
}

func TestReservationsNeverExceedLimit(t *testing.T) {
	s := open(t)
	limit := 10.0
	if err := queue.Limit(t.Context(), s, "team", &limit); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var reserved []string
	for i := range 8 {
		group.Go(func() {
			loop := fmt.Sprint("L", i)
			for range 2 { // the second changes nothing
				why, err := queue.Reserve(t.Context(), s, "team", loop, 3)
				if err != nil {
					t.Error(err)
				}
				if mu.Lock(); why == "" && !slices.Contains(reserved, loop) {
					reserved = append(reserved, loop)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(reserved) != 3 {
		t.Fatalf("%d loops have reserved $3 of $10", len(reserved))
	}
	cost := 0.5
	for range 2 {
		if err := queue.Settle(t.Context(), s, "team", reserved[0], &cost); err != nil {
			t.Fatal(err)
		}
	}
	if err := queue.Settle(t.Context(), s, "team", reserved[1], nil); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Reserve(t.Context(), s, "team", reserved[0], 3); err != nil { // a slow worker
		t.Fatal(err)
	}
	a, err := queue.ReadAccount(t.Context(), s, "team")
	if free, ok := a.Free(); err != nil || !ok || a.Spent != 3.5 || len(a.Reserved) != 1 || free != 3.5 {
		t.Errorf("%+v, %v", a, err)
	}
}
