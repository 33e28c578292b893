package tui

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/transcript"
)

// openedMsg is the loop as it was found.
type openedMsg struct {
	page     transcript.Page
	view     projector.View
	follower *follower // nil without a runner
	player   *player   // of a replay
	err      error
}

// changesMsg is what changed since the last frame.
type changesMsg struct {
	entries []transcript.Entry
	skipped bool // entries before these were left out
	view    projector.View
	use     transcript.Use
	over    bool // nothing comes any more
	died    bool
	err     error

	// of a replay
	page     *transcript.Page // instead of all that was shown, after a jump
	progress *progress
	saying   string
}

const (
	frame       = 33 * time.Millisecond
	firstEvents = 1000 // shown at first
	pageEvents  = 1000 // loaded at a time
	// eventsHeld is how many events are taken in without a frame. With more, the screen is not
	// drawn, because the terminal takes no output.
	eventsHeld = 20000
	// entriesShown is how many entries of one frame are shown.
	entriesShown = 500
)

// follower takes in the events of a loop as they come. Its own goroutine adds events; the command
// next takes what has changed.
type follower struct {
	ctx context.Context
	o   Options

	mu      sync.Mutex
	builder *transcript.Builder
	loop    *projector.Loop
	broken  bool // an event could not be folded
	held    int  // events since the last frame
	skipped bool
	use     transcript.Use
	seq     event.Seq
	over    bool
	died    bool
	err     error

	wake  chan struct{}
	paced *time.Timer // runs until the next frame may come

	// of a replay
	page     *transcript.Page     // instead of all that was shown
	taken    []transcript.Entry   // from the builder before the next frame
	progress func() (p *progress) // nil where the loop is followed
	saying   string               // for the person, once
}

// open reads the end of the journal, and begins to follow it.
func open(ctx context.Context, o Options) tea.Cmd {
	return func() tea.Msg {
		loop, err := projector.Load(o.Dir)
		if err != nil {
			return openedMsg{err: err}
		}
		view := loop.View()
		page, builder, from, err := transcript.Tail(o.Dir, firstEvents,
			transcript.Options{Project: view.Project, Maximum: view.MaximumIterations, Verbose: o.Verbose})
		if _, damaged := errors.AsType[*journal.CorruptError](err); err != nil && (!damaged || from.Segment == "") {
			return openedMsg{err: err, view: view}
		}
		f := &follower{ctx: ctx, o: o, builder: builder, loop: loop, seq: page.Last, use: page.Use, wake: make(chan struct{}, 1), paced: time.NewTimer(0)}
		for e, rest := range o.Rest(o.Dir, loop.Seq()) { // written between the two reads
			if rest != nil || e.Seq > page.Last {
				break
			}
			f.fold(e)
		}
		opened := openedMsg{page: page, view: f.loop.View(), err: err}
		if o.Live {
			opened.follower = f
			go f.run(from)
		}
		return opened
	}
}

// run follows the journal until the loop ends, its runner dies or the person leaves.
func (f *follower) run(from journal.Position) {
	var heard atomic.Bool
	alive := f.o.Alive(f.ctx, f.o.Dir, &heard)
	var failed error
	for e, err := range journal.Follow(alive, f.o.Dir, journal.FollowOptions{From: from, UntilEnded: true}) {
		if err != nil {
			failed = err
			break
		}
		heard.Store(true)
		f.add(e)
	}
	died := failed == nil && alive.Err() != nil && f.ctx.Err() == nil
	if died {
		for e, err := range f.o.Rest(f.o.Dir, f.seq) { // written before the lock was released
			if failed = err; err != nil {
				break
			}
			f.add(e)
		}
	}
	f.mu.Lock()
	f.over, f.died, f.err = true, died && f.loop.View().Ended == nil, failed
	f.mu.Unlock()
	f.ring()
}

func (f *follower) ring() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// add takes in an event.
func (f *follower) add(e event.Event) {
	f.mu.Lock()
	f.builder.Add(e)
	f.fold(e)
	f.seq = e.Seq
	if f.held++; f.held >= eventsHeld {
		f.builder.Take()
		f.held, f.skipped = 0, true
	}
	f.mu.Unlock()
	f.ring()
}

// fold adds an event to the loop's state.
func (f *follower) fold(e event.Event) {
	if !f.broken && e.Seq > f.loop.Seq() {
		f.broken = f.loop.Fold(e) != nil
	}
	f.use.Add(e)
}

// next is the command that waits for changes, at most one frame's worth at a time.
func (f *follower) next() tea.Msg {
	select {
	case <-f.wake:
	case <-f.ctx.Done():
		return nil
	}
	select {
	case <-f.paced.C:
	case <-f.ctx.Done():
		return nil
	}
	f.paced.Reset(frame)
	return f.take()
}

func (f *follower) take() changesMsg {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := changesMsg{entries: append(f.taken, f.builder.Take()...), skipped: f.skipped, use: f.use, over: f.over,
		died: f.died, err: f.err, page: f.page, saying: f.saying}
	if f.taken, f.page, f.saying = nil, nil, ""; f.progress != nil {
		c.progress = f.progress()
	}
	if !f.broken {
		c.view = f.loop.View()
	}
	if n := len(c.entries) - entriesShown; n > 0 {
		c.entries, c.skipped = c.entries[n:], true
	}
	f.held, f.skipped = 0, false
	return c
}
