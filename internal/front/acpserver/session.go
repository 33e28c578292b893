package acpserver

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// session is what one client sees of one loop. What belongs to a session is done in order, by one
// goroutine; another one follows the journal.
type session struct {
	s    *Server
	id   string
	cwd  string // of a session that was begun without a loop
	ctx  context.Context
	end  context.CancelFunc
	jobs chan func()
	// prompted says that a prompt has come; the session of a loop that exists needs none.
	prompted atomic.Bool

	mu      sync.Mutex // for what follows
	loop    registry.Entry
	closed  *problem // why nothing more is done; nil while the session is open
	turns   []*turn
	shown   event.Seq       // events up to it have been shown, and may have answered prompts
	own     map[string]bool // ids of the commands that came from here
	cancels int             // how often the client has cancelled
}

// turn is a prompt that is not answered: version 1 answers when the loop ends, or waits for a
// person.
type turn struct {
	call
	after   event.Seq // the last event before the prompt
	command string    // the id of its command; empty if there is none
	resume  string    // the id of a command that has to be answered first; empty if there is none
	known   bool      // the loop has received the command
	waits   bool      // it is among the prompts that are not answered, or was
	resumes bool      // an ended loop is being resumed, and its journal does not say so yet
}

// ownKept is how many commands a session remembers as its own.
const ownKept = 512

// work does what belongs to the session, in order, until the session is closed. Jobs that waited
// then are called too: each of them looks whether the session is open.
func (x *session) work() {
	for {
		select {
		case job := <-x.jobs:
			job()
			continue
		case <-x.ctx.Done():
		}
		select {
		case job := <-x.jobs:
			job()
		default:
			return
		}
	}
}

// do adds to the work, unless too much waits already or the session is closed. job is called with
// the reason if it has been closed meanwhile.
func (x *session) do(job func(closed *problem)) *problem {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed != nil:
		return x.closed
	case x.ctx.Err() != nil:
		return sessionClosed
	}
	x.s.working.Add(1)
	select {
	case x.jobs <- func() { defer x.s.working.Done(); job(x.isClosed()) }:
		return nil
	default:
		x.s.working.Done()
		return &problem{Code: codeRequest, Message: "too many prompts of this session wait already"}
	}
}

// close ends what the session does. Its prompts are answered with the reason; the loop lives on.
func (x *session) close(why *problem) {
	x.mu.Lock()
	if x.closed == nil {
		x.closed = why
	}
	x.end()
	left := x.turns
	x.turns = nil
	x.mu.Unlock()
	x.forgetAsked()
	for _, t := range left {
		t.fail(why)
	}
}

// isClosed returns why the session is closed; nil while it is open.
func (x *session) isClosed() *problem {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}

// update sends an update of the session, unless it is closed.
func (x *session) update(u object) {
	if x.ctx.Err() == nil {
		_ = x.s.out.write(object{"method": "session/update", "params": object{"sessionId": x.id, "update": u}})
	}
}

// begun returns the loop of the session; its folder is empty if there is none yet.
func (x *session) begun() registry.Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loop
}

// cancelCount returns how often the client has cancelled.
func (x *session) cancelCount() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cancels
}

// cancel stops the loop. Its prompts are answered when it has ended.
func (x *session) cancel() {
	x.mu.Lock()
	x.cancels++
	l := x.loop
	x.mu.Unlock()
	if l.Dir != "" {
		x.stopNow(l)
	}
}

// folded returns the session's loop as its files are now. Another loop may be in its folder
// meanwhile, which this session is not about.
func (x *session) folded(l registry.Entry) (*projector.Loop, error) {
	loop, err := projector.Load(l.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && l.ID != "" && loop.View().ID != l.ID {
		err = errGone
	}
	return loop, err
}

// present returns what is true of the session's loop now.
func (x *session) present(l registry.Entry) (projector.View, error) {
	loop, err := x.folded(l)
	if err != nil {
		return projector.View{}, err
	}
	return loop.View(), nil
}

// errGone is the error of a loop whose folder was taken away.
var errGone = cli.Refuse("session/list names the loops that are here", "the loop's folder was archived or removed")

// stopNow asks the loop to stop now, if it lives.
func (x *session) stopNow(l registry.Entry) {
	live, err := registry.Probe(l.Dir)
	if err != nil || !live.Alive {
		return
	}
	if _, err := x.drop(l, inbox.Command{Kind: inbox.StopNow}, nil); err != nil {
		x.update(x.s.words("cancel", err.Error()))
	}
}

// drop puts a command into the loop's inbox, and remembers it as the session's own before the
// journal can have it. So long waits t, too, the prompt that said it; it is nil if none did.
func (x *session) drop(l registry.Entry, c inbox.Command, t *turn) (string, error) {
	if _, err := x.present(l); err != nil {
		return "", err
	}
	c.From = x.s.sender(l)
	waits := x.s.speaks().version != draft
	x.mu.Lock()
	defer x.mu.Unlock()
	id, err := client.Drop(l.Name, l.Dir, c)
	if err == nil {
		if len(x.own) >= ownKept || x.own == nil {
			x.own = map[string]bool{}
		}
		x.own[id] = true
	}
	if err == nil && t != nil {
		t.command = cmp.Or(t.command, id)
		if c.Kind == inbox.Resume {
			t.resume = id
		}
		if waits {
			x.add(t)
		}
	}
	return id, err
}

// isOwn reports whether a command came from this session.
func (x *session) isOwn(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.own[id]
}

// await adds a prompt whose answer is the end of the turn, unless drop has added it.
func (x *session) await(t *turn) {
	x.mu.Lock()
	x.add(t)
	closed := x.closed
	answered := t.waits
	x.mu.Unlock()
	if !answered {
		t.fail(closed)
	}
}

// add adds a prompt once, unless the session is closed. The lock is held.
func (x *session) add(t *turn) {
	if !t.waits && x.closed == nil {
		x.turns, t.waits = append(x.turns, t), true
	}
}

// abandon takes a prompt back, and reports whether it is still to be answered.
func (x *session) abandon(t *turn) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := len(x.turns)
	x.turns = slices.DeleteFunc(x.turns, func(other *turn) bool { return other == t })
	return !t.waits || len(x.turns) < before
}

// hasShown notes that the client has been shown the events up to seq.
func (x *session) hasShown(seq event.Seq) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.shown = max(x.shown, seq)
}

func (x *session) wasShown(seq event.Seq) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown >= seq
}

// eventSeen notes what an event says about prompts that are not answered.
func (x *session) eventSeen(p event.Payload) {
	refused, why := x.refusedBy(p)
	if refused != nil {
		refused.fail(&problem{Code: codeRequest, Message: "the loop refused it: " + clean(why)})
	}
}

// refusedBy notes an event, and returns the prompt whose command it refuses.
func (x *session) refusedBy(p event.Payload) (refused *turn, why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, t := range x.turns {
		switch p := p.(type) {
		case event.LoopResumed:
			t.resumes = false
		case event.CommandReceived:
			t.known = t.known || p.ID == t.command
		case event.CommandDelivered:
			if p.ID == t.resume {
				t.resume = ""
			}
		case event.CommandRefused:
			if p.ID == t.resume {
				t.resume = ""
			}
			if p.ID == t.command {
				x.turns = append(x.turns[:i:i], x.turns[i+1:]...)
				return t, p.Why
			}
		case event.CommandWithdrawn:
			if p.ID == t.command {
				x.turns = append(x.turns[:i:i], x.turns[i+1:]...)
				return t, "it was withdrawn"
			}
		}
	}
	return nil, ""
}

// settle answers the prompts whose turn is over in a state.
func (x *session) settle(state *projector.View, gone bool) {
	stop, failed, over := outcome(state, gone)
	if !over || !gone && state.Ended == nil && x.asking() {
		return
	}
	x.mu.Lock()
	var rest, answer []*turn
	for _, t := range x.turns {
		if t.over(state, gone) {
			answer = append(answer, t)
		} else {
			rest = append(rest, t)
		}
	}
	x.turns = rest
	l := x.loop
	x.mu.Unlock()
	for _, t := range answer {
		if t.command != "" && !t.known {
			if taken, err := inbox.Withdraw(l.Dir, t.command); err == nil && taken {
				t.fail(&problem{Code: codeRequest, Message: "the loop ended before it took this; another prompt resumes it"})
				continue
			}
		}
		t.finish(object{"stopReason": stop}, failed)
	}
}

// over reports whether the prompt is answered by a state in which the loop does nothing more.
func (t *turn) over(state *projector.View, gone bool) bool {
	switch {
	case t.resumes:
		return false
	case gone:
		return true
	case state.Seq <= t.after:
		return false
	}
	return state.Ended != nil || t.resume == "" && (t.known || t.command == "")
}
