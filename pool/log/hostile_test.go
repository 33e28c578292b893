package log_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

const loop = "01K8Z0000000000000000000AA"

// chain stores so many chunks of host mill, each with one event.
func chain(t *testing.T, n uint64) store.Store {
	t.Helper()
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tail := decide.Tail{Loop: loop}
	for i := range n {
		h := chunk.Header{Epoch: 1, Host: "mill", Number: i, Prev: tail.Prev, First: event.Seq(i) + 1, Last: event.Seq(i) + 1}
		stored := put(t, s, i, h)
		h.Loop, h.Nonce = loop, "n"
		if tail, err = tail.Follow(h, chunk.Hash(stored)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func put(t *testing.T, s store.Store, key uint64, h chunk.Header) []byte {
	t.Helper()
	h.Version, h.Loop, h.Nonce = chunk.Version, loop, "n"
	stored, err := chunk.Encode(h, []byte("{}\n"))
	if err == nil {
		_, err = s.PutIfAbsent(t.Context(), keys.Chunk(loop, key), stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func read(t *testing.T, s store.Store) log.Log {
	t.Helper()
	r := log.Reader{Store: s, Loop: loop}
	l, err := r.Read(t.Context(), func(chunk.Header, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDistantChunksAreNotRead(t *testing.T) {
	for _, n := range []uint64{1 << 40, math.MaxUint64} {
		s := chain(t, 2)
		put(t, s, n, chunk.Header{Number: n, Epoch: math.MaxUint64, Host: "evil", First: 3, Last: 3})
		if h, err := log.Newest(t.Context(), s, loop); err != nil || h.Host != "mill" {
			t.Errorf("with chunk %d the newest is %+v, %v", n, h, err)
		}
		if l := read(t, s); l.Tail.Next != 2 || l.Tail.Host != "mill" || len(l.Damages) > 0 {
			t.Errorf("with chunk %d the log ends in %+v, with %d damages", n, l.Tail, len(l.Damages))
		}
	}
}

func TestForeignNumberEndsReading(t *testing.T) {
	s := chain(t, 2)
	put(t, s, 2, chunk.Header{Number: 3, Epoch: 1, Host: "evil", First: 3, Last: 3})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if status, err := log.Status(ctx, s, loop); err == nil || ctx.Err() != nil {
		t.Errorf("%q, %v", status, err)
	}
}

func TestDamageHidesFewClaims(t *testing.T) {
	for epoch, want := range map[uint64]uint64{3: 3, 4: 1, math.MaxUint64: 1} {
		s := chain(t, 2)
		if _, err := s.PutIfAbsent(t.Context(), keys.Chunk(loop, 2), []byte("damaged")); err != nil {
			t.Fatal(err)
		}
		put(t, s, 3, chunk.Header{Number: 3, Epoch: epoch, Host: "kiln", First: 3, Last: 3})
		if l := read(t, s); l.Tail.Epoch != want || len(l.Damages) == 0 {
			t.Errorf("after a damaged chunk, epoch %d is read as %d", epoch, l.Tail.Epoch)
		}
	}
}

func TestForeignLoopsAreSkipped(t *testing.T) {
	s := chain(t, 1)
	for _, key := range []string{"loops/pool/view", "loops/-x/log/000000000000", "loops/00000000000000000000000000x/view"} {
		if _, err := s.PutIfAbsent(t.Context(), key, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for found, err := range log.Loops(t.Context(), s) {
		if err != nil || found != loop {
			t.Errorf("%q, %v", found, err)
		}
	}
}
