package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// A Firer fires the schedules of a pool. It remembers when each is due next, so that ralph is not
// asked each time.
type Firer struct {
	// Times are the first times of an expression after one, n at most, and none after until unless
	// that is zero; nil for those of 'ralph every next'.
	Times func(ctx context.Context, every spec.Every, after, until time.Time, n int) ([]time.Time, error)

	next   map[string]coming
	judged map[string]bool // by ID, runs that are due
}

type coming struct{ after, at time.Time }

// most is how many missed times are counted.
const most = 10_000

// Uncounted reports whether more times were missed than were counted.
func (r Run) Uncounted() bool { return r.Missed >= most }

// Fire does what the schedules ask for now. It may be called on any number of hosts at the same
// time, and again after an error.
func (f *Firer) Fire(ctx context.Context, s store.Store, now time.Time) (err error) {
	for key, problem := range s.List(ctx, keys.Schedules, "") {
		if problem != nil {
			return errors.Join(err, fmt.Errorf("list the schedules: %w", problem))
		}
		name := key[len(keys.Schedules):]
		if problem := f.fire(ctx, s, name, now); problem != nil {
			err = errors.Join(err, fmt.Errorf("schedule %s: %w", name, problem))
		}
	}
	return err
}

// fire takes one step after another, each of which is written before the next one.
func (f *Firer) fire(ctx context.Context, s store.Store, name string, now time.Time) error {
	for ctx.Err() == nil {
		c, err := read(ctx, s, name)
		if err != nil || c.Removed != "" {
			return err
		}
		more, err := f.step(ctx, s, &c, now)
		if err != nil || !more {
			return err
		}
		// Another host may be faster. After any other error it is unknown what is written.
		if err := c.write(ctx, s); err != nil && !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
	return ctx.Err()
}

// step does what the last run asks for, or decides the next one. It reports whether the schedule
// has changed.
func (f *Firer) step(ctx context.Context, s store.Store, c *Schedule, now time.Time) (changed bool, err error) {
	last := c.last()
	switch last.Outcome {
	case Stopping:
		err = stop(ctx, s, last.Before, c.Spec.By)
		last.Outcome = Waiting
	case Waiting:
		before, err := inspect(ctx, s, last.Before)
		if err != nil || before.alive {
			return false, err
		}
		last.Outcome = Submitting
	case Submitting:
		err = queue.Put(ctx, s, c.Spec.Run(last.Due))
		last.Outcome = Submitted
	default:
		return f.decide(ctx, s, c, now)
	}
	if len(c.Runs) > 0 {
		c.Runs[len(c.Runs)-1] = last
	}
	return err == nil, err
}

// decide adds the run whose time has come.
func (f *Firer) decide(ctx context.Context, s store.Store, c *Schedule, now time.Time) (bool, error) {
	due, err := f.due(ctx, *c.Spec.Every, c.last().Due, now)
	if err != nil || len(due) == 0 {
		return false, err
	}
	r := Run{Due: due[len(due)-1].UTC(), Missed: len(due) - 1}
	if len(due) == most {
		r.Missed = most
		if r.Due, err = f.latest(ctx, *c.Spec.Every, r.Due, now); err != nil {
			return false, err
		}
	}
	before, err := inspect(ctx, s, c.loop())
	if err != nil {
		return false, err
	}
	if r.Outcome = Decide(c.Spec.Every.Overlap, before.alive, before.claimed); r.Outcome != Skipped {
		r.ID = c.Spec.Run(r.Due).ID
	}
	if before.alive {
		r.Before = c.loop()
	}
	c.Runs = append(c.Runs, r)
	c.Runs = c.Runs[max(0, len(c.Runs)-maxRuns):]
	return true, nil
}

// Decide says what becomes of a run, from whether the loop of the run before is alive, and whether
// a host has claimed it: one that none has is the one that waits.
func Decide(overlap string, alive, claimed bool) string {
	switch {
	case !alive:
		return Submitting
	case overlap == Queue && claimed:
		return Waiting
	case overlap == Replace && claimed:
		return Stopping
	}
	return Skipped
}

// due returns the times after one until now.
func (f *Firer) due(ctx context.Context, every spec.Every, after, now time.Time) ([]time.Time, error) {
	known, ok := f.next[every.Schedule]
	if ok && known.after.Equal(after) && now.Before(known.at) {
		return nil, nil
	}
	due, err := f.times(ctx, every, after, now, most)
	if err != nil || len(due) > 0 {
		return due, err
	}
	next, err := f.times(ctx, every, after, time.Time{}, 1)
	if err == nil && len(next) > 0 {
		if f.next == nil {
			f.next = map[string]coming{}
		}
		f.next[every.Schedule] = coming{after, next[0]}
	}
	return nil, err
}

// latest returns the last time that is due: this one, or a later one. It looks at longer and longer
// times before now, so that a schedule that is years behind costs a few calls.
func (f *Firer) latest(ctx context.Context, every spec.Every, due, now time.Time) (time.Time, error) {
	for back := time.Hour; ; back *= 4 {
		from := due
		if recent := now.Add(-back); back < longest && recent.After(due) {
			from = recent
		}
		later, err := f.times(ctx, every, from, now, most)
		switch {
		case err != nil:
			return due, err
		case len(later) == most: // there may be more
			due, back = later[most-1].UTC(), time.Hour/4
		case len(later) > 0:
			return later[len(later)-1].UTC(), nil
		case from.Equal(due):
			return due, nil
		}
	}
}

// longest is what is looked at in pieces: about 100 years.
const longest = 876_000 * time.Hour

func (f *Firer) times(ctx context.Context, every spec.Every, after, until time.Time, n int) (all []time.Time, err error) {
	if f.Times != nil {
		return f.Times(ctx, every, after, until, n)
	}
	args := []string{"every", "next", "--json", "--timezone=" + every.Zone, "--after=" + after.UTC().Format(time.RFC3339), fmt.Sprintf("--number=%d", n)}
	if !until.IsZero() {
		args = append(args, "--until="+until.UTC().Format(time.RFC3339))
	}
	text, err := program.Run(ctx, append(args, "--", every.Expression)...)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("find the times of %q: %w", every.Expression, err)
	}
	return all, nil
}

// Judge refuses a run that is not due: who can write into the store could submit a signed
// specification at any time. It says why; empty for one that is due, and for what has no schedule.
func (f *Firer) Judge(ctx context.Context, sp spec.Spec, now time.Time) (why string, err error) {
	if sp.Every == nil || f.judged[sp.ID] {
		return "", nil
	}
	at := sp.Every.Due
	if at.After(now) {
		return fmt.Sprintf("is due at %s", at.Format(time.RFC3339)), nil
	}
	due, err := f.times(ctx, *sp.Every, at.Add(-time.Second), at, 1)
	if err != nil {
		return "", err
	}
	if !at.After(sp.Every.Made) || !slices.ContainsFunc(due, at.Equal) {
		return fmt.Sprintf("schedule %s is not due at %s", sp.Every.Schedule, at.Format(time.RFC3339)), nil
	}
	if f.judged == nil {
		f.judged = map[string]bool{}
	}
	f.judged[sp.ID] = true
	return "", nil
}

// before is what the pool knows of the loop of a run.
type before struct {
	alive   bool // it waits in the queue, or a host has it, and it has neither ended nor been given up
	claimed bool
	host    string
}

func inspect(ctx context.Context, s store.Store, id string) (b before, err error) {
	if id == "" {
		return b, nil
	}
	held, err := queue.Hold(ctx, s, id)
	if err != nil || held.Withdrawn {
		return b, err
	}
	b = before{alive: true, claimed: held.Epoch > 0, host: held.Host}
	entry, err := s.Get(ctx, keys.View(id))
	if errors.Is(err, store.ErrNotFound) {
		return b, nil
	}
	var v live.View
	if err == nil {
		err = json.Unmarshal(entry.Value, &v)
	}
	if err != nil {
		return b, fmt.Errorf("read what loop %s does: %w", id, err)
	}
	b.alive = v.View == nil || v.Loop != id || !v.View.Status.Ended() && !v.GivenUp
	return b, nil
}

// stop asks a loop to end after its iteration. Asked twice, it ends once.
func stop(ctx context.Context, s store.Store, id, by string) error {
	b, err := inspect(ctx, s, id)
	if err != nil || !b.alive || !b.claimed {
		return err
	}
	// Under any epoch: the loop may have been taken over since it began.
	_, err = command.Send(ctx, s, id, b.host, 0, inbox.Command{Kind: inbox.Stop, From: "every:" + by})
	return err
}

// Next returns the next times of a schedule, in its zone.
func Next(ctx context.Context, every spec.Every, after time.Time, n int) ([]time.Time, error) {
	return (&Firer{}).times(ctx, every, after, time.Time{}, n)
}
