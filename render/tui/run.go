package tui

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/terminal"
)

// Options say which loop is shown, and how the program around reaches it.
type Options struct {
	Name string // of the loop, as a person types it
	Dir  string // the loop's folder
	Live bool   // a runner holds the loop's lock
	Head registry.Summary

	// Draft is a text that was not sent before, and Trouble why not; both are empty at first.
	Draft, Trouble string

	ReadOnly bool // nothing can be typed or sent
	Inline   bool // finished entries are printed into the scrollback
	Verbose  bool // also entries for what most people need not see

	// Replay plays the loop again instead of following it; nothing can be typed or sent.
	Replay *Replay

	Environ []string
	Now     func() time.Time
	// Send puts a command into the loop's inbox and returns its id.
	Send func(inbox.Command) (string, error)
	// Alive returns a context that ends when no runner holds the loop's lock. heard is set when an
	// event comes.
	Alive func(ctx context.Context, dir string, heard *atomic.Bool) context.Context
	// ShowCommit returns a commit of a project as text, which need not be clean; nil if none can be
	// read.
	ShowCommit func(ctx context.Context, project, commit string) (string, error)
	// Rest iterates over the events after seq that are in the journal now.
	Rest func(dir string, seq event.Seq) iter.Seq2[event.Event, error]
}

// Outcome is how the person left, and what is left to do.
type Outcome struct {
	// Ended is the loop's end as far as it was seen; Died says that its runner is gone without one.
	// If neither is set the loop continues.
	Ended *event.LoopEnded
	Died  bool
	// Resume is the text with which the person wants the loop resumed; empty if not. Raise are the
	// settings that this raises, as the person has seen it.
	Resume string
	Raise  map[string]string
	// Unsent are the texts that were typed and did not reach the loop.
	Unsent []string
}

// Run shows a loop until the person leaves. The error is that of [terminal.Run]; the outcome is
// valid with any error.
func Run(ctx context.Context, o Options, t terminal.Options) (Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, o)
	t.Context, t.Inline = ctx, o.Inline
	err := terminal.Run(m, t)
	cancel()
	return m.outcome(), err
}
