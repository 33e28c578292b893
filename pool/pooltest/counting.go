package pooltest

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/ralph-loop/ralph/pool/store"
)

// A Counting store counts its calls.
type Counting struct {
	store.Store
	Gets, Lists, Writes atomic.Int64
}

// All is how many calls there were.
func (c *Counting) All() int { return int(c.Gets.Load() + c.Lists.Load() + c.Writes.Load()) }

// PutIfAbsent is a write.
func (c *Counting) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	c.Writes.Add(1)
	return c.Store.PutIfAbsent(ctx, key, value)
}

// Get is a read.
func (c *Counting) Get(ctx context.Context, key string) (store.Entry, error) {
	c.Gets.Add(1)
	return c.Store.Get(ctx, key)
}

// CompareAndSwap is a write.
func (c *Counting) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	c.Writes.Add(1)
	return c.Store.CompareAndSwap(ctx, key, revision, value)
}

// List is one list, however many keys it has.
func (c *Counting) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	c.Lists.Add(1)
	return c.Store.List(ctx, prefix, after)
}
