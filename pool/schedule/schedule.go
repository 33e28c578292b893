package schedule

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// Version is that of the form.
const Version = 1

// The policies for a run while the loop of the run before is not over, as 'ralph every' has them.
const (
	Skip    = "skip"
	Queue   = "queue"
	Replace = "replace"
)

// A Schedule is what is stored.
type Schedule struct {
	Version int       `json:"v"`
	Spec    spec.Spec `json:"spec"` // of a run without its time
	Runs    []Run     `json:"runs,omitempty"`
	Removed string    `json:"removed,omitempty"` // by whom; there is no run any more
	// Damaged says why what is stored is none; nothing else of it is to be relied on.
	Damaged error `json:"-"`
	// name and revision are those of what was read.
	name     string
	revision store.Revision
}

// Name is what people call it.
func (c Schedule) Name() string { return c.name }

// Outcomes of a run. The first three are followed by another one.
const (
	Stopping   = "stopping"   // the loop of the run before is asked to stop
	Waiting    = "waiting"    // it is submitted when that loop is over
	Submitting = "submitting" // it is put into the queue
	Submitted  = "submitted"
	Skipped    = "skipped"
)

// A Run is what was decided at a time of the schedule.
type Run struct {
	Due     time.Time `json:"due"`
	Missed  int       `json:"missed,omitempty"` // times before Due that no worker saw in time
	Outcome string    `json:"outcome"`
	ID      string    `json:"id,omitempty"`     // of its loop
	Before  string    `json:"before,omitempty"` // the ID of the loop of the run before, if it was not over
}

// maxRuns is how many of the last runs are kept.
const maxRuns = 30

// Make stores a schedule of a specification, which is signed.
func Make(ctx context.Context, s store.Store, sp spec.Spec, every spec.Every, key ed25519.PrivateKey) error {
	every.Made, every.Due = time.Now().UTC().Truncate(time.Second), time.Time{}
	sp.Version, sp.Every = spec.Version, &every
	if err := sp.Sign(key); err != nil {
		return err
	}
	if !slices.Contains([]string{Skip, Queue, Replace}, every.Overlap) {
		return fmt.Errorf("the overlap %q is none of skip, queue and replace", every.Overlap)
	}
	if err := errors.Join(spec.CheckWord("schedule", every.Schedule), sp.Run(every.Made).Check()); err != nil {
		return err
	}
	before, err := read(ctx, s, every.Schedule)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil && before.Damaged == nil:
		return err
	case before.Removed == "":
		return fmt.Errorf("there is a schedule %s: remove it, or choose another name", every.Schedule)
	}
	made := Schedule{Version: Version, Spec: sp, name: every.Schedule, revision: before.revision}
	if err := made.write(ctx, s); err != nil {
		now, problem := read(ctx, s, every.Schedule) // its answer may be lost
		if problem == nil && now.Spec.Signature == sp.Signature {
			return nil
		}
		return err
	}
	return nil
}

// Remove ends a schedule, also one that is damaged. Its loops go on.
func Remove(ctx context.Context, s store.Store, name, by string) error {
	for {
		now, err := read(ctx, s, name)
		if errors.Is(err, store.ErrNotFound) || err == nil && now.Removed != "" {
			return fmt.Errorf("there is no schedule %s", name)
		}
		if err != nil && now.Damaged == nil {
			return err
		}
		now.Removed = by
		if err := now.write(ctx, s); !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// List returns the schedules of the pool, by name, also those that are damaged.
func List(ctx context.Context, s store.Store) (all []Schedule, err error) {
	for key, err := range s.List(ctx, keys.Schedules, "") {
		if err != nil {
			return nil, fmt.Errorf("list the schedules: %w", err)
		}
		found, err := read(ctx, s, key[len(keys.Schedules):])
		if err != nil && found.Damaged == nil {
			return nil, err
		}
		if found.Removed == "" {
			all = append(all, found)
		}
	}
	return all, nil
}

// read returns with its error what is damaged as well: its name and its revision.
func read(ctx context.Context, s store.Store, name string) (Schedule, error) {
	found := Schedule{name: name}
	entry, err := s.Get(ctx, keys.Schedule(name))
	if err != nil {
		return found, fmt.Errorf("read schedule %s: %w", name, err)
	}
	problem := spec.CheckWord("schedule", name)
	if problem == nil {
		problem = json.Unmarshal(entry.Value, &found)
	}
	if problem == nil && found.Removed == "" && (found.Version != Version || found.Spec.Every == nil || found.Spec.Every.Schedule != name) {
		problem = fmt.Errorf("it has version %d, or is that of another name", found.Version)
	}
	found.name, found.revision = name, entry.Revision
	if problem != nil {
		found = Schedule{name: name, revision: entry.Revision, Damaged: fmt.Errorf("read schedule %s: %w", name, problem)}
	}
	return found, found.Damaged
}

func (c Schedule) write(ctx context.Context, s store.Store) error {
	text, err := json.Marshal(c)
	if err == nil {
		_, err = s.CompareAndSwap(ctx, keys.Schedule(c.name), c.revision, text)
	}
	if err != nil {
		return fmt.Errorf("write schedule %s: %w", c.name, err)
	}
	return nil
}

// last returns the last run; one that is due when the schedule was made if there is none.
func (c Schedule) last() Run {
	if len(c.Runs) == 0 {
		return Run{Due: c.Spec.Every.Made, Outcome: Skipped}
	}
	return c.Runs[len(c.Runs)-1]
}

// loop returns the ID of the loop that was submitted last; "" for none.
func (c Schedule) loop() (id string) {
	for _, r := range c.Runs {
		if r.ID != "" {
			id = r.ID
		}
	}
	return id
}
