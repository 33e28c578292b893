package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// Put puts the run of a schedule into the queue. It may be done again, by any host: its ID follows
// from its time. That may be long ago, so the cursor goes back to where readers see it.
func Put(ctx context.Context, s store.Store, sp spec.Spec) error {
	if err := errors.Join(sp.Check(), sp.Verify()); err != nil {
		return fmt.Errorf("put %s into the queue: %w", sp.Name, err)
	}
	id, err := ulid.ParseStrict(sp.ID)
	if err != nil {
		return err
	}
	if err := put(ctx, s, sp); err != nil {
		return err
	}
	return update(ctx, s, keys.Cursor, func(c *cursor) (bool, error) {
		if c.After[sp.Priority] >= sp.ID {
			var before ulid.ULID // the first ID of that millisecond
			if err := before.SetTime(id.Time()); err != nil {
				return false, err
			}
			c.After[sp.Priority] = before.String()
		}
		known := c.Last == sp.ID
		c.Last = sp.ID
		return !known, nil
	})
}
