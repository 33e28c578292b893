package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/trust"
)

// claimQueued claims what this worker may run, while there are slots.
func (w *Worker) claimQueued(ctx context.Context) error {
	if err := w.schedules.Fire(ctx, w.Store, w.Now()); err != nil { // which keeps nothing else from running
		w.say("schedules", "%v", err)
	}
	waiting, err := w.reader.Waiting(ctx)
	if err != nil {
		return err
	}
	trusted, err := trust.Trusted(w.Home)
	if err != nil {
		return err
	}
	refused, needed := map[string]string{}, map[string]fleet.State{}
	for _, item := range waiting {
		if w.running() >= w.Slots {
			break
		}
		if w.Only != "" && item.ID != w.Only {
			continue
		}
		// What has a record is being looked after, with the claim that is there.
		if known, err := readRecord(w.Home, item.ID); err != nil || known != nil {
			if w.noteDamage(item.ID, err); known != nil && known.Finished != "" {
				w.reader.Claimed(item.ID, w.Host)
			}
			continue
		}
		why, err := w.unfit(ctx, item, trusted, needed)
		if err != nil {
			return err
		}
		if why != "" {
			if len(refused) < maxRefused {
				refused[item.ID] = why
			}
			continue
		}
		if err := w.claim(ctx, item); err != nil {
			return err
		}
	}
	w.refused = refused
	return nil
}

// unfit says why this worker does not run a specification now; empty if it does. needed has the
// states of loops that others need, as they were seen in this round.
func (w *Worker) unfit(ctx context.Context, item *queue.Item, trusted map[string]string, needed map[string]fleet.State) (why string, err error) {
	if item.Wrong != nil {
		return fmt.Sprintf("refused by host %s: %v", w.Host, item.Wrong), nil
	}
	s := item.Spec
	if err := s.Verify(); err != nil {
		return fmt.Sprintf("refused by host %s: %v", w.Host, err), nil
	}
	if _, known := trusted[s.Key]; !known {
		return fmt.Sprintf("waits for trust by host %s: 'ralph pool trust %s'", w.Host, s.Key), nil
	}
	if why, err := w.schedules.Judge(ctx, s, w.Now()); err != nil || why != "" {
		return why, err
	}
	if !w.hasLabels(s.Labels) {
		return "waits for a worker with the labels " + strings.Join(s.Labels, ", "), nil
	}
	if why := w.unable(ctx, s); why != "" {
		return why, nil
	}
	if why, err := w.needs(ctx, s, needed); err != nil || why != "" {
		return why, err
	}
	if s.Account == "" {
		return "", nil
	}
	held, err := queue.Hold(ctx, w.Store, s.ID)
	switch {
	case errors.Is(err, queue.ErrDamaged):
		return fmt.Sprintf("refused by host %s: %v", w.Host, err), nil
	case err != nil || held.Epoch > 0: // claimed or withdrawn, as the claim finds: no host would settle it
		return "", err
	}
	return queue.Reserve(ctx, w.Store, s.Account, s.ID, s.Budget)
}

// needs says what a specification waits for.
func (w *Worker) needs(ctx context.Context, s spec.Spec, needed map[string]fleet.State) (why string, err error) {
	var needs []fleet.State
	for _, id := range s.Needs {
		if _, seen := needed[id]; !seen {
			if needed[id], err = fleet.Observe(ctx, w.Store, id, id); err != nil {
				return "", err
			}
		}
		needs = append(needs, needed[id])
	}
	return fleet.Decide(needs).Why, nil
}

// claim claims a specification. Its record comes first: after a kill it says whose the claim is.
func (w *Worker) claim(ctx context.Context, item *queue.Item) error {
	r := record{Claim: queue.NewClaim(item.ID, w.Host, item.Text)}
	if err := r.write(w.Home); err != nil {
		return err
	}
	held, err := r.Try(ctx, w.Store)
	if err != nil {
		w.tend(ctx, item.ID) // it may have the loop, and continues with the same claim
		return err
	}
	w.reader.Claimed(item.ID, held.By())
	if !held.Mine(r.Claim) {
		err := remove(w.Home, item.ID)
		if held.Withdrawn && item.Spec.Account != "" {
			err = errors.Join(err, queue.Settle(ctx, w.Store, item.Spec.Account, item.ID, new(float64)))
		}
		return err
	}
	w.Say("%s: claimed", item.Spec.Name)
	w.tend(ctx, item.ID)
	return nil
}

// wanted reports whether this worker would run a loop that another host has begun. A loop that
// was not submitted to the queue has no record, and so no key that this host could trust: a
// person takes it over.
func (w *Worker) wanted(held queue.Holder) bool {
	if held.Withdrawn || len(held.Record) == 0 {
		return false
	}
	s, err := spec.Decode(held.Record)
	return err == nil && w.trusts(s) == nil && w.hasLabels(s.Labels)
}

// trusts refuses a specification that no key has signed which this host trusts.
func (w *Worker) trusts(s spec.Spec) error {
	if err := s.Verify(); err != nil {
		return err
	}
	trusted, err := trust.Trusted(w.Home)
	if err != nil {
		return err
	}
	if _, known := trusted[s.Key]; !known {
		return fmt.Errorf("this host does not trust key %s", s.Key)
	}
	return nil
}

// noteDamage says that the record of a loop cannot be read.
func (w *Worker) noteDamage(id string, err error) {
	if err != nil {
		w.say(id, "%v", err)
	}
}

func sorted(m map[string]bool) []string {
	var all []string
	for id := range m {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}
