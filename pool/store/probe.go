package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
)

// Probe refuses a store that does not keep conditions, before anything depends on them: some S3
// servers ignore If-None-Match in silence. It writes one key a day, for all hosts: the first of a
// day competes for a key that does not exist, and later ones for one that does.
func Probe(ctx context.Context, s Store) error {
	key := keys.Probe(time.Now().UTC().Format(time.DateOnly))
	if err := probePut(ctx, s, key); err != nil {
		return err
	}
	return probeSwap(ctx, s, key)
}

// broken says what a store did.
func broken(format string, what ...any) error {
	return fmt.Errorf("the store does not keep conditions, so that two hosts could run one loop: "+format+
		". Use NATS ('ralph pool serve'), or an S3 server that does: see \"Stores\" in docs/past-one-machine.md", what...)
}

func probePut(ctx context.Context, s Store, key string) error {
	winners, err := race(func(value []byte) error {
		_, err := s.PutIfAbsent(ctx, key, value)
		return err
	}, ErrExists)
	if err != nil {
		return err
	}
	if winners > 1 {
		return broken("%d of %d writers have made the key %s at the same time", winners, writers, key)
	}
	_, err = s.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return broken("the key %s exists when it is written, and not when it is read", key)
	}
	if err != nil {
		return fmt.Errorf("probe the store: %w", err)
	}
	_, err = s.PutIfAbsent(ctx, key, []byte(rand.Text()))
	if err == nil {
		return broken("it has made the key %s, which existed, a second time", key)
	}
	if !errors.Is(err, ErrExists) {
		return fmt.Errorf("probe the store: %w", err)
	}
	return nil
}

func probeSwap(ctx context.Context, s Store, key string) error {
	before, err := s.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("probe the store: %w", err)
	}
	winners, err := race(func(value []byte) error {
		_, err := s.CompareAndSwap(ctx, key, before.Revision, value)
		return err
	}, ErrChanged)
	if err != nil {
		return err
	}
	if winners > 1 {
		return broken("%d of %d writers have replaced the same revision of the key %s", winners, writers, key)
	}
	after, err := s.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("probe the store: %w", err)
	}
	if after.Revision == before.Revision || bytes.Equal(after.Value, before.Value) {
		return broken("%d of %d writers have replaced the key %s, and it is read as it was before", winners, writers, key)
	}
	// Also the value of before is another write.
	_, err = s.CompareAndSwap(ctx, key, before.Revision, before.Value)
	if err == nil {
		return broken("it has replaced a revision of the key %s that was replaced before", key)
	}
	if !errors.Is(err, ErrChanged) {
		return fmt.Errorf("probe the store: %w", err)
	}
	return nil
}

const writers = 4

// race lets all writers write a value of their own at the same time, and returns how many were
// not refused. Other hosts may take part.
func race(write func(value []byte) error, refused error) (winners int, err error) {
	results := make(chan error, writers)
	for range writers {
		go func() { results <- write([]byte(rand.Text())) }()
	}
	for range writers {
		switch result := <-results; {
		case result == nil:
			winners++
		case !errors.Is(result, refused):
			err = fmt.Errorf("probe the store: %w", result)
		}
	}
	return winners, err
}
