package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

// readInbox records commands of the inbox until ctx is done.
func (r *runner) readInbox(ctx context.Context, box *inbox.Box) {
	defer close(r.inboxClosed)
	wake := box.Watch(ctx)
	var asked chan struct{}
	for {
		items, err := patiently(ctx, box.Pending)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				gone := &executor.VanishedError{Part: "the inbox", Err: err}
				if _, err := os.Lstat(r.Dir); errors.Is(err, fs.ErrNotExist) {
					gone.Part = ""
				}
				err = gone
			}
			r.send(ctx, faultInput("inbox", err))
			return
		}
		if len(items) > 0 && !r.recordCommands(ctx, box, items) {
			return
		}
		if len(items) == inbox.PassLimit {
			continue
		}
		if asked != nil {
			close(asked)
			asked = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case asked = <-r.inboxReads:
		}
	}
}

// shortageTries is how often the inbox is read in a shortage, a second apart.
const shortageTries = 60

// patiently reads the inbox. Where descriptors or memory are short it tries again: another program
// may be the cause, and the loop works.
func patiently(ctx context.Context, pending func() ([]inbox.Item, error)) ([]inbox.Item, error) {
	for try := 1; ; try++ {
		items, err := pending()
		short := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
		if !short || try == shortageTries {
			return items, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}

// waitForInbox returns when all commands that are in the inbox now are recorded, or when the inbox
// is no longer read.
func (r *runner) waitForInbox(ctx context.Context) {
	done := make(chan struct{})
	select {
	case r.inboxReads <- done:
	case <-r.inboxClosed:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-r.inboxClosed:
	case <-ctx.Done():
	}
}

// recordCommands records commands and removes their files after the record is durable.
func (r *runner) recordCommands(ctx context.Context, box *inbox.Box, items []inbox.Item) bool {
	done := make(chan struct{})
	in := loop.Input{Synced: func() { close(done) }}
	for _, item := range items {
		if c := item.Command; c != nil {
			in.Commands = append(in.Commands, r.received(c))
			continue
		}
		in.Drafts = append(in.Drafts, event.Encode(event.CommandRefused{ID: "file:" + item.Reject.Name, Why: item.Reject.Reason}, "inbox"))
	}
	if !r.send(ctx, in) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-done:
	}
	for _, item := range items {
		// If the file cannot be moved, the box does not return it again, and the journal has it.
		if item.Command != nil {
			_ = box.Done(item.Command.ID)
		} else {
			_ = box.Reject(item.Reject.Name, item.Reject.Reason)
		}
	}
	return true
}

// faultInput reports an error of the runner itself.
func faultInput(where string, err error) loop.Input {
	return loop.Input{Drafts: []event.Draft{event.Encode(event.FaultRaised{Where: where, Error: err.Error(), Class: executor.Classify(err)}, "loop")}}
}

// forwardSignals turns signals into commands: the first stops after the iteration, the second stops
// now, the third kills.
func (r *runner) forwardSignals(ctx context.Context) {
	for _, kind := range []inbox.Kind{inbox.Stop, inbox.StopNow, inbox.Kill} {
		select {
		case <-ctx.Done():
			return
		case <-r.Signals:
			r.send(ctx, loop.Input{Drafts: []event.Draft{event.Encode(event.CommandReceived{
				ID: NewID(r.clock()), Kind: kind, From: policy.FromSignal,
			}, "loop")}})
		}
	}
}

// send passes an input to the driver. It reports false if ctx ends first.
func (r *runner) send(ctx context.Context, in loop.Input) bool {
	select {
	case <-ctx.Done():
		return false
	case r.driver.Inputs <- in:
		return true
	}
}
