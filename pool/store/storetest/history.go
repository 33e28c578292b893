package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ralph-loop/ralph/pool/store"
)

// A disturbance is what happens while a history is recorded.
type disturbance struct{ faults, cuts, kills bool }

const (
	writers = 4
	calls   = 48 // of each writer
	// patience is how long a call waits for an answer that was lost.
	patience = time.Second
)

// linearizable records what writers do to a few keys, and checks it.
func linearizable(ctx context.Context, s *suite, seed uint64, with disturbance) error {
	h := &history{began: time.Now()}
	var done atomic.Int64
	// up is locked while the server is down. Calls that have begun by then are cut off, and no
	// call begins, because all calls of a history would be over before the server is back.
	var up sync.RWMutex
	var proxy *Proxy
	if with.cuts {
		proxy = NewProxy(s.t, s.engine.Address, seed)
		defer proxy.Close()
	}
	err := s.each(writers, func(i int, c store.Store) error {
		if with.cuts {
			var err error
			if c, err = openThrough(ctx, s.engine, proxy); err != nil {
				return err
			}
			defer c.Close()
		}
		if with.faults {
			faulty := NewFaulty(c, seed<<8+uint64(i))
			defer faulty.Settle()
			c = faulty
		}
		w := &writer{history: h, store: c, id: i, rand: rand.New(rand.NewPCG(seed, uint64(i))), prefix: s.prefix, known: map[string]known{}}
		for n := range calls {
			up.RLock()
			up.RUnlock() //nolint:staticcheck // it has only been waited for
			call, cancel := ctx, context.CancelFunc(func() {})
			if with.cuts || with.kills {
				call, cancel = context.WithTimeout(ctx, patience)
			}
			w.call(call, n)
			cancel()
			if d := done.Add(1); with.kills && d%(writers*calls/3) == 0 {
				up.Lock()
				s.engine.Kill(s.t)
				up.Unlock()
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	// What was acknowledged is there at last, for a client that has not seen it.
	w := &writer{history: h, store: s.client(writers), id: writers, prefix: s.prefix, known: map[string]known{}}
	for _, key := range h.keys() {
		for !w.get(ctx, key) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("the store does not answer any more: %w", err)
			}
		}
	}
	for !w.list(ctx) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the store does not list any more: %w", err)
		}
	}
	return h.check()
}

// openThrough tries until the connection is not cut at once.
func openThrough(ctx context.Context, e Engine, proxy *Proxy) (store.Store, error) {
	for {
		c, err := e.OpenAt(ctx, proxy.Address())
		if err == nil || ctx.Err() != nil {
			return c, err
		}
	}
}

// A writer is one client, which waits for an answer before its next call.
type writer struct {
	history *history
	store   store.Store
	id      int
	rand    *rand.Rand
	prefix  string
	// known is what it has seen last, which may be old.
	known map[string]known
}

type known struct {
	revision store.Revision
	value    string
}

// call makes call n. All writers move on from key to key, so that they meet when a key is new.
func (w *writer) call(ctx context.Context, n int) {
	key := fmt.Sprintf("%skey/%d", w.prefix, n/6+w.rand.IntN(2))
	value := fmt.Sprintf("%d.%d.%s", w.id, n, strings.Repeat("x", w.rand.IntN(3000)))
	switch kind := w.rand.IntN(10); {
	case kind < 3:
		w.write(ctx, "put", key, value)
	case kind < 6:
		w.write(ctx, "swap", key, value)
	case kind < 9:
		w.get(ctx, key)
	default:
		w.list(ctx)
	}
}

func (w *writer) write(ctx context.Context, kind, key, value string) {
	before := w.known[key]
	o := operation{client: w.id, kind: kind, key: key, value: value, expected: before.value}
	var revision store.Revision
	var err error
	o.call = w.history.now()
	if kind == "put" {
		revision, err = w.store.PutIfAbsent(ctx, key, []byte(value))
	} else {
		revision, err = w.store.CompareAndSwap(ctx, key, before.revision, []byte(value))
	}
	o.end = w.history.now()
	switch {
	case err == nil:
		o.outcome = accepted
		w.known[key] = known{revision, value}
	case kind == "put" && errors.Is(err, store.ErrExists), kind == "swap" && errors.Is(err, store.ErrChanged):
		o.outcome = refused
	default:
		o.outcome, o.end, o.err = unknown, math.MaxInt64, err
	}
	o.revision = revision
	w.history.add(o)
}

// get tells whether it got an answer.
func (w *writer) get(ctx context.Context, key string) bool {
	o := operation{client: w.id, kind: "get", key: key, call: w.history.now()}
	entry, err := w.store.Get(ctx, key)
	o.end = w.history.now()
	switch {
	case err == nil:
		o.outcome, o.value, o.revision = accepted, string(entry.Value), entry.Revision
		w.known[key] = known{entry.Revision, o.value}
	case errors.Is(err, store.ErrNotFound):
		o.outcome = refused
	default:
		return false
	}
	w.history.add(o)
	return true
}

func (w *writer) list(ctx context.Context) bool {
	o := operation{client: w.id, kind: "list", call: w.history.now()}
	keys, err := listed(ctx, w.store, w.prefix, "")
	o.end, o.listed = w.history.now(), keys
	if err != nil {
		return false
	}
	w.history.add(o)
	return true
}

// An operation is a call and its answer. Values are unique, so a value means its revision.
type operation struct {
	client    int
	kind      string // put, swap, get or list
	key       string
	expected  string // of swap: the value that is to be replaced; empty for none
	value     string // that is written, or was read
	revision  store.Revision
	listed    []string
	call, end int64
	outcome   outcome
	err       error
}

type outcome string

const (
	accepted outcome = "accepted"
	refused  outcome = "refused" // exists, changed or not found
	unknown  outcome = "unknown"
)

func (o operation) String() string {
	short := func(value string) string { return value[:strings.LastIndexByte(value, '.')+1] }
	end := fmt.Sprint(o.end / 1000)
	if o.outcome == unknown {
		end = "open"
	}
	return fmt.Sprintf("client %d, %d µs to %s: %s %s → %s: %s %v", o.client, o.call/1000, end, o.kind, short(o.expected), short(o.value), o.outcome, o.err)
}

type history struct {
	began time.Time
	mu    sync.Mutex
	all   []operation
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(o operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, o)
}

// keys returns all keys that a writer has written or read.
func (h *history) keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := map[string]bool{}
	for _, o := range h.all {
		if o.kind != "list" {
			keys[o.key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

func (h *history) check() error {
	ofKey := map[string][]operation{}
	for _, o := range h.all {
		ofKey[o.key] = append(ofKey[o.key], o)
	}
	lists := ofKey[""]
	delete(ofKey, "")
	for key, operations := range ofKey {
		err := errors.Join(checkValues(operations), checkLists(key, operations, lists), checkOrder(operations))
		if err != nil {
			slices.SortFunc(operations, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
			var text strings.Builder
			for _, o := range operations {
				fmt.Fprintln(&text, o)
			}
			return fmt.Errorf("%s: %w\n%s", key, err, &text)
		}
	}
	for _, l := range lists {
		if !slices.IsSorted(l.listed) {
			return fmt.Errorf("a list is not in order: %q", l.listed)
		}
		for _, key := range l.listed {
			if _, known := ofKey[key]; !known {
				return fmt.Errorf("a list has the key %q, which no client has written", key)
			}
		}
	}
	return nil
}

// checkValues finds values that no client has written, and revisions of more than one write.
func checkValues(operations []operation) error {
	written := map[string]bool{}
	for _, o := range operations {
		if o.kind != "get" {
			written[o.value] = true
		}
	}
	revisions, values := map[store.Revision]string{}, map[string]store.Revision{}
	for _, o := range operations {
		if o.outcome != accepted {
			continue
		}
		if !written[o.value] {
			return fmt.Errorf("a value of %d bytes was read that no client has written: %.60q", len(o.value), o.value)
		}
		if value, known := revisions[o.revision]; known && value != o.value {
			return fmt.Errorf("the revision %s is of two values: %.20q and %.20q", o.revision, value, o.value)
		}
		if revision, known := values[o.value]; known && revision != o.revision {
			return fmt.Errorf("the value %.20q has two revisions: %s and %s", o.value, revision, o.revision)
		}
		revisions[o.revision], values[o.value] = o.value, o.revision
	}
	return nil
}

// checkLists finds lists without a key that existed before, and with one that no client had
// written. No key is ever removed.
func checkLists(key string, operations, lists []operation) error {
	exists, begun := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, o := range operations {
		if o.kind != "get" {
			begun = min(begun, o.call)
		}
		if o.outcome == accepted || o.kind == "put" && o.outcome == refused {
			exists = min(exists, o.end)
		}
	}
	for _, l := range lists {
		_, has := slices.BinarySearch(l.listed, key)
		if !has && exists < l.call {
			return fmt.Errorf("the list of client %d at %d µs leaves the key out, which existed at %d µs", l.client, l.call/1000, exists/1000)
		}
		if has && l.end < begun {
			return fmt.Errorf("the list of client %d at %d µs has the key, which no client had written", l.client, l.call/1000)
		}
	}
	return nil
}

// checkOrder looks for an order of the operations on one key that explains all answers.
func checkOrder(operations []operation) error {
	seen := map[string]bool{}
	for _, o := range operations {
		if o.kind == "get" {
			seen[o.value] = true
		}
	}
	var all []porcupine.Operation
	for _, o := range operations {
		// A write whose value was not even read at the end had no effect: to be replaced, it
		// would have to have been read. Each open operation less halves the time of the check.
		if o.outcome != unknown || seen[o.value] {
			all = append(all, porcupine.Operation{ClientId: o.client, Input: o, Call: o.call, Return: o.end})
		}
	}
	if result := porcupine.CheckOperationsTimeout(model, all, limit); result != porcupine.Ok {
		return fmt.Errorf("no order of these calls explains their answers (%s)", result)
	}
	return nil
}

// model is one key: its state is its value, empty while it does not exist.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		value, o := state.(string), input.(operation)
		possible := value == ""
		switch o.kind {
		case "get":
			return o.outcome == accepted && value == o.value || o.outcome == refused && value == "", value
		case "swap":
			possible = value == o.expected
		}
		switch {
		case o.outcome == unknown && !possible:
			return true, value
		case o.outcome == refused:
			return !possible, value
		default:
			return possible, o.value
		}
	},
}
