package queue

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// Submit gives a specification an ID, signs it, and puts it into the queue. After an error it may be
// there: Submit it again only if that does no harm.
func Submit(ctx context.Context, s store.Store, sp *spec.Spec, key ed25519.PrivateKey) error {
	sp.Version, sp.At = spec.Version, time.Now().UTC().Truncate(time.Millisecond)
	at := sp.At
	for {
		id, err := ulid.New(ulid.Timestamp(at), rand.Reader)
		if err != nil {
			return fmt.Errorf("make an id: %w", err)
		}
		sp.ID = id.String()
		if err := errors.Join(sp.Check(), sp.Sign(key)); err != nil {
			return err
		}
		if err := put(ctx, s, *sp); err != nil {
			return err
		}
		passed, err := announce(ctx, s, *sp)
		if err != nil {
			return fmt.Errorf("%s is in the queue, and it is not known whether workers see it: 'ralph pool list' shows it: %w", sp.ID, err)
		}
		if passed == "" {
			return nil
		}
		taken, err := Withdraw(ctx, s, *sp, sp.By)
		if err != nil || taken != "" { // a worker was faster: it runs
			return err
		}
		after, err := ulid.ParseStrict(passed)
		if err != nil {
			return fmt.Errorf("the cursor of the queue is damaged: %w", err)
		}
		at = later(at, ulid.Time(after.Time()).Add(time.Millisecond))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// put writes the specification. It has an ID of its own, so what is there under it is the same.
func put(ctx context.Context, s store.Store, sp spec.Spec) error {
	text, err := spec.Encode(sp)
	if err != nil {
		return err
	}
	key := keys.Queued(sp.Priority, sp.ID)
	for range tries {
		if _, err = s.PutIfAbsent(ctx, key, text); err == nil || ctx.Err() != nil {
			break
		}
		entry, problem := s.Get(ctx, key)
		if problem == nil && bytes.Equal(entry.Value, text) {
			return nil // its answer was lost
		}
		if problem == nil {
			return fmt.Errorf("put %s into the queue: another specification has its id", sp.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("put %s into the queue: %w", sp.Name, err)
	}
	return nil
}

// announce writes the cursor after a specification was put. It returns the ID that readers of that
// priority begin after, if they do not see the specification any more.
func announce(ctx context.Context, s store.Store, sp spec.Spec) (passed string, err error) {
	err = update(ctx, s, keys.Cursor, func(c *cursor) (bool, error) {
		if passed = ""; c.After[sp.Priority] >= sp.ID {
			passed = c.After[sp.Priority]
			return false, nil
		}
		known := c.Last == sp.ID // an earlier write whose answer was lost
		c.Last = sp.ID
		return !known, nil
	})
	return passed, err
}

// Withdraw takes a specification back, unless a host has its loop already: then it returns the host.
func Withdraw(ctx context.Context, s store.Store, sp spec.Spec, by string) (host string, err error) {
	if by == "" {
		by = "?"
	}
	record, err := spec.Encode(spec.Spec{Version: spec.Version, ID: sp.ID, Name: sp.Name, Withdrawn: by})
	if err != nil {
		return "", err
	}
	claim := NewClaim(sp.ID, by, record)
	for range tries {
		held, err := claim.Try(ctx, s)
		if err == nil && held.Mine(claim) {
			return "", nil
		}
		if err == nil && held.Withdrawn {
			return "", nil
		}
		if err == nil {
			return held.Host, nil
		}
		if ctx.Err() != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("it is not known whether %s was withdrawn: 'ralph pool list' shows it", sp.Name)
}
