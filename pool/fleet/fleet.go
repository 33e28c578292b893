package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/trust"
)

// Version is that of the form.
const Version = 1

// A Fleet is what is stored. It is for people and for its submission; whether a part begins is
// decided from its own specification.
type Fleet struct {
	Version  int       `json:"v"`
	Name     string    `json:"name"`
	By       string    `json:"by"`
	Key      string    `json:"key"` // of the person who submitted it
	At       time.Time `json:"at"`
	Parts    []Part    `json:"parts"`
	Complete bool      `json:"complete"` // all of them are in the queue, or were
}

// A Part is one loop.
type Part struct {
	ID    string `json:"id"`
	Loop  string `json:"loop"`            // its name
	Needs []int  `json:"needs,omitempty"` // the places of those that it needs, which come before it
}

// A Task is a part that is to be submitted.
type Task struct {
	Spec  spec.Spec // without ID and Needs
	Needs []int
}

// maxParts bounds a fleet, as that of 'ralph fleet'.
const maxParts = 1000

// Submit puts a fleet into the queue, and returns what it submitted. After an error some of it may
// be there: the same call continues it. each is called after each part.
func Submit(ctx context.Context, s store.Store, name string, tasks []Task, key ed25519.PrivateKey, each func(n int)) ([]spec.Spec, error) {
	f, err := plan(name, tasks, key)
	if err != nil {
		return nil, err
	}
	if _, err := f.specs(tasks, key); err != nil { // before anything is written
		return nil, err
	}
	if err := f.begin(ctx, s); err != nil {
		return nil, err
	}
	specs, err := f.specs(tasks, key) // of an earlier call, under its IDs
	if err != nil {
		return nil, err
	}
	for n, sp := range specs {
		if err := queue.Put(ctx, s, sp); err != nil {
			return nil, fmt.Errorf("%w; %d of %d are submitted, and the same command goes on", err, n, len(specs))
		}
		each(n + 1)
	}
	return specs, f.complete(ctx, s)
}

// plan makes a fleet whose IDs are in the order of its tasks, which is that of the queue.
func plan(name string, tasks []Task, key ed25519.PrivateKey) (f Fleet, err error) {
	if err := spec.CheckWord("fleet", name); err != nil {
		return f, err
	}
	if len(tasks) == 0 || len(tasks) > maxParts {
		return f, fmt.Errorf("fleet %s has %d tasks: 1 to %d are possible", name, len(tasks), maxParts)
	}
	f = Fleet{Version: Version, Name: name, By: tasks[0].Spec.By, Key: trust.Public(key), At: time.Now().UTC().Truncate(time.Millisecond)}
	entropy := ulid.Monotonic(rand.Reader, 0)
	loops := map[string]bool{}
	for i, t := range tasks {
		id, err := ulid.New(ulid.Timestamp(f.At), entropy)
		if err != nil {
			return f, fmt.Errorf("make an id: %w", err)
		}
		if loops[t.Spec.Name] {
			return f, fmt.Errorf("two tasks of fleet %s would be loop %s: give one of them another name", name, t.Spec.Name)
		}
		if slices.ContainsFunc(t.Needs, func(n int) bool { return n < 0 || n >= i }) {
			return f, fmt.Errorf("%s comes before what it depends on", t.Spec.Name)
		}
		loops[t.Spec.Name] = true
		f.Parts = append(f.Parts, Part{ID: id.String(), Loop: t.Spec.Name, Needs: t.Needs})
	}
	return f, nil
}

// specs returns the specifications of the parts, signed.
func (f Fleet) specs(tasks []Task, key ed25519.PrivateKey) (specs []spec.Spec, err error) {
	for i, t := range tasks {
		sp := t.Spec
		sp.Version, sp.ID, sp.At, sp.By, sp.Fleet = spec.Version, f.Parts[i].ID, f.At, f.By, f.Name
		for _, n := range t.Needs {
			sp.Needs = append(sp.Needs, f.Parts[n].ID)
		}
		if err := errors.Join(sp.Check(), sp.Sign(key)); err != nil {
			return nil, fmt.Errorf("%s: %w", sp.Name, err)
		}
		specs = append(specs, sp)
	}
	return specs, nil
}

// begin stores the fleet, or continues that of an earlier call, whose tasks are the same.
func (f *Fleet) begin(ctx context.Context, s store.Store) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = s.PutIfAbsent(ctx, keys.Fleet(f.Name), text)
	if err == nil {
		return nil
	}
	there, _, problem := read(ctx, s, f.Name)
	switch {
	case errors.Is(problem, store.ErrNotFound):
		return fmt.Errorf("submit fleet %s: %w: the same command tries it again", f.Name, err)
	case problem != nil:
		return problem
	case there.Key != f.Key || there.Complete || !slices.EqualFunc(there.Parts, f.Parts, same):
		return fmt.Errorf("there is a fleet %s of %s already: choose another name", f.Name, there.By)
	}
	*f = there
	return nil
}

func same(a, b Part) bool { return a.Loop == b.Loop && slices.Equal(a.Needs, b.Needs) }

// complete notes that all parts are in the queue.
func (f Fleet) complete(ctx context.Context, s store.Store) error {
	for {
		there, revision, err := read(ctx, s, f.Name)
		if err != nil || there.Complete {
			return err
		}
		f.Complete = true
		text, err := json.Marshal(f)
		if err == nil {
			_, err = s.CompareAndSwap(ctx, keys.Fleet(f.Name), revision, text)
		}
		if !errors.Is(err, store.ErrChanged) {
			if err != nil {
				err = fmt.Errorf("all of fleet %s is submitted; note that: %w", f.Name, err)
			}
			return err
		}
	}
}

// ErrDamaged is the error of a fleet that cannot be understood.
var ErrDamaged = errors.New("it is damaged, or a newer ralph wrote it")

func read(ctx context.Context, s store.Store, name string) (f Fleet, revision store.Revision, err error) {
	entry, err := s.Get(ctx, keys.Fleet(name))
	if err != nil {
		return f, "", fmt.Errorf("read fleet %.80q: %w", name, err)
	}
	if json.Unmarshal(entry.Value, &f) != nil || f.Version != Version || f.Name != name || len(f.Parts) > maxParts {
		return Fleet{Name: name}, "", fmt.Errorf("read fleet %.80q: %w", name, ErrDamaged)
	}
	return f, entry.Revision, nil
}

// List returns the fleets of a pool, the newest first. Those that are damaged have only a name.
func List(ctx context.Context, s store.Store) (all []Fleet, err error) {
	for key, err := range s.List(ctx, keys.Fleets, "") {
		if err != nil {
			return nil, fmt.Errorf("list the fleets: %w", err)
		}
		f, _, err := read(ctx, s, key[len(keys.Fleets):])
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, err
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Fleet) int { return b.At.Compare(a.At) })
	return all, nil
}
