package nats

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// recheck is how often a watch of a cluster asks whether anything was written.
	recheck = 10 * time.Second
	// queued is how many keys wait for a watcher.
	queued = 256
)

// Watch subscribes to what the server has stored.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := s.watch(ctx, prefix, func(key string) bool { return yield(key, nil) })
		if err != nil && ctx.Err() == nil {
			yield("", fmt.Errorf("watch %s: %w", prefix, err))
		}
	}
}

// watch returns without an error when yield does not want more.
func (s *Store) watch(ctx context.Context, prefix string, yield func(string) bool) error {
	keys, dropped := make(chan string, queued), make(chan struct{}, 1)
	subscription, err := s.conn.Subscribe(below(stored(s.bucket), prefix), func(m *nats.Msg) {
		key := exchange.Replace(strings.TrimPrefix(m.Subject, stored(s.bucket)))
		if !strings.HasPrefix(key, prefix) {
			return
		}
		select {
		case keys <- key:
		default:
			select {
			case dropped <- struct{}{}:
			default: // it is known
			}
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = subscription.Unsubscribe() }()
	var ticks <-chan time.Time
	if s.replicas() > 1 {
		ticker := time.NewTicker(recheck)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for last := uint64(0); ; {
		now, err := s.subscribed(ctx)
		if err != nil {
			return err
		}
		key, missed := "", true // whatever was written while there was no connection
		for {
			if (key != "" || missed) && !yield(key) {
				return nil
			}
			key, missed = "", false
			select {
			case key = <-keys:
				continue
			case <-dropped:
				missed = true
				continue
			case <-ticks:
				missed = s.written(now, &last)
				continue
			case <-ctx.Done():
				return nil
			case <-now.Done():
			}
			break
		}
	}
}

// subscribed waits until the server knows all subscriptions.
func (s *Store) subscribed(ctx context.Context) (now context.Context, err error) {
	for {
		if now, err = s.link.wait(ctx); err != nil {
			return nil, err
		}
		answer, cancel := context.WithTimeout(ctx, patience)
		stop := context.AfterFunc(now, cancel)
		err = s.conn.FlushWithContext(answer)
		stop()
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, nats.ErrConnectionClosed) {
			return now, errors.Join(err, ctx.Err())
		}
	}
}

// written tells whether anything was written since it was asked before. What is not known was.
func (s *Store) written(ctx context.Context, last *uint64) bool {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return true
	}
	before := *last
	*last = info.State.LastSeq
	return before != *last
}
