package queue

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
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
	// by is the host that has claimed it; empty if it is not known to be claimed.
	by string
}

// A Reader reads the queue again and again. It remembers specifications, which never change, and
// which of them are claimed, which they stay.
type Reader struct {
	Store store.Store
	Host  string // that moves the cursor over what it has claimed; empty for any
	known map[string]*Item
}

// Claimed says that a host has claimed an item of the reader, or a person has withdrawn it.
func (r *Reader) Claimed(id, host string) {
	if item := r.known[id]; item != nil {
		item.by = host
	}
}

// Held returns the items of the last reading that one of these hosts has claimed, or of which the
// reader does not know whether they are claimed.
func (r *Reader) Held(hosts []string) (ids []string) {
	for id, item := range r.known {
		if item.by == "" || slices.Contains(hosts, item.by) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Waiting returns what may not be claimed yet: higher priorities first, then what was submitted
// first. It moves the cursor if that saves something.
func (r *Reader) Waiting(ctx context.Context) (waiting []*Item, err error) {
	c, err := readCursor(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	items, err := r.items(ctx, c)
	if err != nil {
		return nil, err
	}
	r.known = map[string]*Item{}
	var leading [10][]*Item // by priority, the claimed ones before the first that waits
	var ends [10]bool
	for _, item := range items {
		r.known[item.ID] = item
		if item.by == "" {
			ends[item.Priority] = true
			waiting = append(waiting, item)
		} else if !ends[item.Priority] {
			leading[item.Priority] = append(leading[item.Priority], item)
		}
	}
	return waiting, r.pass(ctx, c, leading)
}

// pass moves the cursor over claimed items. What is before it is found by the host that has it.
func (r *Reader) pass(ctx context.Context, c cursor, leading [10][]*Item) error {
	moved := false
	for priority, items := range leading {
		if len(items) < Batch || r.Host != "" && items[len(items)-1].by != r.Host {
			continue
		}
		for _, item := range items {
			if err := live.NoteLoop(ctx, r.Store, item.by, item.ID); err != nil {
				return err
			}
		}
		c.After[priority], moved = items[len(items)-1].ID, true
	}
	if !moved {
		return nil
	}
	// Without success, another has written it: the next reading tries again.
	if err := c.write(ctx, r.Store); err != nil && !errors.Is(err, store.ErrChanged) {
		return err
	}
	return nil
}

// CountWaiting returns how many specifications no host has claimed.
func CountWaiting(ctx context.Context, s store.Store) (n int, err error) {
	c, err := readCursor(ctx, s)
	if err != nil {
		return 0, err
	}
	var claims []string
	err = c.list(ctx, s, func(_ int, key string) { claims = append(claims, keys.Chunk(path.Base(key), 0)) })
	if err != nil {
		return 0, err
	}
	entries, err := store.GetAll(ctx, s, claims)
	for _, e := range entries {
		if e.Revision == "" {
			n++
		}
	}
	return n, err
}

// list calls each with the keys of the queue after the cursor: higher priorities first.
func (c cursor) list(ctx context.Context, s store.Store, each func(priority int, key string)) error {
	for from, more := "", true; more; {
		more = false
		for key, err := range s.List(ctx, keys.Queue, from) {
			if err != nil {
				return fmt.Errorf("list the queue: %w", err)
			}
			priority, ok := keys.QueuedPriority(key)
			if !ok {
				continue // nothing of ours
			}
			if after := c.After[priority]; after != "" && key <= keys.Queued(priority, after) {
				from, more = keys.Queued(priority, after), true
				break
			}
			each(priority, key)
		}
	}
	return nil
}

// items returns what the queue has after the cursor.
func (r *Reader) items(ctx context.Context, c cursor) (items []*Item, err error) {
	var added []*Item
	var unread []string
	err = c.list(ctx, r.Store, func(priority int, key string) {
		item := r.known[path.Base(key)]
		if item == nil {
			item = &Item{Priority: priority, ID: path.Base(key)}
			added, unread = append(added, item), append(unread, key)
		}
		items = append(items, item)
	})
	if err != nil {
		return nil, err
	}
	entries, err := store.GetAll(ctx, r.Store, unread)
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	for i, item := range added {
		item.Text = entries[i].Value
		item.Spec, item.Wrong = spec.Decode(item.Text)
		if item.Wrong == nil && keys.Queued(item.Spec.Priority, item.Spec.ID) != unread[i] {
			item.Wrong = fmt.Errorf("it has the id %.40q and the priority %d, and is in the queue as %s", item.Spec.ID, item.Spec.Priority, unread[i])
		}
	}
	return items, nil
}
