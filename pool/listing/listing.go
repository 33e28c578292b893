// Package listing shows the queue and the loops of all hosts of a pool, from what they say of
// themselves.
package listing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/projector"
)

// Queued is the state of a loop that no host has.
const Queued = "queued"

// A Row is a loop, or a specification that waits.
type Row struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Group projector.Group `json:"group"`
	State string          `json:"state"`
	// Host is who has the loop, under which epoch; empty and 0 for one that waits.
	Host              string    `json:"host,omitempty"`
	Epoch             uint64    `json:"epoch,omitempty"`
	Iteration         int       `json:"iteration"`
	MaximumIterations int       `json:"maximumIterations"`
	Cost              *float64  `json:"cost"` // dollars; null if it is unknown
	Priority          int       `json:"priority,omitempty"`
	Labels            []string  `json:"labels,omitempty"`
	Needs             []string  `json:"needs,omitempty"`
	By                string    `json:"by,omitempty"`
	Submitted         time.Time `json:"submitted,omitzero"`
	// Why says what a specification waits for, or what a person has to know of a loop.
	Why string `json:"why,omitempty"`
	// Fleet is the fleet that it is a part of.
	Fleet string `json:"fleet,omitempty"`
	// Parts are those of a fleet, which is a row of its own: see [Fleets].
	Parts []Row `json:"parts,omitempty"`
	// View is all that the loop's host says of it; nil before it has begun.
	View *projector.View `json:"view,omitempty"`
	item *queue.Item
	// givenUp says that its host could not begin it.
	givenUp bool
}

// Item is the entry of the queue of a loop that waits; nil for any other.
func (r Row) Item() *queue.Item { return r.item }

// Over reports whether a loop has ended, also if a person is to see to that, is withdrawn, or was
// given up.
func (r Row) Over() bool {
	return r.Group == projector.Over || r.View != nil && r.View.Ended != nil || r.givenUp
}

// Read returns all rows: what needs a person first, then what works, then what waits, in the order
// in which it will begin, then what is over; the newest first.
func Read(ctx context.Context, s store.Store) ([]Row, error) {
	return (&reader{store: s, queue: queue.Reader{Store: s}}).read(ctx, nil)
}

// A reader reads the rows again and again.
type reader struct {
	store store.Store
	queue queue.Reader
	loops map[string]Row // as they were last, without what workers report
}

// read returns all rows. Of the loops, it reads those again that may have changed, and lists them
// again if changed is nil.
func (r *reader) read(ctx context.Context, changed map[string]bool) ([]Row, error) {
	reports, err := worker.Reports(ctx, r.store)
	if err != nil {
		return nil, err
	}
	if err := r.readLoops(ctx, changed); err != nil {
		return nil, err
	}
	waiting, err := r.waiting(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Row{}
	for _, id := range slices.Sorted(maps.Keys(r.loops)) {
		rows = append(rows, r.loops[id].reported(reports))
	}
	for _, item := range waiting {
		rows = append(rows, queued(item, reports))
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if byGroup := a.Group.Compare(b.Group); byGroup != 0 {
			return byGroup
		}
		if (a.State == Queued) != (b.State == Queued) {
			return cmp.Compare(a.order(), b.order())
		}
		if a.State == Queued {
			return 0
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return rows, nil
}

func (r *reader) readLoops(ctx context.Context, changed map[string]bool) error {
	ids := slices.Sorted(maps.Keys(changed))
	if changed == nil {
		all, err := live.Loops(ctx, r.store, "")
		if err != nil {
			return err
		}
		r.loops, ids = map[string]Row{}, all
	}
	return r.readEach(ctx, ids)
}

// readEach reads the loops with these IDs. One that its host has only noted has no log, and no row.
func (r *reader) readEach(ctx context.Context, ids []string) error {
	var views []string
	for _, id := range ids {
		views = append(views, keys.View(id))
	}
	entries, err := store.GetAll(ctx, r.store, views)
	if err != nil {
		return err
	}
	for i, id := range ids {
		row, err := loop(ctx, r.store, id, entries[i].Value)
		if err != nil {
			return err
		}
		if row.State != "" || row.View != nil {
			r.loops[id] = row
		}
	}
	return nil
}

// waiting returns what no host has claimed. What a host has, and has not noted yet, becomes a loop.
func (r *reader) waiting(ctx context.Context) ([]*queue.Item, error) {
	items, err := r.queue.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(item *queue.Item) bool { _, known := r.loops[item.ID]; return known })
	var claims []string
	for _, item := range items {
		claims = append(claims, keys.Chunk(item.ID, 0))
	}
	claimed, err := store.GetAll(ctx, r.store, claims)
	if err != nil {
		return nil, err
	}
	var waiting []*queue.Item
	var unlisted []string
	for i, item := range items {
		if claimed[i].Revision == "" {
			waiting = append(waiting, item)
		} else {
			unlisted = append(unlisted, item.ID)
		}
	}
	return waiting, r.readEach(ctx, unlisted)
}

func (r Row) order() int {
	if r.State == Queued {
		return 1
	}
	return 0
}

func queued(item *queue.Item, reports []worker.Report) Row {
	s := item.Spec
	row := Row{
		ID: item.ID, Name: s.Name, Group: projector.Working, State: Queued, Priority: item.Priority,
		Labels: s.Labels, Needs: s.Needs, By: s.By, Submitted: s.At, item: item,
	}
	for _, r := range reports {
		if why := r.Refused[item.ID]; why != "" {
			row.Why = why
			break
		}
	}
	if row.Why == "" && item.Wrong != nil {
		row.Why = fmt.Sprintf("no worker runs it: %v", item.Wrong)
	}
	if len(reports) == 0 {
		row.Why = "no host has a worker: 'ralph pool worker'"
	}
	return row
}

// loop is the row of a loop that has a log.
func loop(ctx context.Context, s store.Store, id string, view []byte) (Row, error) {
	row := Row{ID: id, Group: projector.Working}
	if at, err := ulid.ParseStrict(id); err == nil {
		row.Submitted = at.Timestamp().UTC()
	}
	if v := live.ParseView(id, view); v != nil {
		row.Name, row.State, row.Host, row.Epoch, row.View = v.View.Name, v.View.State, v.Host, v.Epoch, v.View
		row.Iteration, row.MaximumIterations, row.Cost = v.View.Iteration, v.View.MaximumIterations, v.View.Cost
		row.givenUp = v.GivenUp
		row.Group, row.Why = cmp.Or(v.View.Group, projector.Working), cmp.Or(v.View.Question, asked(v.View), v.View.NextStep)
	} else if err := row.claimed(ctx, s); err != nil {
		return row, err
	}
	return row, nil
}

// reported is the row with the problem that the worker of its host has.
func (r Row) reported(reports []worker.Report) Row {
	for _, report := range reports {
		if problem := report.Problems[r.ID]; problem != "" && report.Host == r.Host {
			r.Why = problem
		}
	}
	return r
}

// asked is what the agent of a loop that works on asks, and how it is answered from any host; empty
// if something else is to be done. The view says what to enter on the loop's own host.
func asked(v *projector.View) string {
	open := v.OpenQuestions()
	if len(open) == 0 || !strings.HasPrefix(v.NextStep, "'ralph answer ") {
		return ""
	}
	return fmt.Sprintf("%s ('ralph pool answer %s -q %d TEXT')", open[0].Text, v.Name, open[0].Number)
}

// claimed fills in what the claim says, while no host says more.
func (r *Row) claimed(ctx context.Context, s store.Store) error {
	held, err := queue.Hold(ctx, s, r.ID)
	if errors.Is(err, queue.ErrDamaged) { // of this loop, and the others can be listed
		r.State, r.Group, r.Why = "damaged", projector.NeedsYou, fmt.Sprintf("%v: 'ralph pool check' says more", err)
		return nil
	}
	if err != nil || held.Epoch == 0 {
		return err
	}
	var sp spec.Spec
	_ = json.Unmarshal(held.Record, &sp) // a loop that was not submitted has none
	r.Name, r.State, r.Host, r.Epoch = sp.Name, "claimed", held.Host, held.Epoch
	r.Priority, r.By = sp.Priority, sp.By
	if held.Withdrawn {
		r.State, r.Group, r.Host, r.Epoch = "withdrawn by "+sp.Withdrawn, projector.Over, "", 0
	}
	return nil
}

// Find returns the one row that a name or an ID means: of several of that name, the one that is not
// over.
func Find(rows []Row, name string) (Row, error) {
	var found, over []Row
	for _, r := range rows {
		switch {
		case r.ID == name:
			return r, nil
		case r.Name == name && r.Over():
			over = append(over, r)
		case r.Name == name:
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		found = over
	}
	switch len(found) {
	case 0:
		return Row{}, fmt.Errorf("the pool has no loop %.80q: 'ralph pool list' shows all", name)
	case 1:
		return found[0], nil
	}
	return Row{}, fmt.Errorf("the pool has %d loops %s: name one by its ID, such as %s on %s", len(found), name, found[0].ID, cmp.Or(found[0].Host, "no host"))
}
