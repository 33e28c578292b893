package queue

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// An Item is an entry of the queue.
type Item struct {
	Priority int
	ID       string
	Spec     spec.Spec
	Text     []byte // of the specification, as it was submitted
	Wrong    error  // why no worker may run it
	claimed  bool
}

// A Reader reads the queue again and again. It remembers specifications, which never change, and
// which of them are claimed, which they stay.
type Reader struct {
	Store store.Store
	known map[string]*Item
}

// Claimed says that an item of the reader is claimed.
func (r *Reader) Claimed(id string) {
	if item := r.known[id]; item != nil {
		item.claimed = true
	}
}

// Waiting returns what may not be claimed yet: higher priorities first, then what was submitted
// first. It moves the cursor if that saves something.
func (r *Reader) Waiting(ctx context.Context) (waiting []*Item, err error) {
	c, err := readCursor(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	seen, moved := map[string]*Item{}, false
	for priority := 9; priority >= 0; priority-- {
		after := ""
		if from := c.After[priority]; from != "" {
			after = keys.Queued(priority, from)
		}
		leading, all := 0, true // claimed ones, without one that waits before them
		last := ""
		for key, err := range r.Store.List(ctx, keys.QueuePrefix(priority), after) {
			if err != nil {
				return nil, fmt.Errorf("list the queue: %w", err)
			}
			item, err := r.item(ctx, priority, key)
			if err != nil {
				return nil, err
			}
			seen[item.ID] = item
			if !item.claimed {
				all = false
				waiting = append(waiting, item)
			} else if all {
				leading++
				last = item.ID
			}
		}
		if leading >= Batch {
			c.After[priority], moved = last, true
		}
	}
	r.known = seen
	if moved {
		// Without success, another has written it: the next reading tries again.
		if err := c.write(ctx, r.Store); err != nil && !errors.Is(err, store.ErrChanged) {
			return nil, err
		}
	}
	return waiting, nil
}

func (r *Reader) item(ctx context.Context, priority int, key string) (*Item, error) {
	id := path.Base(key)
	if known := r.known[id]; known != nil {
		return known, nil
	}
	entry, err := r.Store.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	item := &Item{Priority: priority, ID: id, Text: entry.Value}
	item.Spec, item.Wrong = spec.Decode(entry.Value)
	if item.Wrong == nil && keys.Queued(item.Spec.Priority, item.Spec.ID) != key {
		item.Wrong = fmt.Errorf("it has the id %.40q and the priority %d, and is in the queue as %s", item.Spec.ID, item.Spec.Priority, key)
	}
	return item, nil
}
