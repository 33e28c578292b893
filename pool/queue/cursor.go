package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// Batch is how many claimed specifications at the beginning of a priority make a worker move the
// cursor.
const Batch = 32

// A cursor says where readers of the queue begin.
type cursor struct {
	// After has, by priority, the last ID such that all up to it are claimed.
	After map[int]string `json:"after,omitempty"`
	// Last is what was submitted last. It is there to make each submission a write.
	Last     string         `json:"last,omitempty"`
	revision store.Revision // of what was read
}

func readCursor(ctx context.Context, s store.Store) (cursor, error) {
	var c cursor
	err := read(ctx, s, keys.Cursor, &c, &c.revision)
	if c.After == nil { // the stored text may have no map
		c.After = map[int]string{}
	}
	return c, err
}

func (c cursor) write(ctx context.Context, s store.Store) error {
	return write(ctx, s, keys.Cursor, c.revision, c)
}

// read decodes a small object that several hosts write. One that does not exist is no error.
func read(ctx context.Context, s store.Store, key string, v any, revision *store.Revision) error {
	entry, err := s.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(entry.Value, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	*revision = entry.Revision
	return nil
}

// write replaces a small object. Its errors wrap those of the store.
func write(ctx context.Context, s store.Store, key string, revision store.Revision, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = s.CompareAndSwap(ctx, key, revision, text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// tries is how often a write is repeated that others were faster with, or whose answer was lost.
const tries = 100

// update changes a small object until it is written. change returns false if there is nothing to
// change. It is called again after each write that may have failed, with what is there then.
func update[T any](ctx context.Context, s store.Store, key string, change func(*T) (bool, error)) error {
	var problem error
	for range tries {
		var v T
		var revision store.Revision
		if err := read(ctx, s, key, &v, &revision); err != nil {
			return err
		}
		changed, err := change(&v)
		if err != nil || !changed {
			return err
		}
		problem = write(ctx, s, key, revision, v)
		if problem == nil || ctx.Err() != nil {
			return problem
		}
	}
	return problem
}
