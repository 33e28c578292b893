package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ralph-loop/ralph/pool/store"
)

// concurrent has what several clients at once can see.
func concurrent() []promise {
	return []promise{
		{"OneWinner", func(ctx context.Context, s *suite) error { return oneWinner(ctx, s, positions()) }},
		{"NoLostSwap", noLostSwap},
		{"Watch", watch},
	}
}

// positions is how many keys the writers compete for.
func positions() int {
	if *seeds > 0 {
		return 100
	}
	return 25
}

// oneWinner lets all clients write the same keys, as hosts that want the same loop.
func oneWinner(ctx context.Context, s *suite, positions int) error {
	winners := make([]atomic.Int32, positions)
	key := func(n int) string { return fmt.Sprintf("%sloops/L/log/%012d", s.prefix, n) }
	err := s.each(clients, func(i int, c store.Store) error {
		for n := range positions {
			_, err := c.PutIfAbsent(ctx, key(n), []byte{byte(i)})
			switch {
			case err == nil:
				if !winners[n].CompareAndSwap(0, int32(i+1)) {
					return fmt.Errorf("key %d was written by client %d and by client %d", n, winners[n].Load()-1, i)
				}
			case !errors.Is(err, store.ErrExists):
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n := range positions {
		if err := holds(ctx, s.client(0), key(n), []byte{byte(winners[n].Load() - 1)}); err != nil {
			return fmt.Errorf("key %d, written by client %d: %w", n, winners[n].Load()-1, err)
		}
	}
	return nil
}

// noLostSwap lets all clients count in one key.
func noLostSwap(ctx context.Context, s *suite) error {
	const each = 6
	key := s.prefix + "accounts/a"
	err := s.each(clients, func(_ int, c store.Store) error {
		for n := 0; n < each; {
			entry, err := c.Get(ctx, key)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			value := make([]byte, 8)
			copy(value, entry.Value)
			binary.BigEndian.PutUint64(value, binary.BigEndian.Uint64(value)+1)
			_, err = c.CompareAndSwap(ctx, key, entry.Revision, value)
			switch {
			case err == nil:
				n++
			case !errors.Is(err, store.ErrChanged):
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return holds(ctx, s.client(0), key, binary.BigEndian.AppendUint64(nil, clients*each))
}

// watch writes keys while another client watches them, and reads what it reports.
func watch(ctx context.Context, s *suite) error {
	const writes = 30
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	one, other := s.client(0), s.client(1)
	if _, err := one.PutIfAbsent(ctx, s.prefix+"hosts/h/old", nil); err != nil {
		return err
	}
	write := func() error {
		var revision store.Revision
		for n := range writes {
			next, err := one.CompareAndSwap(ctx, s.prefix+"hosts/h/wake", revision, []byte{byte(n)})
			if err != nil {
				return err
			}
			revision = next
			if _, err := one.PutIfAbsent(ctx, fmt.Sprintf("%shosts/g/%d", s.prefix, n), nil); err != nil {
				return err
			}
		}
		_, err := one.PutIfAbsent(ctx, s.prefix+"hosts/h/a/b/last", nil)
		return err
	}
	began, written := false, make(chan error, 1)
	seen := map[string]bool{}
	for key, err := range other.Watch(ctx, s.prefix+"hosts/h/") {
		switch {
		case err != nil:
			return err
		case !began && key != "":
			return fmt.Errorf("the first key of a watch is %q, want an empty one", key)
		case !began:
			began = true
			go func() { written <- write() }()
		case key != "" && key != s.prefix+"hosts/h/wake" && key != s.prefix+"hosts/h/a/b/last":
			return fmt.Errorf("a watch yields %q, which was not written or begins with something else", key)
		}
		for name, last := range map[string]byte{"wake": writes - 1, "a/b/last": 0} {
			if key != "" && key != s.prefix+"hosts/h/"+name {
				continue // a change of this one has to be reported as well
			}
			entry, err := other.Get(ctx, s.prefix+"hosts/h/"+name)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			seen[name] = seen[name] || err == nil && (len(entry.Value) == 0 || entry.Value[0] == last)
		}
		if seen["wake"] && seen["a/b/last"] {
			return <-written
		}
	}
	return fmt.Errorf("the watch ended, or has never reported the last write: %w", ctx.Err())
}
