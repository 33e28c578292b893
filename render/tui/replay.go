package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/playback"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Replay says what of a loop is played again, and how fast.
type Replay struct {
	From        event.Seq // the first event; 0 is the first of the journal
	First, Last int       // iterations; 0 is all
	Speed       float64
}

// Play plays a loop again until the person leaves. The error is that of [terminal.Run], or of
// reading the journal.
func Play(ctx context.Context, o Options, t terminal.Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, o)
	t.Context = ctx
	err := terminal.Run(m, t)
	if errors.Is(err, terminal.ErrGone) {
		err = nil
	}
	return errors.Join(err, m.failed)
}

// player plays a journal again. Its own goroutine reads events, waits for the moment of each, and
// carries out what the person asks for; the command next takes what has changed.
type player struct {
	*follower

	orders chan func(*player)
	next   func() (event.Event, error, bool) // of the journal
	stop   func()

	// guarded by follower.mu
	clock    *playback.Clock
	awaited  bool        // an event is read, and not yet shown
	coming   event.Event // it
	at       event.Seq   // of the last event shown
	playing  int         // the iteration that it belongs to, or the one before it
	last     event.Seq   // of the journal; 0 if not known
	ended    bool        // there is no event after this one
	finished bool        // the iterations that are played are over

	jumped time.Time // the last jump to an iteration
}

// progress is how far a playback is.
type progress struct {
	at, last      event.Seq
	iteration     int // 0 before the first
	speed         float64
	paused, ended bool
}

// ordersHeld is how many keys may be pressed while the journal is read.
const ordersHeld = 64

// openReplay reads the journal up to where the playback begins, and begins to play.
func openReplay(ctx context.Context, o Options) tea.Cmd {
	return func() tea.Msg {
		p := newPlayer(ctx, o)
		from, err := p.beginning()
		if err == nil {
			err = p.jump(from)
		}
		if err != nil {
			return openedMsg{err: err}
		}
		opened := openedMsg{page: *p.page, view: p.loop.View(), follower: p.follower, player: p}
		p.page = nil
		go p.run()
		return opened
	}
}

func newPlayer(ctx context.Context, o Options) *player {
	p := &player{
		follower: &follower{ctx: ctx, o: o, loop: &projector.Loop{}, wake: make(chan struct{}, 1), paced: time.NewTimer(0)},
		orders:   make(chan func(*player), ordersHeld), stop: func() {},
		clock: playback.NewClock(o.Replay.Speed, o.Now()),
	}
	p.follower.progress = p.progress
	return p
}

// beginning returns the event before the first one that is played.
func (p *player) beginning() (event.Seq, error) {
	newest, _, err := journal.Last(p.o.Dir, 1)
	if len(newest) == 0 {
		return 0, cmp.Or(err, errors.New("the journal has no event"))
	}
	p.last = newest[0].Seq
	r := p.o.Replay
	if r.First > 1 {
		seq, err := beginningOf(p.o.Dir, r.First)
		return max(seq, r.From, 1) - 1, err
	}
	return max(r.From, 1) - 1, nil
}

// run plays until the person leaves.
func (p *player) run() {
	defer func() { p.stop() }()
	timer := time.NewTimer(0)
	for {
		p.await()
		p.mu.Lock()
		due, runs := p.clock.Due()
		wait := due.Sub(p.o.Now())
		shows := runs && p.awaited
		p.mu.Unlock()
		var moment <-chan time.Time
		if shows {
			timer.Reset(max(wait, 0))
			moment = timer.C
		}
		if shows && wait <= 0 { // without a switch to another goroutine, but never deaf to a key
			select {
			case order := <-p.orders:
				order(p)
			case <-p.ctx.Done():
				return
			default:
				p.show()
			}
			continue
		}
		select {
		case order := <-p.orders:
			order(p)
		case <-moment:
			p.show()
		case <-p.ctx.Done():
			return
		}
	}
}

// await reads the next event, unless it is read already or there is none.
func (p *player) await() {
	if p.awaited || p.ended {
		return
	}
	e, err, ok := p.next()
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.o.Replay.Last
	switch {
	case ok && err != nil:
		p.ended, p.saying = true, "the journal cannot be read on: "+err.Error()
	case !ok, limit > 0 && e.Iter > limit && !p.finished:
		p.ended, p.finished = true, ok
	default:
		p.coming, p.awaited = e, true
		p.clock.Await(e.At)
	}
	if p.ended {
		p.ring()
	}
}

// show shows the awaited event.
func (p *player) show() {
	e := p.coming
	p.add(e)
	p.mu.Lock()
	p.at, p.awaited = e.Seq, false
	if e.Iter > 0 {
		p.playing = e.Iter
	}
	p.last = max(p.last, e.Seq)
	p.clock.Shown(p.o.Now())
	p.mu.Unlock()
}

// order has the player's goroutine do something. It never waits: where the player is busy with as
// many orders as it holds, one more is lost.
func (p *player) order(do func(*player)) {
	select {
	case p.orders <- func(p *player) {
		do(p)
		p.ring()
	}:
	default:
	}
}

// jump continues after an event, 0 for the beginning.
func (p *player) jump(seq event.Seq) error {
	state, newest, err := stateAt(p.ctx, p.o, seq)
	if err != nil {
		return err
	}
	view := state.loop.View()
	page, builder, err := transcript.At(p.o.Dir, seq, firstEvents,
		transcript.Options{Project: view.Project, Maximum: view.MaximumIterations, Verbose: p.o.Verbose})
	if err != nil {
		return fmt.Errorf("read the journal up to event %d: %w", seq, err)
	}
	p.stop()
	p.next, p.stop = iter.Pull2(journal.Read(p.o.Dir, journal.ReadOptions{FromSeq: seq + 1}))
	if seq == 0 || seq >= p.last {
		p.stop()
		p.next, p.stop = iter.Pull2(after(p.o.Dir, seq))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.builder, p.loop, p.use, p.broken = builder, state.loop, state.use, state.broken
	p.page, p.held, p.skipped = &page, 0, false
	p.at, p.awaited, p.ended = seq, false, false
	p.playing = newest.Iter
	p.clock.Jump(newest.At, p.o.Now())
	return nil
}

// after iterates over the events after seq, which may be the last, or 0 in a journal that lacks its
// beginning.
func after(dir string, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		o := journal.ReadOptions{FromSeq: seq}
		for e, err := range journal.Read(dir, o) {
			if (err != nil || e.Seq > seq) && !yield(e, err) {
				return
			}
		}
	}
}

// stateAt folds the events up to seq, from the beginning of their segment. newest is the last of
// them, without its data, with the iteration of the newest that has one.
func stateAt(ctx context.Context, o Options, seq event.Seq) (state *follower, newest event.Event, err error) {
	state = &follower{ctx: ctx, o: o, loop: &projector.Loop{}}
	if seq == 0 {
		return state, newest, nil
	}
	from, err := segmentOf(o.Dir, seq)
	if err != nil {
		return nil, newest, err
	}
	for e, err := range journal.Read(o.Dir, journal.ReadOptions{FromSeq: from}) {
		if err != nil {
			return nil, newest, err
		}
		if e.Seq > seq {
			break
		}
		state.fold(e)
		newest = event.Event{Seq: e.Seq, At: e.At, Iter: max(newest.Iter, e.Iter)}
	}
	return state, newest, nil
}

// progress is called with follower.mu locked.
func (p *player) progress() *progress {
	return &progress{at: p.at, last: p.last, iteration: p.playing, speed: p.clock.Speed(), paused: p.clock.Paused(), ended: p.ended}
}

// now is the time of the recording at this moment.
func (p *player) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.clock.Time(p.o.Now()); !at.IsZero() {
		return at.In(p.o.Now().Location())
	}
	return p.o.Now()
}
