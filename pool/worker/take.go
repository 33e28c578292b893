package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
)

// specOf is the specification of a loop from the queue.
func specOf(held queue.Holder) (s spec.Spec) {
	_ = json.Unmarshal(held.Record, &s)
	return s
}

// takeOver takes over loops of hosts that give no sign of life. When it guesses wrong, the other
// host is fenced, and the loop runs once.
func (w *Worker) takeOver(ctx context.Context) error {
	dead := w.beats.dead()
	draining, err := Draining(ctx, w.Store, dead)
	if err != nil {
		return err
	}
	dead = slices.DeleteFunc(dead, func(host string) bool { return host == w.Host || slices.Contains(draining, host) })
	if len(dead) == 0 {
		return nil
	}
	noted := map[string]bool{}
	for _, host := range dead {
		ids, err := live.Loops(ctx, w.Store, host)
		if err != nil {
			return err
		}
		for _, id := range ids {
			noted[id] = true
			key, beat := keys.HeldLoop(host, id), w.beats.known[host].revision
			if seen, known := w.passed[key]; known && seen == beat {
				continue
			}
			over, err := w.tryTake(ctx, dead, id)
			if err != nil {
				w.say(id, "loop %s: %v", id, err)
			}
			if over {
				w.passed[key] = beat
			}
		}
	}
	for _, id := range w.reader.Held(dead) { // not begun, so that no mirror has noted it
		if noted[id] {
			continue
		}
		if _, err := w.tryTake(ctx, dead, id); err != nil {
			w.say(id, "loop %s: %v", id, err)
		}
	}
	return nil
}

// tryTake takes over a loop, if there is a slot and this worker may run it. over says that it has
// ended or was given up, or that another host has it.
func (w *Worker) tryTake(ctx context.Context, dead []string, id string) (over bool, err error) {
	if w.running() >= w.Slots || w.isTended(id) || w.Only != "" && id != w.Only {
		return false, nil
	}
	if _, known := w.held[id]; !known {
		held, err := queue.Hold(ctx, w.Store, id)
		if err != nil || held.Epoch == 0 {
			return false, err
		}
		w.held[id] = held
	}
	if !w.wanted(w.held[id]) {
		return false, nil
	}
	v, err := live.ReadView(ctx, w.Store, id)
	if err != nil {
		return false, err
	}
	over = v != nil && (v.View.Status.Ended() || v.GivenUp)
	if v != nil && !over && !slices.Contains(dead, v.Host) {
		// One that took it over may have died before it wrote a view.
		newest, err := log.Newest(ctx, w.Store, id)
		if err != nil {
			return false, err
		}
		if newest.Epoch > v.Epoch {
			v.Host, v.Epoch = newest.Host, newest.Epoch
		}
	}
	if over || v != nil && !slices.Contains(dead, v.Host) {
		return true, nil
	}
	return false, w.takeFrom(ctx, dead, id, v)
}

// takeFrom takes over a loop, if one of these hosts has it.
func (w *Worker) takeFrom(ctx context.Context, dead []string, id string, v *live.View) error {
	held, err := queue.Hold(ctx, w.Store, id)
	// Of a loop that has not begun, the log says who has it now; a view may be of the host before.
	if err != nil || (v == nil || !held.Begun) && !slices.Contains(dead, held.Host) || !w.wanted(held) {
		return err
	}
	w.Say("loop %s: host %s gives no sign of life, and the loop is taken over", id, held.Host)
	if held.Begun {
		epoch := held.Epoch // of the first events; later ones are in the view
		if v != nil {
			epoch = v.Epoch
		}
		into := filepath.Join(folder(w.Home, id), fmt.Sprintf("after-epoch-%d", epoch))
		if err := os.MkdirAll(folder(w.Home, id), 0o700); err != nil {
			return err
		}
		if err := w.Take(ctx, id, into); err != nil {
			return err
		}
		if err := w.reopen(id); err != nil {
			return err
		}
		w.tend(ctx, id)
		return nil
	}
	if known, err := readRecord(w.Home, id); err != nil || known != nil && known.Finished == "" {
		return err // it is being looked after
	}
	if err := live.NoteLoop(ctx, w.Store, w.Host, id); err != nil {
		return err
	}
	r := record{Claim: queue.NewClaim(id, w.Host, held.Record)}
	r.After = held.Epoch
	if err := r.write(w.Home); err != nil {
		return err
	}
	held, err = r.Try(ctx, w.Store)
	if err == nil && !held.Mine(r.Claim) {
		return remove(w.Home, id)
	}
	w.tend(ctx, id)
	return err
}

// reopen lets the worker look after a loop that it had before, and has again.
func (w *Worker) reopen(id string) error {
	r, err := readRecord(w.Home, id)
	if err != nil || r == nil || r.Finished == "" {
		return err
	}
	r.Finished = ""
	return r.write(w.Home)
}
