package mirror

import (
	"context"
	"iter"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

// callMost bounds the time of a call. What became of a write is unknown then, as after any error.
const callMost = 30 * time.Second

// A patient store gives up calls that are not answered, so that one connection that hangs does not
// keep other loops waiting.
type patient struct{ store.Store }

func (p patient) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, callMost)
	defer cancel()
	return p.Store.PutIfAbsent(ctx, key, value)
}

func (p patient) Get(ctx context.Context, key string) (store.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callMost)
	defer cancel()
	return p.Store.Get(ctx, key)
}

func (p patient) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, callMost)
	defer cancel()
	return p.Store.CompareAndSwap(ctx, key, revision, value)
}

func (p patient) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, 10*callMost) // a list has many answers
		defer cancel()
		p.Store.List(ctx, prefix, after)(yield)
	}
}
