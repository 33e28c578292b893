package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store"
)

const (
	// heardFor is how long a host counts as alive after a sign of life.
	heardFor = 60 * time.Second
	// watchFor is how long one without a recent sign of life is watched: its clock may be wrong.
	watchFor = live.BeatEvery + 5*time.Second
)

// A heardError says that a host is alive, as far as this one can see.
type heardError struct {
	host  string
	since string
}

func (e *heardError) Error() string {
	return fmt.Sprintf("host %s was heard of %s, and has the loop: 'ralph stop' there ends it; "+
		"--now takes it over all the same, and its agent there is stopped", e.host, e.since)
}

// silent returns an error if a host has given a sign of life. A host that has never given one is
// silent.
func (t *taking) silent(ctx context.Context, host string) error {
	before, err := t.Store.Get(ctx, keys.Beat(host))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read when host %s was heard of: %w", host, err)
	}
	var beat live.Beat
	if err := json.Unmarshal(before.Value, &beat); err != nil {
		return fmt.Errorf("read when host %s was heard of: %w; --now does not ask", host, err)
	}
	ago := t.Clock().Sub(beat.At)
	if ago.Abs() < heardFor {
		return &heardError{host, fmt.Sprintf("%d s ago", int(ago.Seconds()))}
	}
	t.say("host %s was heard of %s ago by its clock; watching it for %s, because clocks may be wrong (--now does not wait)",
		host, ago.Round(time.Second), watchFor)
	watching, stop := context.WithTimeout(ctx, watchFor)
	defer stop()
	for _, err := range t.Store.Watch(watching, keys.Beat(host)) {
		if err != nil && watching.Err() == nil {
			return fmt.Errorf("watch whether host %s is heard of: %w; --now does not ask", host, err)
		}
		after, err := t.Store.Get(ctx, keys.Beat(host))
		if err == nil && after.Revision != before.Revision {
			return &heardError{host, "right now, though its clock is wrong by some " + ago.Round(time.Minute).Abs().String()}
		}
	}
	return ctx.Err()
}
