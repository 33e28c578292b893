package log

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
)

// ErrNone: the store has no log of the loop.
var ErrNone = errors.New("the pool has no log of it")

// A Log is what was read.
type Log struct {
	Tail   decide.Tail
	Chunks int // that are there, also damaged ones
	// Claim is the chunk with which the host of the tail has begun, as far as it can be read.
	Claim chunk.Header
	From  string // the host before that
	// Sealed has the last event of each epoch that is over.
	Sealed  map[uint64]event.Seq
	Damages []Damage
}

// A Damage is one or several chunks, one after the other, that are missing or not what was stored.
type Damage struct {
	First   uint64 `json:"first"` // their numbers
	Through uint64 `json:"through"`
	Why     string `json:"why"`
	// From and To are the events that they had. Both are 0 if they had none. To is 0 if no reader
	// can know: no later chunk has events.
	From event.Seq `json:"from,omitempty"`
	To   event.Seq `json:"to,omitempty"`
	// Repaired: nothing is lost, because a Repair has the lines, or there were none.
	Repaired bool   `json:"repaired"`
	By       string `json:"by,omitempty"` // the host that repaired it

	before decide.Tail
	ends   bool // no chunk follows
}

// String names the chunks for people.
func (d Damage) String() string {
	if d.First == d.Through {
		return fmt.Sprintf("chunk %d %s", d.First, d.Why)
	}
	return fmt.Sprintf("chunks %d to %d: the first %s", d.First, d.Through, d.Why)
}

// A Reader reads the log of one loop.
type Reader struct {
	Store store.Store
	Loop  string
	// Repair returns the lines of damaged chunks instead of what the store has for them.
	Repair func(Damage) (Repair, []byte, error)

	after   uint64 // the number after the last chunk
	numbers map[uint64]bool
	loaded  map[uint64]stored
}

// stored is what the store has under the key of a chunk.
type stored struct {
	chunk.Header
	lines []byte
	hash  string
	bad   string // why it is no chunk
}

// Read calls each with the lines of each chunk, in their order. Damage does not end it: the caller
// asks the [Log] for it. An error is one of the store, of each, or of a chunk that a newer program
// wrote.
func (r *Reader) Read(ctx context.Context, each func(h chunk.Header, lines []byte) error) (l Log, err error) {
	l.Tail.Loop, l.Sealed = r.Loop, map[uint64]event.Seq{}
	if err := r.list(ctx); err != nil {
		return l, err
	}
	l.Chunks = len(r.numbers)
	if l.Chunks == 0 {
		return l, fmt.Errorf("loop %s: %w", r.Loop, ErrNone)
	}
	for n := uint64(0); n < r.after; n = l.Tail.Next {
		before := l.Tail
		c, why, err := r.judge(ctx, before, n)
		if err != nil {
			return l, err
		}
		h, lines := c.Header, c.lines
		if why == "" {
			l.Tail, _ = l.Tail.Follow(h, c.hash) // judged
		} else if h, lines, err = r.damaged(ctx, &l, why); err != nil {
			return l, err
		}
		if h.Epoch > l.Claim.Epoch {
			l.Claim, l.From, l.Sealed[before.Epoch] = h, before.Host, before.Last
		}
		if h.Last > 0 {
			if err := each(h, lines); err != nil {
				return l, err
			}
		}
		delete(r.loaded, n)
	}
	return l, nil
}

func (r *Reader) list(ctx context.Context) error {
	r.numbers, r.loaded, r.after = map[uint64]bool{}, map[uint64]stored{}, 0
	for key, err := range r.Store.List(ctx, keys.Log(r.Loop), "") {
		if err != nil {
			return fmt.Errorf("list the chunks of loop %s: %w", r.Loop, err)
		}
		if n, ok := keys.ChunkNumber(key); ok && key == keys.Chunk(r.Loop, n) && n >= r.after && n-r.after <= chunk.MaxGap {
			r.numbers[n], r.after = true, n+1
		}
	}
	return nil
}

// load reads the chunk with a number, once.
func (r *Reader) load(ctx context.Context, n uint64) (c stored, err error) {
	if c, ok := r.loaded[n]; ok {
		return c, nil
	}
	entry, err := r.Store.Get(ctx, keys.Chunk(r.Loop, n))
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.bad = "is missing"
	case err != nil:
		return c, fmt.Errorf("read chunk %d of loop %s: %w", n, r.Loop, err)
	default:
		c.hash = chunk.Hash(entry.Value)
		c.Header, c.lines, err = chunk.Decode(entry.Value)
		if errors.Is(err, chunk.ErrVersion) {
			return c, fmt.Errorf("%w: use that ralph here, too", err)
		}
		if err != nil {
			c.bad = "is damaged: " + err.Error()
		}
	}
	r.loaded[n] = c
	return c, nil
}

// judge returns chunk n, and why it is not the one after the tail.
func (r *Reader) judge(ctx context.Context, t decide.Tail, n uint64) (c stored, why string, err error) {
	if c, err = r.load(ctx, n); err != nil || c.bad != "" {
		return c, c.bad, err
	}
	if _, err := t.Follow(c.Header, c.hash); err != nil {
		return c, "is not what was stored: " + err.Error(), nil
	}
	if n+1 >= r.after {
		return c, "", nil
	}
	next, err := r.load(ctx, n+1)
	if err != nil || next.bad != "" || next.Prev == c.hash {
		return c, "", err
	}
	// One of the two is not what was stored. The one after the next knows whether it is that one.
	if n+2 < r.after {
		third, err := r.load(ctx, n+2)
		if err != nil || third.bad == "" && third.Prev != next.hash {
			return c, "", err
		}
	}
	return c, fmt.Sprintf("is not what was stored: chunk %d names another by its hash", n+1), nil
}

// damaged steps over damaged chunks, and returns the lines that they had. The tail is then what the
// next good chunk says of the one before it.
func (r *Reader) damaged(ctx context.Context, l *Log, why string) (h chunk.Header, lines []byte, err error) {
	d := Damage{First: l.Tail.Next, Through: l.Tail.Next, Why: why, before: l.Tail, From: l.Tail.Last + 1}
	next, found := stored{}, false
	for ; d.Through+1 < r.after; d.Through++ {
		if next, err = r.load(ctx, d.Through+1); err != nil {
			return h, nil, err
		}
		// Each chunk since the tail may have been a claim, and none adds more than one.
		claims := d.Through + 2 - d.First
		if next.bad == "" && next.Loop == r.Loop && next.Number == d.Through+1 && next.Epoch >= l.Tail.Epoch && next.Epoch-l.Tail.Epoch <= claims {
			found = true
			break
		}
	}
	d.ends = !found
	known := false
	if d.To, known, err = r.lastBefore(ctx, d.Through+1); err != nil {
		return h, nil, err
	}
	if known && d.To == l.Tail.Last {
		d.From, d.To, d.Repaired = 0, 0, true // they had no events
	}
	h = chunk.Header{Number: d.First, Loop: r.Loop, Epoch: l.Tail.Epoch, Host: l.Tail.Host, Tree: l.Tail.Tree}
	if found {
		h.Epoch, h.Host = next.Epoch, next.Host
		if next.Last == 0 && next.Epoch > l.Tail.Epoch { // a claim
			h.Epoch, h.Host = next.Epoch-1, l.Tail.Host
		}
	}
	if !d.Repaired {
		note, text, err := r.repair(ctx, d)
		if err != nil {
			return h, nil, err
		}
		if note.Version > 0 {
			h.First, h.Last, lines, d.Repaired, d.By = d.From, note.Last, text, true, note.By
			if d.ends {
				h.Epoch, h.Host = note.Epoch, note.Host
			}
		}
	}
	prev := next.Prev
	if !found {
		prev = r.loaded[d.Through].hash
	}
	l.Tail.Next, l.Tail.Prev, l.Tail.Epoch, l.Tail.Host, l.Tail.Last = d.Through+1, prev, h.Epoch, h.Host, max(l.Tail.Last, d.To, h.Last)
	l.Damages = append(l.Damages, d)
	return h, lines, nil
}

// lastBefore returns the last event before a chunk, if a later one with events says it.
func (r *Reader) lastBefore(ctx context.Context, n uint64) (last event.Seq, known bool, err error) {
	for ; n < r.after; n++ {
		c, err := r.load(ctx, n)
		if err != nil {
			return 0, false, err
		}
		if c.bad == "" && c.Last > 0 {
			return c.First - 1, true, nil
		}
	}
	return 0, false, nil
}

// Loops yields the IDs of all loops that the store knows.
func Loops(ctx context.Context, s store.Store) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		all, err := store.Names(ctx, s, keys.Loops, keys.AfterLoop)
		if err != nil {
			yield("", fmt.Errorf("list the loops: %w", err))
			return
		}
		for _, loop := range all {
			if _, err := ulid.ParseStrict(loop); err != nil {
				continue // no loop of ralph's
			}
			if !yield(loop, nil) {
				return
			}
		}
	}
}
