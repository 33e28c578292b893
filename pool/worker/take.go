package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/pool/live"
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
func (w *Worker) takeOver(ctx context.Context, now time.Time) error {
	var dead []string
	for _, host := range w.beats.dead(now) {
		draining, err := IsDraining(ctx, w.Store, host)
		if err != nil {
			return err
		}
		if !draining && host != w.Host {
			dead = append(dead, host)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	ids, err := LoopIDs(ctx, w.Store)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if w.running() >= w.Slots {
			return nil
		}
		if w.isTended(id) || w.Only != "" && id != w.Only {
			continue
		}
		if err := w.takeFrom(ctx, dead, id); err != nil {
			w.say(id, "loop %s: %v", id, err)
		}
	}
	return nil
}

// takeFrom takes over a loop, if one of these hosts has it and it has not ended.
func (w *Worker) takeFrom(ctx context.Context, dead []string, id string) error {
	v, err := live.ReadView(ctx, w.Store, id)
	if err != nil || v != nil && (v.View.Status.Ended() || !slices.Contains(dead, v.Host)) {
		return err
	}
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
