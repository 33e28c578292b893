package loop

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Input is one batch of drafts from one source.
type Input struct {
	Drafts []event.Draft
	// Commands are from the inbox. One that is already in the journal, because its file survived a
	// crash, is not recorded again.
	Commands []event.CommandReceived
	// Synced, if not nil, is called on the driver's goroutine after the input is durable and before
	// any decision follows from it.
	Synced func()
	// Release is called when the drafts' memory may be used again.
	Release func()
}

// Driver is the one goroutine that owns an Engine.
type Driver struct {
	Engine *Engine
	// Inputs is the only channel for inputs. Senders wait: an agent that prints faster than the
	// journal writes blocks on its pipe.
	Inputs chan Input
	Now    func() time.Time
	// Flush projects the state. It is called soon after a change, at most once in flushEvery. An
	// idle loop does not wake up for it.
	Flush func(*State)
	// InboxRead, if not nil, is closed when the commands that a resumed loop finds in its inbox are
	// recorded. Nothing is decided before, so that the first prompt contains them.
	InboxRead <-chan struct{}

	dirty   bool
	flushed time.Time
}

// flushEvery is how old state.json may be while events come.
const flushEvery = 250 * time.Millisecond

// Run handles inputs until the loop has ended, the journal fails, or ctx is done. After ctx is
// cancelled nothing more is recorded: the process has to exit at once. Its errors are those of the
// journal and of ctx.
func (d *Driver) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	held, err := d.waitForInbox(ctx)
	if err != nil {
		return err
	}
	// A resumed loop may have decisions to make before its first input.
	if err := d.Engine.Step(nil); err != nil {
		return err
	}
	for _, in := range held {
		if err := d.handle(in); err != nil {
			return err
		}
	}
	d.dirty = true
	for d.Engine.State().Lifecycle.Ended == nil {
		d.flush()
		deadline := d.arm(timer)
		before := d.Now()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case in := <-d.Inputs:
			if err := d.detectJump(before, policy.Deadline{}); err != nil {
				return err
			}
			if err := d.handle(in); err != nil {
				return err
			}
		case <-timer.C:
			if err := d.detectJump(before, deadline); err != nil {
				return err
			}
			if err := d.fire(deadline); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitForInbox records commands until InboxRead is closed, without deciding. It returns the other
// inputs.
func (d *Driver) waitForInbox(ctx context.Context) (held []Input, err error) {
	for waits := d.InboxRead; waits != nil; {
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

// minJump is the smallest jump: less can be an adjusted clock or a busy machine.
const minJump = 10 * time.Second

// detectJump records that the machine slept, its clock was set forward, or this process was stopped
// since before. Then the wall clock has advanced further than the monotonic clock, which stops
// during sleep, or a timer fires much too late. The deadlines of the agent and of the loop move by
// as much, because the agent could not be heard meanwhile. How long the process was stopped before
// a late timer is unknown, so all of the wait counts as lost.
func (d *Driver) detectJump(before time.Time, deadline policy.Deadline) error {
	now := d.Now()
	waited := now.Round(0).Sub(before.Round(0))
	return d.recordJump(now, waited, waited-now.Sub(before), deadline)
}

// recordJump records a jump after the driver waited for that long by the wall clock, which advanced
// by that much more than the monotonic clock.
func (d *Driver) recordJump(now time.Time, waited, by time.Duration, deadline policy.Deadline) error {
	switch deadline.Name {
	case policy.TimerIdle, policy.TimerTool, policy.TimerBackground, policy.TimerIteration, policy.TimerExitGrace, policy.TimerDuration:
		if now.Sub(deadline.At) >= minJump {
			by = max(by, waited)
		}
	}
	if by < minJump {
		return nil
	}
	return d.Engine.Step([]event.Draft{event.Encode(event.ClockJumped{By: by.Milliseconds()}, "clock")})
}

func (d *Driver) handle(in Input) error {
	if in.Release != nil {
		defer in.Release()
	}
	if d.Engine.State().Lifecycle.Ended != nil {
		// The jump of the clock has just ended the loop. A command's file remains.
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

// record makes the commands of an input durable.
func (d *Driver) record(in Input) error {
	if err := d.Engine.append(append(in.Drafts, d.newCommands(in.Commands)...)); err != nil {
		return err
	}
	if err := d.Engine.Sync(); err != nil {
		return err
	}
	in.Synced()
	return nil
}

// newCommands returns drafts of the commands that are not in the journal yet.
func (d *Driver) newCommands(commands []event.CommandReceived) []event.Draft {
	var drafts []event.Draft
	for _, c := range commands {
		if !d.Engine.State().Commands.Has(c.ID) {
			drafts = append(drafts, event.Encode(c, "inbox:"+c.ID))
		}
	}
	return drafts
}

// flush projects a changed state, unless it did so less than flushEvery ago.
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

// arm sets the timer to the earliest deadline. The zero deadline is that of a projection, or none.
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

// fire records that a deadline passed. If the timer fires before it by the wall clock, which can be
// set back or run slower, the driver arms the deadline again.
func (d *Driver) fire(deadline policy.Deadline) error {
	if deadline.Name == "" || d.Now().Before(deadline.At) {
		return nil
	}
	if due, found := d.Engine.State().Deadline(); !found || due != deadline {
		return nil // the deadline was moved meanwhile
	}
	return d.Engine.Step([]event.Draft{event.Encode(event.TimerFired{Name: deadline.Name}, "clock")})
}
