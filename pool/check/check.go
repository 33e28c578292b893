package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/tree"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Options say what is checked.
type Options struct {
	Store  store.Store
	Host   string // the name of this host in the pool
	Home   string // of ralph, whose journals are compared
	Repair bool
	Say    func(text string) // is called every second
	Clock  func() time.Time
}

// A Report is what was found.
type Report struct {
	Loops   []Loop    `json:"loops"`
	Queue   int       `json:"queue"` // specifications
	Wrong   []Problem `json:"wrong,omitempty"`
	Seconds float64   `json:"seconds"`
}

// A Loop is what was found of one loop.
type Loop struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Host   string `json:"host,omitempty"`
	Epoch  uint64 `json:"epoch"`
	Chunks int    `json:"chunks"`
	Events uint64 `json:"events"`
	Blobs  int    `json:"blobs"`
	Tree   uint64 `json:"tree,omitempty"` // the number of the newest, plus 1
	// Verified: the complete journal can be assembled, as its host wrote it.
	Verified bool `json:"verified"`
	// Unsealed are the events of this host's journal that the pool does not have.
	Unsealed uint64       `json:"unsealed,omitempty"`
	Damages  []log.Damage `json:"damages,omitempty"`
	Wrong    []Problem    `json:"wrong,omitempty"`
}

// A Problem is something that cannot be relied on.
type Problem struct {
	What     string `json:"what"`
	Repaired bool   `json:"repaired"`
}

// OK reports whether nothing is wrong that was not repaired.
func (r Report) OK() bool {
	wrong := r.Wrong
	for _, l := range r.Loops {
		wrong = append(wrong[:len(wrong):len(wrong)], l.Wrong...)
	}
	for _, p := range wrong {
		if !p.Repaired {
			return false
		}
	}
	return true
}

func (l *Loop) wrong(format string, args ...any) {
	l.Wrong = append(l.Wrong, Problem{What: fmt.Sprintf(format, args...)})
}

// a checker checks one pool.
type checker struct {
	Options
	here map[string][]registry.Status // by the ID in the pool
}

// Check reads everything. An error is one of the store or of this host; what is wrong with what is
// stored is in the report.
func Check(ctx context.Context, o Options) (r Report, err error) {
	begin := time.Now()
	c := checker{Options: o}
	if c.here, err = journals(o.Home); err != nil {
		return r, err
	}
	said := begin
	for id, err := range log.Loops(ctx, o.Store) {
		if err != nil {
			return r, err
		}
		if time.Since(said) > time.Second {
			said = time.Now()
			o.Say(fmt.Sprintf("%d loops read, now %s", len(r.Loops), id))
		}
		l, err := c.loop(ctx, id)
		if err != nil {
			return r, fmt.Errorf("check loop %s: %w", id, err)
		}
		r.Loops = append(r.Loops, l)
	}
	if err := c.queue(ctx, &r); err != nil {
		return r, err
	}
	r.Seconds = time.Since(begin).Seconds()
	return r, nil
}

// journals returns the loops of this host, by their IDs in the pool.
func journals(home string) (map[string][]registry.Status, error) {
	all, err := registry.Survey(home, nil)
	if err != nil {
		return nil, err
	}
	here := map[string][]registry.Status{}
	for _, s := range all {
		if s.Err != nil || s.Gone {
			continue
		}
		id := s.ID
		if m, err := membership.Read(s.Dir); err == nil && m.Loop != "" {
			id = m.Loop
		}
		here[id] = append(here[id], s)
	}
	return here, nil
}

// loop checks one loop, in a folder that it removes.
func (c *checker) loop(ctx context.Context, id string) (l Loop, err error) {
	scratch, err := os.MkdirTemp("", "ralph-check-")
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	l = Loop{ID: id}
	r := log.Reader{Store: c.Store, Loop: id}
	found, err := r.Journal(ctx, filepath.Join(scratch, "loop"))
	switch {
	case errors.Is(err, log.ErrNone):
		l.wrong("it has no log: chunk 0 is missing")
		return l, nil
	case err != nil:
		l.wrong("%v", err) // what follows is unknown
		return l, ctx.Err()
	}
	folder := filepath.Join(scratch, "loop")
	if c.Repair && slices.ContainsFunc(found.Damages, func(d log.Damage) bool { return !d.Repaired }) {
		if found, err = c.repair(ctx, id, found, folder); err != nil {
			return l, err
		}
	}
	l.Host, l.Epoch, l.Chunks, l.Events, l.Tree = found.Tail.Host, found.Tail.Epoch, found.Chunks, uint64(found.Tail.Last), found.Tail.Tree
	l.Damages = found.Damages
	complete := true
	for _, d := range found.Damages {
		by := ""
		if d.By != "" {
			by = " (its lines were stored again by " + d.By + ")"
		}
		l.Wrong = append(l.Wrong, Problem{d.String() + by, d.Repaired})
		complete = complete && d.Repaired
	}
	if err := c.blobs(ctx, &l, folder); err != nil {
		return l, err
	}
	if complete && found.Tail.Last > 0 {
		l.Verified = c.verify(&l, folder)
	}
	if complete {
		if err := c.compare(&l, found, folder); err != nil {
			return l, err
		}
	}
	return l, c.tree(ctx, &l, filepath.Join(scratch, "tree"))
}

// verify reads the assembled journal.
func (c *checker) verify(l *Loop, folder string) bool {
	ok := true
	if err := journal.Verify(folder, func(s journal.SegmentReport) {
		if s.Problem != nil {
			ok = false
			l.wrong("its journal: %v", s.Problem)
		}
	}); err != nil && ok {
		ok = false
		l.wrong("its journal: %v", err)
	}
	if loaded, err := projector.Load(folder); err == nil {
		l.Name = loaded.View().Name
	}
	return ok
}

// queue reads all specifications.
func (c *checker) queue(ctx context.Context, r *Report) error {
	for key, err := range c.Store.List(ctx, keys.Queue, "") {
		if err != nil {
			return fmt.Errorf("list the queue: %w", err)
		}
		entry, err := c.Store.Get(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		r.Queue++
		var s spec.Spec
		if err := json.Unmarshal(entry.Value, &s); err != nil {
			r.Wrong = append(r.Wrong, Problem{What: fmt.Sprintf("the specification %s cannot be read: %v", key, err)})
		} else if s.ID != path.Base(key) {
			r.Wrong = append(r.Wrong, Problem{What: fmt.Sprintf("the specification %s is of loop %.60q", key, s.ID)})
		}
	}
	return nil
}

// tree unpacks the newest tree, and stores a new one if that is damaged.
func (c *checker) tree(ctx context.Context, l *Loop, into string) error {
	if l.Tree == 0 {
		return nil
	}
	if err := os.MkdirAll(into, 0o700); err != nil {
		return err
	}
	_, damage := tree.Get(ctx, c.Store, l.ID, l.Tree-1, into)
	if damage == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	l.wrong("%v", damage)
	if !c.Repair {
		return nil
	}
	for _, s := range c.here[l.ID] {
		if c.has(s, l.Host, l.Epoch) {
			n := uint64(l.Chunks)
			if err := tree.PutAll(ctx, c.Store, s.Dir, l.ID, n); err != nil {
				return fmt.Errorf("store the files again: %w", err)
			}
			l.Wrong[len(l.Wrong)-1].What += fmt.Sprintf("; tree %d has the files as they are now", n)
			l.Wrong[len(l.Wrong)-1].Repaired = true
			return nil
		}
	}
	return nil
}

// has reports whether a folder here has the loop under that epoch.
func (c *checker) has(s registry.Status, host string, epoch uint64) bool {
	m, err := membership.Read(s.Dir)
	if m.Epoch == 0 {
		m.Epoch, m.Host = 1, c.Host
	}
	if _, moved := os.Lstat(filepath.Join(s.Dir, "moved.json")); moved == nil {
		return false
	}
	return err == nil && c.Host == host && m.Host == host && m.Epoch == epoch
}

// String says it to a person.
func (p Problem) String() string {
	if p.Repaired {
		return p.What + ": repaired"
	}
	return p.What
}
