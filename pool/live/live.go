// Package live is what hosts say of themselves and of their loops, for people and for lists. It is
// derived, may be old, and can be written again: no host decides from it whose a loop is.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
)

// BeatEvery is the time between two beats of a host.
const BeatEvery = 20 * time.Second

// A Beat is a sign of life: keys.Beat. A host without one for a while may be slow, cut off or dead;
// a take-over that guesses wrong costs a fence, and never a fork.
type Beat struct {
	Version int       `json:"v"`
	Host    string    `json:"host"`
	At      time.Time `json:"at"` // by the host's clock
	Loops   int       `json:"loops"`
	Alive   int       `json:"alive"` // of them, those with a runner
}

// A View is what a loop does: keys.View. Its texts are from the journal, in which secrets are
// masked; its paths are those of its host.
type View struct {
	Version int             `json:"v"`
	Loop    string          `json:"loop"` // its ID in the pool
	Epoch   uint64          `json:"epoch"`
	Host    string          `json:"host"`
	At      time.Time       `json:"at"`
	View    *projector.View `json:"view"`
	// GivenUp says that its host could not begin it, and tries no more.
	GivenUp bool `json:"givenUp,omitempty"`
}

// ReadView returns what a loop does; nil if no host has said it. A damaged one is none.
func ReadView(ctx context.Context, s store.Store, loop string) (*View, error) {
	entry, err := s.Get(ctx, keys.View(loop))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what loop %s does: %w", loop, err)
	}
	var v View
	if json.Unmarshal(entry.Value, &v) != nil || v.View == nil || v.Loop != loop {
		return nil, nil
	}
	return &v, nil
}

// A Cell is a key that one host at a time writes. It remembers the revision of its last write.
type Cell struct {
	Key      string
	revision store.Revision
}

// Put replaces the value, unless a later epoch has written it: then it is as good as replaced. A
// beat has no epoch.
func (c *Cell) Put(ctx context.Context, s store.Store, epoch uint64, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", c.Key, err)
	}
	for range 3 { // a rival that is always faster is a second program of that name
		revision, err := s.CompareAndSwap(ctx, c.Key, c.revision, text)
		if err == nil {
			c.revision = revision
			return nil
		}
		if !errors.Is(err, store.ErrChanged) {
			return fmt.Errorf("write %s: %w", c.Key, err)
		}
		entry, err := s.Get(ctx, c.Key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("read %s: %w", c.Key, err)
		}
		c.revision = entry.Revision
		var now struct {
			Epoch uint64 `json:"epoch"`
		}
		if json.Unmarshal(entry.Value, &now) == nil && now.Epoch > epoch {
			return nil
		}
	}
	return fmt.Errorf("write %s: another program writes it too: is there a second mirror of this host?", c.Key)
}
