package loop

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Input is something that happened: one batch of drafts from one source.
type Input struct {
	Drafts []event.Draft
	// Commands came through the inbox. One that the journal has already, because
	// its file outlived a crash, is not recorded again.
	Commands []event.CommandReceived
	// Synced is called once all of it is durable, before anything that follows
	// from it is done; nil where nobody waits for that. It runs on the driver's goroutine.
	Synced func()
	// Release is called when the drafts' memory may be used again.
	Release func()
}

// Driver is the one goroutine that owns an Engine.
type Driver struct {
	Engine *Engine
	// Inputs is the one channel on which everything arrives. Senders wait: an agent
	// that prints faster than the journal writes is held back by its pipe.
	Inputs chan Input
	Now    func() time.Time
	// Flush projects the state: called soon after it changed, and not more often
	// than flushEvery. An idle loop does not wake up for it.
	Flush func(*State)
	// Before is closed when what was there before the loop went on is among the inputs; nil for nothing. Nothing is
	// decided until then, so that the first prompt has the words that were dropped for it.
	Before <-chan struct{}

	dirty   bool
	flushed time.Time
}

// flushEvery is how old state.json may be while events come.
const flushEvery = 250 * time.Millisecond

// Run takes inputs until the loop has ended, the journal fails, or ctx is done. A
// cancelled ctx means that the process has to go at once: nothing more is recorded.
// Only a journal that cannot be written and ctx are errors.
func (d *Driver) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	held, err := d.before(ctx)
	if err != nil {
		return err
	}
	// What the journal already holds may call for something: a resumed loop has
	// no input to begin with.
	if err := d.Engine.Step(nil); err != nil {
		return err
	}
	for _, in := range held {
		if err := d.take(in); err != nil {
			return err
		}
	}
	d.dirty = true
	for d.Engine.State().Life.Ended == nil {
		d.flush()
		deadline := d.arm(timer)
		before := d.Now()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case in := <-d.Inputs:
			if err := d.jump(before, policy.Deadline{}); err != nil {
				return err
			}
			if err := d.take(in); err != nil {
				return err
			}
		case <-timer.C:
			if err := d.jump(before, deadline); err != nil {
				return err
			}
			if err := d.fire(deadline); err != nil {
				return err
			}
		}
	}
	return nil
}

// before takes commands until Before is closed, and decides nothing yet. It returns what else came.
func (d *Driver) before(ctx context.Context) (held []Input, err error) {
	for waits := d.Before; waits != nil; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-waits:
			waits = nil
		case in := <-d.Inputs:
			if in.Synced == nil {
				held = append(held, in)
			} else if err := d.record(in); err != nil {
				return nil, err
			}
		}
	}
	return held, nil
}

// jumpLeast is what a clock may be off and a busy machine may be late by.
const jumpLeast = 10 * time.Second

// jump records that the machine slept, its clock was set on, or this process was stopped,
// while the driver waited since before. It shows by the wall clock's having gone further than the
// monotonic one, which stands still in sleep, or by a timer that comes much too late. The
// deadlines of the agent and the end of the loop's time move by as much: nobody could be heard. How much of the time before a late
// timer the process was stopped is not known, so all of it is taken for lost.
func (d *Driver) jump(before time.Time, deadline policy.Deadline) error {
	now := d.Now()
	waited := now.Round(0).Sub(before.Round(0))
	return d.jumped(now, waited, waited-now.Sub(before), deadline)
}

// jumped is jump where it was waited for so long by the wall clock, which went further than the
// other one by as much as by.
func (d *Driver) jumped(now time.Time, waited, by time.Duration, deadline policy.Deadline) error {
	switch deadline.Name {
	case policy.TimerIdle, policy.TimerTool, policy.TimerBackground, policy.TimerIteration, policy.TimerAfterResult, policy.TimerDuration:
		if now.Sub(deadline.At) >= jumpLeast {
			by = max(by, waited)
		}
	}
	if by < jumpLeast {
		return nil
	}
	return d.Engine.Step([]event.Draft{event.Encode(event.ClockJumped{By: by.Milliseconds()}, "clock")})
}

func (d *Driver) take(in Input) error {
	if in.Release != nil {
		defer in.Release()
	}
	if d.Engine.State().Life.Ended != nil {
		// The jump of the clock that was noticed on the way here was the end. A command's file stays.
		return nil
	}
	d.dirty = true
	if in.Synced == nil {
		return d.Engine.Step(in.Drafts)
	}
	if err := d.record(in); err != nil {
		return err
	}
	return d.Engine.Step(nil)
}

// record has the commands of an input on disk.
func (d *Driver) record(in Input) error {
	if err := d.Engine.append(append(in.Drafts, d.fresh(in.Commands)...)); err != nil {
		return err
	}
	if err := d.Engine.Sync(); err != nil {
		return err
	}
	in.Synced()
	return nil
}

// fresh returns drafts of the commands that the journal does not have yet.
func (d *Driver) fresh(commands []event.CommandReceived) []event.Draft {
	var drafts []event.Draft
	for _, c := range commands {
		if !d.Engine.State().Mail.Has(c.ID) {
			drafts = append(drafts, event.Encode(c, "inbox:"+c.ID))
		}
	}
	return drafts
}

// flush projects a state that changed, unless it did so a moment ago.
func (d *Driver) flush() {
	if !d.dirty || d.Flush == nil {
		return
	}
	now := d.Now()
	if since := now.Sub(d.flushed); since >= 0 && since < flushEvery {
		return
	}
	d.dirty, d.flushed = false, now
	d.Flush(d.Engine.State())
}

// arm sets the timer to the earliest deadline. The zero deadline stands for a
// projection that is due, or for none.
func (d *Driver) arm(timer *time.Timer) policy.Deadline {
	deadline, found := d.Engine.State().Deadline()
	if d.dirty && d.Flush != nil {
		if due := d.flushed.Add(flushEvery); !found || due.Before(deadline.At) {
			deadline, found = policy.Deadline{At: due}, true
		}
	}
	if !found {
		timer.Stop()
		return policy.Deadline{}
	}
	timer.Reset(max(0, deadline.At.Sub(d.Now())))
	return deadline
}

// fire records that a deadline passed. A timer may fire a little before the wall clock
// says so (the clock was set back, or the timer's own clock runs ahead); the deadline is
// then armed again.
func (d *Driver) fire(deadline policy.Deadline) error {
	if deadline.Name == "" || d.Now().Before(deadline.At) {
		return nil
	}
	if due, found := d.Engine.State().Deadline(); !found || due != deadline {
		return nil // it was moved meanwhile
	}
	return d.Engine.Step([]event.Draft{event.Encode(event.TimerFired{Name: deadline.Name}, "clock")})
}
