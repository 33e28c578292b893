package playground

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// runner is one process of ralph: the parts of internal/runner around the same engine and writer,
// with the queue of the run in place of goroutines.
type runner struct {
	w       *Run
	writer  *journal.Writer
	engine  *loop.Engine
	rule    string // that decided last; empty while what happened is recorded
	cut     func() // ends what the executor does now, for check.cancel; nil while that is nothing
	timer   *item
	syncing bool
	closing bool
}

// syncAfter is how long an event may be only in the memory of the machine.
const syncAfter = time.Second

// soon schedules something in the runner's process.
func (r *runner) soon(d time.Duration, do func()) { r.w.schedule(r, d, do) }

// open recovers the journal and continues it, like internal/runner.
func (r *runner) open() error {
	w := r.w
	opt := journal.Options{FS: w.disk, Now: func() time.Time { return w.now }, NewID: w.id}
	rec, err := journal.Recover(loopDir, opt)
	if err != nil {
		return err
	}
	state, err := w.rebuild()
	if err != nil {
		return err
	}
	swept := 0
	if w.endAgent() {
		swept = 1
	}
	var checkpoint []byte
	iteration := 1
	if state.Seq > 0 {
		checkpoint, iteration = state.Checkpoint(), state.Lifecycle.Iteration
	}
	writer, events, err := journal.Create(loopDir, rec, iteration, checkpoint, opt)
	if err != nil {
		return err
	}
	r.writer = writer
	r.engine = &loop.Engine{Journal: writer, Executor: executor{r}, Folded: r.folded, Answered: r.answered, Segment: iteration}
	r.engine.Restore(state)
	if err := r.engine.Fold(events); err != nil {
		return err
	}
	if err := r.begin(&state, rec, swept); err != nil {
		return err
	}
	r.receive()
	r.step()
	return nil
}

func (w *Run) rebuild() (s loopstate.State, err error) {
	events, err := w.read()
	for _, e := range events {
		if err == nil {
			err = s.Fold(e)
		}
	}
	return s, err
}

// begin records that the loop starts or is resumed.
func (r *runner) begin(state *loopstate.State, rec journal.Recovery, swept int) error {
	var first event.Payload
	if state.Begun() {
		first = event.LoopResumed{PID: 4000 + r.w.runs, Died: state.Lifecycle.Ended == nil, Lost: rec.Lost, Swept: swept}
	} else {
		text, err := r.writer.PutBlob([]byte(task))
		if err != nil {
			return err
		}
		first = event.LoopStarted{
			Name: loopName, ID: "01SIM000000000000000000000", Dir: "/home/ada/parser/.ralph/parser", Project: "/home/ada/parser", Host: "mill",
			PID: 4000 + r.w.runs, Agent: event.Agent{Protocol: "claude", Command: []string{"claude"}}, Rules: rules(), Task: event.Source{Text: &text},
		}
	}
	return r.record([]event.Draft{event.Encode(first, "loop")})
}

// rules are the settings of the loop: the defaults, with one guardrail, commits and a checklist.
func rules() event.Rules {
	minutes := func(n int) event.Duration { return event.Duration(n) * event.Duration(time.Minute) }
	return event.Rules{
		MaximumIterations: 20, CompletionResponse: "DONE", Context: "fresh",
		Completion: event.CompletionRules{Promise: "COMPLETE", Match: "final", MinToolCalls: 1, OnPromiseNoWork: "reject", Checklist: true},
		Limits: event.LimitRules{
			Cost: 5, Idle: minutes(10), Tool: minutes(30), Iteration: minutes(120), ExitGrace: minutes(1) / 2, MaxOutage: minutes(120),
		},
		Restart:    event.RestartRules{Max: 5, Delay: event.Duration(time.Second)},
		Breaker:    event.BreakerRules{NoProgress: 5, SameError: 5, Environment: 3},
		Prove:      event.ProveRules{Auto: "off"},
		Guardrails: 1, SCM: true,
	}
}

// record makes drafts durable without deciding.
func (r *runner) record(drafts []event.Draft) error {
	r.rule = ""
	for i := range drafts {
		drafts[i].Iter = r.engine.State().Lifecycle.Iteration
	}
	events, err := r.writer.Append(drafts)
	if err == nil {
		err = r.engine.Fold(events)
	}
	if err == nil {
		err = r.engine.Sync()
	}
	return err
}

// receive records what is in the inbox. A file is removed only after that.
func (r *runner) receive() {
	if len(r.w.inbox) == 0 || r.closing || r.engine.State().Lifecycle.Ended != nil {
		return
	}
	var drafts []event.Draft
	for _, c := range r.w.inbox {
		if !r.engine.State().Commands.Has(c.ID) {
			drafts = append(drafts, event.Encode(c, "inbox:"+c.ID))
		}
	}
	if err := r.record(drafts); err != nil {
		r.fail(err)
		return
	}
	r.w.inbox = nil
	r.step()
}

// step records drafts and has done what follows.
func (r *runner) step(drafts ...event.Draft) {
	if r.closing {
		return
	}
	r.rule = ""
	err := r.engine.Step(drafts)
	switch {
	case err != nil:
		r.fail(err)
	case r.engine.State().Lifecycle.Ended != nil:
		r.closing = true
		r.soon(0, r.end)
	default:
		r.arm()
		r.syncLater()
	}
}

// report records an event that answers the decision cause.
func (r *runner) report(p event.Payload, by string, cause event.Seq) {
	d := event.Encode(p, by)
	d.Cause = cause
	r.step(d)
}

// arm sets the timer to the earliest deadline.
func (r *runner) arm() {
	if r.timer != nil {
		r.timer.do = func() {}
		r.timer = nil
	}
	deadline, found := r.engine.State().Deadline()
	if !found {
		return
	}
	r.timer = r.w.schedule(r, max(0, deadline.At.Sub(r.w.now)), func() { r.fire(deadline) })
}

func (r *runner) fire(deadline policy.Deadline) {
	r.timer = nil
	if due, found := r.engine.State().Deadline(); !found || due != deadline {
		return
	}
	r.step(event.Encode(event.TimerFired{Name: deadline.Name}, "clock"))
}

// syncLater makes what was recorded durable. After a failure the next append reports it.
func (r *runner) syncLater() {
	if r.syncing {
		return
	}
	r.syncing = true
	r.soon(syncAfter, func() {
		if r.syncing = false; !r.closing {
			_ = r.writer.Sync()
		}
	})
}

// fail ends a runner that can record nothing any more. It ends its agent first.
func (r *runner) fail(err error) {
	w := r.w
	if w.runner != r {
		return
	}
	r.closing = true
	w.endAgent()
	w.note("failure", fmt.Sprintf("The runner ends: %v. It ends its agent first, because nothing may happen that the journal does not have.", err))
	if r.writer != nil {
		_ = r.writer.Close() // the error above is known already
	}
	w.die(simfs.Killed)
	if errors.Is(err, syscall.ENOSPC) {
		return // it is started again when there is space
	}
	w.after(time.Minute, w.run)
}

// end closes the journal of a loop that has ended.
func (r *runner) end() {
	w := r.w
	w.endAgent() // that of a fenced loop
	if err := r.writer.Close(); err != nil {
		w.note("failure", fmt.Sprintf("The journal cannot be closed: %v", err))
	}
	w.die(simfs.Killed)
	w.note("good", "The loop has ended, and its runner is gone. Everything that it did is in the journal.")
}

func (r *runner) answered(rule string) { r.rule = rule }

// folded shows what the engine has recorded.
func (r *runner) folded(events []event.Event, _ *loop.State) {
	for _, e := range events {
		r.w.show(e, r.rule)
	}
}
