package acpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/transcript"
)

// How a watched loop is shown.
const (
	mostReplayed = 20_000 // events that are shown again when a loop is entered
	burst        = 512    // events that are shown together, at most
	frameEvery   = 100 * time.Millisecond
	frameLate    = 250 * time.Millisecond // while events come without a pause
)

// lookEvery is the time between two looks for a runner that is gone. Tests shorten it.
var lookEvery = 2 * time.Second

// watch follows the journal of one loop for one session. It belongs to one goroutine; another one
// looks for the runner.
type watch struct {
	x     *session
	loop  registry.Entry
	b     *transcript.Builder
	state *projector.Loop
	view  projector.View // of the state, at the last frame
	from  journal.FollowOptions
	until event.Seq // events up to it are from before the session was entered
	cut   event.Seq // the first event that is shown again, if there are earlier ones
	entry *call     // the request that entered the session, until it is answered; nil for a new loop

	caught  bool // all that is from before has been shown
	waiting int  // events that are not shown yet
	sent    time.Time

	showing sync.Mutex // for what follows
	shown   shown
}

func newWatch(x *session, l registry.Entry) *watch {
	return &watch{
		x: x, loop: l, state: new(projector.Loop), b: transcript.New(transcript.Options{Project: l.Project}),
		sent: x.s.env.Now(), shown: newShown(),
	}
}

// watchFrom prepares to follow the loop of a session: from its beginning, or from now on.
func (x *session) watchFrom(all bool) (*watch, error) {
	w := newWatch(x, x.begun())
	last, at, err := journal.Last(w.loop.Dir, 1)
	if err == nil {
		w.state, err = x.folded(w.loop)
	}
	if err != nil {
		return nil, err
	}
	if len(last) > 0 {
		w.until = last[0].Seq
	}
	if !all {
		w.from.From = at
		return w, nil
	}
	if w.from.FromSeq = 1; w.until > mostReplayed {
		w.from.FromSeq = w.until - mostReplayed + 1
		w.cut = w.from.FromSeq
	}
	return w, nil
}

// follow shows the loop until the session is closed. The request that entered the session is
// answered when all that is from before has been shown.
func (w *watch) follow() {
	if w.entry == nil {
		w.caught = true
	}
	look, stop := context.WithCancel(w.x.ctx)
	defer stop()
	if folder, err := os.Stat(w.loop.Dir); err == nil { // else it cannot be followed either
		go w.lookForRunner(look, folder)
	}
	w.from.Idle = func(journal.Position) { w.idle() }
	for {
		err := w.read()
		gone, dropped := errors.AsType[*journal.RangeError](err)
		if !dropped || gone.First <= w.from.FromSeq {
			w.fail(err)
			return
		}
		w.from.From, w.from.FromSeq, w.cut = journal.Position{}, gone.First, gone.First // retention has dropped what is before
	}
}

func (w *watch) read() error {
	for e, err := range journal.Follow(w.x.ctx, w.loop.Dir, w.from) {
		if err != nil {
			return err
		}
		if err := w.take(e); err != nil {
			return err
		}
		w.waiting++
		if w.waiting >= burst || w.caught && w.x.s.env.Now().Sub(w.sent) >= frameLate {
			w.frame()
		}
		if !w.caught && e.Seq >= w.until {
			w.catchUp()
		}
	}
	return nil
}

// fail closes a session whose loop cannot be followed: nothing more is known of it. err is nil if
// the session is closed already.
func (w *watch) fail(err error) {
	why := sessionClosed
	if err != nil && w.x.ctx.Err() == nil {
		why = failure(err)
		w.frame()
		w.x.update(w.x.s.words("unreadable", "The journal cannot be read any further: "+clean(err.Error())))
		w.x.s.drop(w.x, why)
	}
	if w.entry != nil {
		w.entry.fail(why)
	}
}

// take takes in one event.
func (w *watch) take(e event.Event) error {
	if e.Seq > w.state.Seq() {
		if err := w.state.Fold(e); err != nil {
			return err
		}
	}
	w.b.Add(e)
	payload, err := event.Decode(e)
	if err != nil {
		return nil // the builder says so
	}
	switch p := payload.(type) {
	case event.LoopStarted:
		if w.loop.ID != "" && p.ID != w.loop.ID {
			return errGone // another loop is in the folder now
		}
		if !w.caught {
			w.task(p.Task)
		}
	case event.CommandReceived, event.CommandDelivered, event.CommandRefused, event.CommandWithdrawn, event.LoopResumed:
		w.x.eventSeen(p)
	}
	return nil
}

// task shows the task of a loop as the first words of its person.
func (w *watch) task(from event.Source) {
	switch {
	case from.Text != nil:
		w.x.update(w.x.s.chunk(fromUser, "task", clean(from.Text.Text)))
	case from.File != "":
		w.x.update(w.x.s.chunk(fromUser, "task", "Work on "+clean(from.File)))
	}
}

// idle shows what there is, but not sooner than a client can follow.
func (w *watch) idle() {
	if !w.caught {
		w.catchUp()
		return
	}
	if w.waiting == 0 {
		return
	}
	if early := frameEvery - w.x.s.env.Now().Sub(w.sent); early > 0 {
		pause := time.NewTimer(early)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-w.x.ctx.Done():
			return
		}
	}
	w.frame()
}

// catchUp ends the replay: it says what was not shown, and how things are now.
func (w *watch) catchUp() {
	if w.cut > 1 {
		w.x.update(w.x.s.words("cut", fmt.Sprintf("Events before %d are not shown here; 'ralph replay %s' plays all that the journal has.",
			w.cut, w.loop.Name)))
	}
	w.caught = true
	w.frame()
}

// frame shows what changed since the last one, and answers prompts whose turn is over.
func (w *watch) frame() {
	w.showing.Lock()
	defer w.showing.Unlock()
	w.waiting, w.sent, w.view = 0, w.x.s.env.Now(), w.state.View()
	for _, e := range w.b.Take() {
		w.show(e)
	}
	if !w.caught {
		return
	}
	w.showState()
	if w.entry != nil {
		w.enter()
	}
	w.showQuestions()
	w.x.hasShown(w.view.Seq)
	w.x.settle(&w.view, false)
}

// enter answers the request that entered the session. A client that gets a question before may not
// know its session.
func (w *watch) enter() {
	if w.x.s.speaks().version == stable {
		w.x.update(object{"sessionUpdate": "available_commands_update", "availableCommands": commandList(stable)})
	}
	w.entry.reply(w.x.s.entered())
	w.entry = nil
}

// lookForRunner tells of a loop whose runner is gone without an end, and closes the session of one
// whose folder is not the one that it was.
func (w *watch) lookForRunner(ctx context.Context, was os.FileInfo) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		is, err := os.Stat(w.loop.Dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(was, is) {
			w.showGone()
			return
		}
		if !noRunner(w.loop.Dir) {
			continue
		}
		// A runner writes the end before it releases the lock; another may have come meanwhile.
		if state, err := w.x.present(w.loop); err == nil && state.Ended == nil && noRunner(w.loop.Dir) {
			w.showDeath(&state)
		}
	}
}

func noRunner(dir string) bool {
	live, err := registry.Probe(dir)
	return err == nil && !live.Alive
}

// showGone says that the folder was taken away, and closes the session.
func (w *watch) showGone() {
	w.showing.Lock()
	defer w.showing.Unlock()
	w.x.update(w.x.s.words("gone", "**The loop is not here any more:** its folder was archived or removed."))
	if w.x.s.speaks().version == draft {
		w.once(&w.shown.state, object{"sessionUpdate": "state_update", "state": "idle", "stopReason": wentWrong, "error": failure(errGone)})
	}
	w.x.s.drop(w.x, failure(errGone))
}

// showDeath shows that the runner is gone, and answers the prompts.
func (w *watch) showDeath(state *projector.View) {
	w.showing.Lock()
	defer w.showing.Unlock()
	w.showTitle(state, true)
	if w.x.s.speaks().version == draft {
		w.showActivity(state, true)
	}
	w.x.settle(state, true)
}
