package acpserver

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/loopstate"
	"github.com/ralph-loop/ralph/internal/send"
	"github.com/ralph-loop/ralph/journal/event"
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
	turns   []*turn
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
	resumes bool      // an ended loop is being resumed, and its journal does not say so yet
}

// ownKept is how many commands a session remembers as its own.
const ownKept = 512

// work does what belongs to the session, in order.
func (x *session) work() {
	for {
		select {
		case job := <-x.jobs:
			job()
		case <-x.ctx.Done():
			return
		}
	}
}

// do adds to the work; false says that too much waits already.
func (x *session) do(job func()) bool {
	select {
	case x.jobs <- job:
		return true
	default:
		return false
	}
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

// stopNow asks the loop to stop now, if it lives.
func (x *session) stopNow(l registry.Entry) {
	live, err := registry.Probe(l.Dir)
	if err != nil || !live.Alive {
		return
	}
	if _, err := x.drop(l, inbox.Command{Kind: inbox.StopNow}); err != nil {
		x.update(x.s.words("cancel", err.Error()))
	}
}

// drop puts a command into the loop's inbox, and remembers it as the session's own before the
// journal can have it.
func (x *session) drop(l registry.Entry, c inbox.Command) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.From = x.s.sender()
	id, err := send.Drop(l.Name, l.Dir, c)
	if err == nil {
		if len(x.own) >= ownKept || x.own == nil {
			x.own = map[string]bool{}
		}
		x.own[id] = true
	}
	return id, err
}

// isOwn reports whether a command came from this session.
func (x *session) isOwn(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.own[id]
}

// await adds a prompt whose answer is the end of the turn.
func (x *session) await(t *turn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turns = append(x.turns, t)
}

// abandon takes a prompt back that await has added.
func (x *session) abandon(t *turn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turns = slices.DeleteFunc(x.turns, func(other *turn) bool { return other == t })
}

// eventSeen notes what an event says about prompts that are not answered.
func (x *session) eventSeen(p event.Payload) {
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
				t.fail(&problem{Code: codeRequest, Message: "the loop refused it: " + clean(p.Why)})
				return
			}
		}
	}
}

// settle answers the prompts whose turn is over in a state.
func (x *session) settle(state *loopstate.State, gone bool) {
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
func (t *turn) over(state *loopstate.State, gone bool) bool {
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

// leave answers all prompts: the client has closed the session, and the loop lives on.
func (x *session) leave() {
	x.forgetAsked()
	x.mu.Lock()
	left := x.turns
	x.turns = nil
	x.mu.Unlock()
	for _, t := range left {
		t.fail(&problem{Code: codeCancelled, Message: "the session was closed; the loop goes on"})
	}
}
