package mirror_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/registry"
)

// resting is a mirror whose only loop rests, with a clock that the test moves.
type resting struct {
	*host
	m      *mirror.Mirror
	calls  *pooltest.Counting
	now    time.Time
	folder string
	id     string
}

func newResting(t *testing.T) *resting {
	r := &resting{host: newHost(t), now: time.Now().Add(time.Minute)}
	r.folder = r.loop(r.Repository(agent), "one")
	r.id = idOf(t, r.folder)
	r.calls = &pooltest.Counting{Store: r.store}
	opt := r.options(r.calls)
	opt.Now = func() time.Time { return r.now }
	r.m = mirror.New(opt)
	r.m.Hear(t.Context())
	for range 3 { // a chunk, its receipts, the rest
		r.after(0)
	}
	r.wantMirrored(r.folder)
	return r
}

// after lets a while pass, and returns how many calls the mirror has made then.
func (r *resting) after(d time.Duration) int {
	before := r.calls.All()
	r.now = r.now.Add(d)
	r.m.Round(r.t.Context())
	return r.calls.All() - before
}

func TestRestingLoopCostsNoCalls(t *testing.T) {
	r := newResting(t)
	for minute := range 9 {
		for range 2 {
			if n := r.after(30 * time.Second); n != 0 {
				t.Fatalf("%d calls in minute %d", n, minute)
			}
		}
	}
	if n := r.after(2 * time.Minute); n != 1 {
		t.Errorf("%d calls after 10 minutes, want one for whose the loop is", n)
	}
}

// Without an announcement, what is written is found all the same.
func TestWrittenJournalIsFound(t *testing.T) {
	r := newResting(t)
	if err := os.Chtimes(filepath.Join(r.folder, "notify"), r.now, r.now); err != nil {
		t.Fatal(err)
	}
	if n := r.after(decide.Interval); n == 0 {
		t.Error("the loop was not looked at")
	}
	if n := r.after(decide.Interval); n != 0 {
		t.Errorf("%d calls once it rests again", n)
	}
}

// A host that takes a loop over wakes this one first. It finds the claim also if it is not woken
// again.
func TestWokenHostAsksAgain(t *testing.T) {
	r := newResting(t)
	if err := command.Wake(t.Context(), r.store, "mill", r.id); err != nil {
		t.Fatal(err)
	}
	r.m.Hear(t.Context())
	if n := r.after(0); n == 0 {
		t.Fatal("the loop was not looked at")
	}
	r.claim(r.id, "kiln")
	for range 2 {
		r.after(decide.Interval)
	}
	if _, err := os.Lstat(filepath.Join(r.folder, "moved.json")); err != nil {
		t.Errorf("it is not fenced: %v", err)
	}
	r.wantSaid("continues on host kiln")
}

// A host that was woken for another loop, or has read it before, asks about none.
func TestWakeIsReadOnce(t *testing.T) {
	r := newResting(t)
	if err := command.Wake(t.Context(), r.store, "mill", "01K8Z0000000000000000000AA"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.m.Hear(t.Context())
		if n := r.after(0); n != 0 {
			t.Errorf("%d calls for a loop of another name", n)
		}
	}
	// What no host writes may be for any loop.
	entry, err := r.store.Get(t.Context(), keys.Wake("mill"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.CompareAndSwap(t.Context(), keys.Wake("mill"), entry.Revision, []byte("a bell")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		r.m.Hear(t.Context())
		if n := r.after(0); n > 0 != want {
			t.Errorf("%d calls", n)
		}
	}
}

// The first loop of a host is announced, too.
func TestMirrorMakesRegistry(t *testing.T) {
	h := newHost(t)
	h.mirror()
	if _, err := os.Stat(registry.Folder(h.Home)); err != nil {
		t.Error(err)
	}
}
