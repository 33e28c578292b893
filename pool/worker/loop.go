package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// maxFailures is how often a step of a loop may fail, one time after another, until the worker
// gives the loop up: after some four minutes.
const maxFailures = 10

// errGivenUp says that the same step would fail again.
var errGivenUp = errors.New("given up")

// follow looks after a loop until there is nothing left to do with it, or ctx ends.
func (w *Worker) follow(ctx context.Context, id string) {
	failures, wait, last := 0, time.Second, event.Seq(0)
	for ctx.Err() == nil {
		finished, seq, err := w.step(ctx, id)
		if seq > last {
			failures, wait, last = 0, time.Second, seq // it does something
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && finished == "":
			w.note(id, "")
			continue
		case err != nil:
			w.note(id, err.Error())
			w.say(id, "loop %s: %v", id, err)
			if failures++; failures < maxFailures && !errors.Is(err, errGivenUp) {
				pause(ctx, wait)
				wait = min(2*wait, time.Minute)
				continue
			}
			finished = "given up: " + err.Error()
			w.giveUp(ctx, id, finished)
		}
		if err := w.finish(id, finished); err != nil {
			w.note(id, err.Error())
			w.say(id, "%v", err)
		}
		return
	}
}

// giveUp says that a loop does not run, and frees what is reserved for it.
func (w *Worker) giveUp(ctx context.Context, id, why string) {
	w.show(ctx, id, why, true)
	cost := new(float64)
	if found, err := w.find(id); err != nil || found != nil {
		return // 'ralph start --resume' continues it
	}
	if err := w.settle(ctx, id, cost); err != nil {
		w.say(id, "%v", err)
	}
}

// step takes a loop from where it is to where it can be taken. finished says why nothing is left to
// do; seq is how far the loop is.
func (w *Worker) step(ctx context.Context, id string) (finished string, seq event.Seq, err error) {
	found, err := w.find(id)
	if err != nil {
		return "", 0, err
	}
	if found != nil && neverBegan(*found) {
		if err := registry.Remove(w.Home, found.Project, found.Name); err != nil {
			return "", 0, err
		}
		found = nil
	}
	if found == nil {
		finished, err = w.begin(ctx, id)
		return finished, 0, err
	}
	seq = found.Head.Seq
	switch {
	case found.Gone:
		return "its folder is gone", seq, w.settle(ctx, id, nil)
	case isMoved(found.Dir):
		return "another host has it", seq, nil
	case found.Live.Alive:
		for e, err := range client.Follow(ctx, found.Dir, seq) {
			if err != nil { // its runner died, or the worker ends
				break
			}
			seq = e.Seq
		}
		if ctx.Err() == nil {
			client.AwaitExit(found.Dir)
		}
		return "", seq, nil
	case found.Err != nil:
		return "", seq, found.Err
	case found.Head.Status.Ended():
		v, err := projector.Read(*found)
		if err != nil {
			return "", seq, err
		}
		w.Say("%s: %s", found.Name, v.State)
		return "ended", seq, w.settle(ctx, id, v.Cost)
	}
	if err := w.rest(ctx, id); err != nil {
		return "", seq, err
	}
	w.Say("%s: its runner died, and it is resumed", found.Name)
	_, err = w.starter().Resume(ctx, *found)
	return "", seq, w.refusal(id, err)
}

// neverBegan reports whether a loop's runner was killed after it had entered the loop in the
// registry, and before its journal said that it began: it cannot be resumed.
func neverBegan(s registry.Status) bool {
	if s.Live.Alive || s.Err != nil || s.Gone || s.Head.Status != event.StatusUnknown {
		return false
	}
	if _, err := os.Lstat(filepath.Join(s.Dir, "journal")); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	for e, err := range journal.Read(s.Dir, journal.ReadOptions{}) {
		if err != nil || e.Type == event.TypeLoopStarted || e.Seq > 2 {
			return false
		}
	}
	return true
}

// A death is that of a runner.
type death struct {
	resumed time.Time // when the runner was begun
	quick   int       // how many lived less than brief, one after the other
}

// brief is how long a runner lives that ends as soon as it was begun.
const brief = time.Minute

// restTime is the first pause before a loop is resumed whose runner lived so briefly.
var restTime = time.Second

// rest waits before a loop is resumed, longer each time that its runner has lived briefly, and
// gives the loop up at last: each runner begins an agent, which costs money.
func (w *Worker) rest(ctx context.Context, id string) error {
	w.mu.Lock()
	d := w.deaths[id]
	w.mu.Unlock()
	d.quick++
	if time.Since(d.resumed) >= brief {
		d.quick = 0
	}
	if d.quick == maxFailures {
		return fmt.Errorf("%w: %d runners have died, each within %v", errGivenUp, d.quick, brief)
	}
	if d.quick > 0 {
		pause(ctx, restTime<<min(d.quick-1, 6))
	}
	d.resumed = time.Now()
	w.mu.Lock()
	w.deaths[id] = d
	w.mu.Unlock()
	return ctx.Err()
}

// find returns a loop of this host; nil if it has not begun here.
func (w *Worker) find(id string) (*registry.Status, error) {
	all, err := registry.Survey(w.Home, func(e registry.Entry) bool { return e.ID == id })
	if err != nil {
		return nil, fmt.Errorf("find loop %s: %w", id, err)
	}
	var found *registry.Status
	for _, s := range all {
		if s.ID == id && (found == nil || isMoved(found.Dir)) { // it may have come back, to another folder
			found = &s
		}
	}
	return found, nil
}

// begin starts a loop that this host has claimed, once it is certain that it has it.
func (w *Worker) begin(ctx context.Context, id string) (finished string, err error) {
	r, err := readRecord(w.Home, id)
	switch {
	case err != nil:
		return "", err
	case r == nil:
		return "its folder is gone", nil
	}
	held, err := queue.Hold(ctx, w.Store, id)
	if err == nil && !held.Mine(r.Claim) {
		held, err = w.claimAgain(ctx, *r, held)
	}
	if err != nil {
		return "", err
	}
	if !held.Mine(r.Claim) {
		return "another host has it", nil
	}
	if held.Begun {
		return "its folder is gone", w.settle(ctx, id, nil)
	}
	s, err := w.specified(*r)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errGivenUp, err)
	}
	w.show(ctx, id, "prepared on "+w.Host, false)
	project, err := w.checkout(ctx, s, held.Epoch)
	if err != nil {
		return "", err
	}
	return "", w.start(ctx, s, project, held.Epoch)
}

// specified is what this host has claimed, as its own record has it: what the store has may have
// been replaced since. Trust may have been withdrawn.
func (w *Worker) specified(r record) (s spec.Spec, err error) {
	s, err = spec.Decode(r.Record)
	switch {
	case err != nil:
		return s, fmt.Errorf("its specification is damaged: %w", err)
	case s.ID != r.Loop:
		return s, fmt.Errorf("its specification is that of loop %s", s.ID)
	}
	return s, w.trusts(s)
}

// claimAgain makes a claim whose answer is not known, or that was never sent. One that is in the
// log was made: another host has taken the loop over from it.
func (w *Worker) claimAgain(ctx context.Context, r record, held queue.Holder) (queue.Holder, error) {
	if held.Epoch != r.After || held.Begun {
		return held, nil
	}
	return r.Try(ctx, w.Store)
}

// start starts the loop in its project, under the ID of its specification.
func (w *Worker) start(ctx context.Context, s spec.Spec, project string, epoch uint64) error {
	dir := filepath.Join(project, client.Folder, s.Name)
	if link, err := os.Lstat(dir); err == nil && !link.IsDir() {
		return fmt.Errorf("%w: the repository has a file in the place of the loop's folder", errGivenUp)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("start loop %s: %w", s.Name, err)
	}
	if err := durable.ReplaceJSON(membership.File(dir), membership.Membership{Epoch: epoch, Host: w.Host, Loop: s.ID}); err != nil {
		return fmt.Errorf("start loop %s: %w", s.Name, err)
	}
	flags, err := spec.Flags(s.Start)
	if err != nil {
		return fmt.Errorf("%w: %w", errGivenUp, err)
	}
	more, err := w.unmerged(ctx, s, project)
	if err != nil {
		return fmt.Errorf("start loop %s: %w", s.Name, err)
	}
	start := w.starter()
	start.Project, start.Name, start.ID, start.Prompt = project, s.Name, s.ID, s.Prompt+more
	start.Flags = append(flags, "--trust") // the key that signed the specification is trusted
	if s.Budget > 0 {
		start.Flags = append(start.Flags, fmt.Sprintf("--set=limits.cost=%g", s.Budget))
	}
	_, err = start.Start(ctx)
	if err == nil {
		w.Say("%s: runs in %s", s.Name, project)
	}
	if err = w.refusal(s.ID, err); errors.Is(err, errGivenUp) {
		w.rememberRefusal(s, err)
	}
	return err
}

// refusal is the error of a start. What ralph refuses will be refused again, unless the loop has
// begun meanwhile.
func (w *Worker) refusal(id string, err error) error {
	refused, ok := errors.AsType[*client.ProgramError](err)
	if !ok || refused.Code != 2 {
		return err
	}
	if found, problem := w.find(id); problem == nil && found != nil && (found.Live.Alive || isMoved(found.Dir) || found.Head.Status.Ended()) {
		return nil
	}
	return fmt.Errorf("%w: %w", errGivenUp, err)
}

// isMoved reports whether another host has the loop.
func isMoved(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "moved.json"))
	return err == nil
}

// owns reports whether this host has a loop of the registry from the pool.
func (w *Worker) owns(s registry.Status) bool {
	c, err := membership.Read(s.Dir)
	return err == nil && c.Host == w.Host && (c.Loop != "" || c.From != "") && !isMoved(s.Dir)
}

// adopt looks after the loops that this host has already, as far as there are slots; those that
// have a runner in any case.
func (w *Worker) adopt(ctx context.Context) error {
	var rest []string
	ids, err := records(w.Home)
	if err != nil {
		return err
	}
	finished := map[string]bool{}
	for _, id := range ids {
		r, err := readRecord(w.Home, id)
		w.noteDamage(id, err)
		switch {
		case r != nil && r.Finished != "":
			finished[id] = true
		case r != nil:
			rest = append(rest, id)
		}
	}
	all, err := registry.Survey(w.Home, nil)
	if err != nil {
		return fmt.Errorf("read the loops of this host: %w", err)
	}
	for _, s := range all {
		switch {
		case s.ID == "" || s.Gone || !w.owns(s):
		case s.Live.Alive:
			w.tend(ctx, s.ID)
		case !finished[s.ID]:
			rest = append(rest, s.ID)
		}
	}
	for _, id := range rest {
		if w.running() >= w.Slots {
			return nil
		}
		w.tend(ctx, id)
	}
	return nil
}

// settle says in the account what the loop has cost.
func (w *Worker) settle(ctx context.Context, id string, cost *float64) error {
	held, err := queue.Hold(ctx, w.Store, id)
	if err != nil {
		return err
	}
	s, err := spec.Decode(held.Record)
	if err != nil || s.Account == "" {
		return nil // it is not from the queue, or has no account
	}
	return queue.Settle(ctx, w.Store, s.Account, id, cost)
}

// finish notes that nothing is left to do with a loop.
func (w *Worker) finish(id, why string) error {
	r, err := readRecord(w.Home, id)
	if err != nil {
		return err
	}
	if r == nil { // it was taken over
		r = &record{Claim: queue.Claim{Loop: id, Host: w.Host}}
	}
	r.Finished = why
	return r.write(w.Home)
}
