package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

// ErrLost is the error of a call whose request or answer was lost.
var ErrLost = errors.New("connection lost")

// Faulty is between a client and its engine. It loses requests and answers, delays them beyond
// the client's patience, and delivers them twice.
type Faulty struct {
	store.Store
	mu   sync.Mutex
	rand *rand.Rand
	// late has requests that are still on their way.
	late []func()
}

// NewFaulty returns a client whose faults are drawn from a seed.
func NewFaulty(s store.Store, seed uint64) *Faulty {
	return &Faulty{Store: s, rand: rand.New(rand.NewPCG(seed, 0))}
}

// A fault is what happens to one call.
type fault int

const (
	none fault = iota
	requestLost
	answerLost
	requestLate  // the client gets an error, and the request arrives after later ones
	requestTwice // the second time after later ones
	delayed
)

// next draws a fault, one in four calls, and delivers late requests.
func (f *Faulty) next() fault {
	f.mu.Lock()
	kind, deliver := none, []func(){}
	if f.rand.IntN(4) == 0 {
		kind = fault(1 + f.rand.IntN(int(delayed)))
	}
	if f.rand.IntN(3) == 0 {
		deliver, f.late = f.late, nil
	}
	pause := time.Duration(f.rand.IntN(2000)) * time.Microsecond
	f.mu.Unlock()
	for _, request := range deliver {
		request()
	}
	if kind == delayed {
		<-time.After(pause)
	}
	return kind
}

// Settle delivers all requests that are still on their way.
func (f *Faulty) Settle() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, request := range late {
		request()
	}
}

// Close delivers what is on its way.
func (f *Faulty) Close() error {
	f.Settle()
	return f.Store.Close()
}

func (f *Faulty) write(ctx context.Context, request func(context.Context) (store.Revision, error)) (store.Revision, error) {
	later := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late = append(f.late, func() { _, _ = request(context.WithoutCancel(ctx)) })
	}
	switch f.next() {
	case requestLost:
		return "", fmt.Errorf("before the effect: %w", ErrLost)
	case answerLost:
		_, _ = request(ctx)
		return "", fmt.Errorf("after the effect: %w", ErrLost)
	case requestLate:
		later()
		return "", fmt.Errorf("a late effect: %w", ErrLost)
	case requestTwice:
		defer later()
	}
	return request(ctx)
}

// PutIfAbsent is one of the store, with faults.
func (f *Faulty) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	return f.write(ctx, func(ctx context.Context) (store.Revision, error) { return f.Store.PutIfAbsent(ctx, key, value) })
}

// CompareAndSwap is one of the store, with faults.
func (f *Faulty) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	return f.write(ctx, func(ctx context.Context) (store.Revision, error) {
		return f.Store.CompareAndSwap(ctx, key, revision, value)
	})
}

// Get is one of the store, with faults.
func (f *Faulty) Get(ctx context.Context, key string) (store.Entry, error) {
	if kind := f.next(); kind == requestLost || kind == answerLost {
		return store.Entry{}, ErrLost
	}
	return f.Store.Get(ctx, key)
}

// List is one of the store, with faults.
func (f *Faulty) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	kind := f.next()
	return func(yield func(string, error) bool) {
		for key, err := range f.Store.List(ctx, prefix, after) {
			if !yield(key, err) {
				return
			}
			if kind == answerLost {
				yield("", ErrLost)
				return
			}
		}
	}
}
