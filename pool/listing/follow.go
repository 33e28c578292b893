package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store"
)

// A Change is a line of 'ralph pool list --json --watch': a loop as it is now, the ID of one that
// is not listed any more, or when a host was last heard of. A line with Read comes after all others
// of a moment, and at least once a minute: a program whose reader is gone ends with it.
type Change struct {
	Loop *Row   `json:"loop,omitempty"`
	Here bool   `json:"here,omitempty"` // this host has the loop
	Gone string `json:"gone,omitempty"`
	// Heard is by the host's own clock, and to the minute.
	Host  string    `json:"host,omitempty"`
	Heard time.Time `json:"heard,omitzero"`
	Read  time.Time `json:"read,omitzero"`
}

const (
	roundEvery = time.Second      // at most
	roundTime  = 30 * time.Second // the longest: a store that does not answer is an error
	aliveEvery = time.Minute      // between two lines, at most
)

// Follow calls show with all that is listed, and with what changes, until ctx ends. A loop is read
// again when one of its keys was written; hosts and the queue are read at each beat.
func Follow(ctx context.Context, s store.Store, here string, show func(Change) error) error {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f := newFollower(s, here, show)
	go func() { stop(f.written.watch(inner, s)) }()
	for pause := roundTime; ; pause = live.BeatEvery {
		wait(inner, pause, f.written.some) // the first time, for the watch to begin
		if inner.Err() == nil {
			if err := f.round(inner); err != nil && inner.Err() == nil {
				return err
			}
			wait(inner, roundEvery, nil)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case inner.Err() != nil:
			return context.Cause(inner)
		}
	}
}

func wait(ctx context.Context, pause time.Duration, until <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-until:
	case <-timer.C:
	}
}

type follower struct {
	reader
	written written
	here    string
	show    func(Change) error

	shown map[string]string // rows by ID, as JSON
	heard map[string]time.Time
	said  time.Time // when the last line was shown
}

func newFollower(s store.Store, here string, show func(Change) error) *follower {
	return &follower{
		reader: reader{store: s, queue: queue.Reader{Store: s}}, here: here, show: show,
		shown: map[string]string{}, heard: map[string]time.Time{},
		written: written{loops: map[string]bool{}, all: true, some: make(chan struct{}, 1)},
	}
}

// round shows what has changed.
func (f *follower) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	heard, err := heard(ctx, f.store)
	if err != nil {
		return err
	}
	for host := range f.heard {
		if _, still := heard[host]; !still { // a pool deletes nothing
			return fmt.Errorf("the store has no beat of host %s any more: it is gone, or another one", host)
		}
	}
	rows, err := f.read(ctx, f.written.take())
	if err != nil {
		return err
	}
	var changes []Change
	for _, host := range slices.Sorted(maps.Keys(heard)) {
		if at := heard[host]; !at.IsZero() && !at.Equal(f.heard[host]) {
			changes = append(changes, Change{Host: host, Heard: at})
		}
	}
	f.heard = heard
	before := maps.Clone(f.shown)
	for i := range rows {
		r := &rows[i]
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode loop %s: %w", r.ID, err)
		}
		if f.shown[r.ID] != string(text) {
			f.shown[r.ID] = string(text)
			changes = append(changes, Change{Loop: r, Here: r.Host == f.here})
		}
		delete(before, r.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		delete(f.shown, id)
		changes = append(changes, Change{Gone: id})
	}
	if now := time.Now(); len(changes) > 0 || now.Sub(f.said) >= aliveEvery {
		f.said = now
		changes = append(changes, Change{Read: now.UTC()})
	}
	for _, c := range changes {
		if err := f.show(c); err != nil {
			return err
		}
	}
	return nil
}

// heard returns when each host was last heard of: the zero time where its beat is not understood.
func heard(ctx context.Context, s store.Store) (map[string]time.Time, error) {
	hosts, err := store.Names(ctx, s, keys.Hosts, keys.AfterHost)
	if err != nil {
		return nil, err
	}
	var beats []string
	for _, host := range hosts {
		beats = append(beats, keys.Beat(host))
	}
	entries, err := store.GetAll(ctx, s, beats)
	if err != nil {
		return nil, fmt.Errorf("read the beats of hosts: %w", err)
	}
	all := map[string]time.Time{}
	for i, host := range hosts {
		var b live.Beat
		if entries[i].Revision == "" {
			continue
		}
		_ = json.Unmarshal(entries[i].Value, &b) // a damaged one hides no loop
		all[host] = b.At.UTC().Truncate(time.Minute)
	}
	return all, nil
}

// written collects the loops whose keys were written since the last call of take.
type written struct {
	mu    sync.Mutex
	loops map[string]bool
	all   bool // any loop may be meant
	some  chan struct{}
}

// watch adds to it until ctx ends. It returns why the watch ended.
func (w *written) watch(ctx context.Context, s store.Store) error {
	for key, err := range s.Watch(ctx, keys.Loops) {
		if err != nil {
			return err
		}
		id, part, _ := strings.Cut(strings.TrimPrefix(key, keys.Loops), "/")
		if n, isChunk := keys.ChunkNumber(key); key != "" && part != "view" && !(isChunk && n == 0) {
			continue // it is in no row: the first chunk is the claim
		}
		if _, err := ulid.ParseStrict(id); key != "" && err != nil {
			continue // no loop of ralph's
		}
		w.mu.Lock()
		w.all = w.all || key == ""
		w.loops[id] = true
		w.mu.Unlock()
		select {
		case w.some <- struct{}{}:
		default:
		}
	}
	return errors.New("the watch of the store has ended")
}

// take returns the loops; nil if any may be meant.
func (w *written) take() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	loops, all := w.loops, w.all
	w.loops, w.all = map[string]bool{}, false
	if all {
		return nil
	}
	return loops
}
