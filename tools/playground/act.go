package playground

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// Acts are what a person can do to a run.
var Acts = []string{
	"rate", "overload", "hang", "crash", "claim", "game", "flaky",
	"kill", "power", "disk", "fence",
	"steer", "pause", "resume", "stop",
}

// Act does something now. Text is the message of a steer.
func (w *Run) Act(what, text string) error { return w.Plan(w.Elapsed(), what, text) }

// Plan does something when that much time has passed since the start of the run, or now if more
// has.
func (w *Run) Plan(at time.Duration, what, text string) error {
	if !slices.Contains(Acts, what) {
		return fmt.Errorf("%.40q is nothing that can be done to a run", what)
	}
	w.order++
	heap.Push(&w.queue, &item{at: start.Add(max(at, w.Elapsed())), act: true, order: w.order, do: func() { w.act(what, text) }})
	return nil
}

func (w *Run) act(what, text string) {
	if w.Ended() {
		return
	}
	switch what {
	case "rate", "hang", "crash", "claim", "game":
		w.fault = what
		w.hurry()
	case "overload":
		w.outage = w.now.Add(3 * time.Minute)
		w.note("warning", "The model is overloaded for three minutes, and does not say for how long.")
		w.hurry()
	case "flaky":
		w.project.flaky = true
		w.note("warning", "The next run of the guardrail will fail: the database of the tests is down.")
	case "kill":
		w.kill(simfs.Killed, "kill -9: the runner is dead. Its agent lives on until the next runner ends it. The service starts one in 20 seconds.", 20*time.Second)
	case "power":
		w.kill(simfs.PowerLost, "The power is cut. The machine is back in 90 seconds, and the service starts the loop again.", 90*time.Second)
	case "disk":
		w.note("warning", "The disk is full. A person frees space in five minutes.")
		w.fill(true)
		w.after(5*time.Minute, func() {
			w.note("good", "There is space on the disk again, and the loop is resumed.")
			w.fill(false)
			w.run()
		})
	case "fence":
		w.note("warning", "This host is cut off from its pool. Another host claims the loop, and fences this one when it can be reached.")
		w.send(event.CommandReceived{Kind: event.CommandFence, Host: "kiln", Epoch: 2})
	default:
		w.send(event.CommandReceived{Kind: event.CommandKind(what), Text: text})
	}
}

// hurry lets an agent that works meet its fault at once. Otherwise the next turn meets it.
func (w *Run) hurry() {
	if a := w.agent; w.runner != nil && a != nil && a.alive && a.turning && !a.hangs {
		a.soon(300 * time.Millisecond)
		return
	}
	w.note("", "No agent works now: the next turn meets it.")
}

// kill ends the runner, and the service starts another one.
func (w *Run) kill(how simfs.Loss, text string, back time.Duration) {
	if w.runner == nil {
		w.note("", "No runner is there.")
		return
	}
	w.note("warning", text)
	w.die(how)
	w.after(back, w.run)
}

// send puts a command into the inbox, which is there whether or not a runner is.
func (w *Run) send(c event.CommandReceived) {
	id := w.id(w.now)
	c.ID, c.From, c.Origin = string(id[:]), "web:ada", event.OriginPerson
	w.inbox = append(w.inbox, c)
	if w.runner == nil {
		w.note("", "The command is in the inbox; the next runner reads it.")
		return
	}
	w.runner.soon(100*time.Millisecond, w.runner.receive)
}
