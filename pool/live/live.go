// Package live is what hosts say of themselves and of their loops, for people and for lists. It is
// derived, may be old, and can be written again: no host decides from it whose a loop is.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
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
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read what loop %s does: %w", loop, err)
	}
	return ParseView(loop, entry.Value), nil
}

// ParseView is ReadView of a value that was read.
func ParseView(loop string, value []byte) *View {
	var v View
	if json.Unmarshal(value, &v) != nil || v.View == nil || v.Loop != loop {
		return nil
	}
	return &v
}

// A Cell is a key that one host at a time writes. It remembers the revision of its last write.
type Cell struct {
	Key string
	// Superseded reports whether the log has a claim after the writer's. Only that proves a value
	// of a later epoch: anyone who can write into the store may have written it. nil is never.
	Superseded func(context.Context) (bool, error)
	revision   store.Revision
}

// Put replaces the value, unless a later epoch has written it: then it is as good as replaced. What
// belongs to a host, such as a beat, has epoch 0, and no other is later.
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
		if c.Superseded == nil || json.Unmarshal(entry.Value, &now) != nil || now.Epoch <= epoch {
			continue
		}
		if over, err := c.Superseded(ctx); err != nil || over {
			c.revision = "" // the next call asks again
			return err
		}
	}
	return fmt.Errorf("write %s: another program writes it too: is there a second mirror of this host?", c.Key)
}

// PutView writes what a loop of this host does, under the epoch of v.
func (c *Cell) PutView(ctx context.Context, s store.Store, e registry.Entry, v View) error {
	found, err := client.At(e.Dir)
	if err != nil {
		return err
	}
	found.Name, found.Project, found.ID = e.Name, e.Project, e.ID
	if v.View, err = projector.Read(found); err != nil {
		return fmt.Errorf("read what the loop does: %w", err)
	}
	v.Version = 1
	return c.Put(ctx, s, v.Epoch, v)
}

// NoteLoop says that a host has a loop, or is about to have it. It is said before the host writes
// to the log, so that a loop is found by its host. One that was only claimed is in the queue.
func NoteLoop(ctx context.Context, s store.Store, host, loop string) error {
	_, err := s.PutIfAbsent(ctx, keys.HeldLoop(host, loop), nil)
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("note that host %s has loop %s: %w", host, loop, err)
	}
	return nil
}

// Loops returns the loops that were noted for a host, or for any host without one, in the order of
// their IDs.
func Loops(ctx context.Context, s store.Store, host string) (all []string, err error) {
	prefix := keys.Held
	if host != "" {
		prefix = keys.HeldBy(host)
	}
	for key, err := range s.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("list the loops of hosts: %w", err)
		}
		if id := path.Base(key); isID(id) {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// isID reports whether a loop of ralph's can have this ID: any host may write any key.
func isID(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}
