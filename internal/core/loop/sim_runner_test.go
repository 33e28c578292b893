package loop_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// runner is one process of internal/runner: the same parts around the same engine and writer, with
// the world's queue in place of goroutines.
type runner struct {
	w      *world
	number int
	opened bool
	before int // changes of the disk before this runner
	dead   bool
	coming int // items in the queue that this runner waits for

	writer   *journal.Writer
	driver   *loop.Driver
	executor *simExecutor

	inputs   []input
	turning  bool  // the driver will take an input
	armed    *item // the timer; nil while it is stopped
	fired    int   // timers in a row without anything else
	looking  bool  // the goroutine at the inbox is awake
	woken    bool  // it was woken meanwhile
	closing  bool  // nothing is taken any more
	syncing  bool  // the goroutine that syncs is awake
	signals  int   // that came
	watch    watch
	heard    heard
	meter    meter
	notes    counts                 // of all that is recorded
	whole    bool                   // the notes begin with the first event
	observed event.ScheduleObserved // what was reported last
	taken    []int                  // serial numbers of the agent's lines that the driver took
}

// input is a loop.Input and the serial numbers of the agent's lines in it.
type input struct {
	loop.Input
	facts []int
}

// soon schedules something in the runner's process.
func (r *runner) soon(most time.Duration, do func()) {
	r.w.schedule(r, r.w.span(0, most), do).own = true
}

// open opens the journal, like runner.open and runner.begin.
func (r *runner) open() error {
	w := r.w
	if w.broken.recovered != nil {
		w.broken.recovered(w)
	}
	disk := watched{w.disk, &w.faults}
	opt := journal.Options{
		FS: disk, Now: w.wall, NewID: w.id,
		SegmentBytes: w.scenario.segmentBytes, InlineBytes: w.scenario.inlineBytes, KeepIterations: w.scenario.keep,
	}
	before := segmentNames(w.disk)
	rec, err := journal.Recover(loopDir, opt)
	if err != nil {
		return err
	}
	w.seen.recovery(before, segmentNames(w.disk), rec)
	state, err := rebuild(w)
	if err != nil {
		return err
	}
	w.checkRebuilt(&state)
	swept := 0
	if state.Lifecycle.ID != "" && !w.broken.noSweep {
		swept = w.sweep()
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
	r.executor = &simExecutor{r: r}
	engine := &loop.Engine{Journal: w.broken.wrap(r), Executor: w.broken.hold(r), Folded: r.folded, Answered: func(rule string) { w.seen.saw(rules, rule) }, Segment: iteration}
	engine.Restore(state)
	r.meter.rules = state.Rules
	r.driver = &loop.Driver{Engine: engine, Now: w.wall}
	r.opened = true
	if err := engine.Fold(events); err != nil {
		return err
	}
	if state.Ownership.Fenced != nil { // 'ralph fence' ends it; no runner does
		r.settled(engine.Step(nil))
		return nil
	}
	if err := r.begin(&state, rec, swept); err != nil {
		return err
	}
	r.receive()
	r.settled(engine.Step(nil))
	return nil
}

func rebuild(w *world) (loopstate.State, error) {
	events, err := read(w.disk, journal.ReadOptions{FromCheckpoint: true})
	if err != nil {
		return loopstate.State{}, err
	}
	return fold(events, 0)
}

func (r *runner) begin(state *loopstate.State, rec journal.Recovery, swept int) error {
	w := r.w
	var first event.Payload
	if state.Lifecycle.Started.IsZero() {
		task, err := r.writer.PutBlob([]byte("count the sheep" + strings.Repeat(" and the goats", w.scenario.wordy)))
		if err != nil {
			return err
		}
		first = event.LoopStarted{
			Name: "night", ID: "L", Dir: "/d", Project: "/p", PID: r.number,
			Agent: event.Agent{Protocol: "sim", Name: w.firstName()}, Rules: w.scenario.rules, Task: event.Source{Text: &task}, When: w.outside.when(),
		}
	} else {
		resumed := event.LoopResumed{PID: r.number, Died: state.Lifecycle.Ended == nil, Lost: rec.Lost, Swept: swept, AcceptedChanges: w.project.guard.reseal}
		if state.Lifecycle.Ended != nil {
			// A person who resumes an ended loop raises its limits.
			rules := state.Rules
			rules.MaximumIterations += 2
			rules.Limits.Cost, rules.Limits.Tokens = rules.Limits.Cost*2, rules.Limits.Tokens*2
			resumed.Rules = &rules
		}
		first = resumed
	}
	drafts := []event.Draft{event.Encode(first, "loop")}
	if (w.epoch > state.Ownership.Epoch() || w.epoch > 1 && w.broken.movesAgain) && state.Begun() {
		drafts = slices.Insert(drafts, 0, event.Encode(event.LoopMoved{Host: "mill", From: "kiln", Epoch: w.epoch}, "loop"))
	}
	events, err := r.writer.Append(drafts)
	if err != nil {
		return err
	}
	if err := r.driver.Engine.Fold(events); err != nil {
		return err
	}
	r.wait()
	return r.writer.Sync()
}

// firstName returns the name of the first of several agents.
func (w *world) firstName() string {
	if len(w.scenario.agents) == 0 {
		return ""
	}
	return w.scenario.agents[0].name
}

// folded sees what the engine has recorded.
func (r *runner) folded(events []event.Event, s *loopstate.State) {
	if r.w.faults.failed != nil {
		r.w.violate(silentAfterFault, "event %d is recorded after: %v", s.Seq, r.w.faults.failed)
	}
	r.meter.read(events)
	if slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == event.TypeLoopWaiting }) && r.w.scenario.schedule && r.w.scenario.unnoticed == 0 {
		r.soon(time.Second, r.notice) // its watch begins
	}
	if r.whole {
		for _, e := range events {
			r.notes.read(e)
		}
	}
	if t := events[len(events)-1].Type; t == event.TypeIterationEnded || t == event.TypeIterationStarted {
		r.w.checkSize(s)
	}
	if r.w.broken.folded != nil {
		r.w.broken.folded(events, s)
	}
}

// send puts an input into the driver's channel.
func (r *runner) send(in input) {
	if r.dead || r.closing {
		return
	}
	r.inputs = append(r.inputs, in)
	r.turn()
}

func (r *runner) turn() {
	if r.turning || len(r.inputs) == 0 {
		return
	}
	r.turning = true
	r.soon(2*time.Millisecond, func() {
		r.turning = false
		if len(r.inputs) == 0 || r.closing {
			return
		}
		in := r.inputs[0]
		r.inputs = r.inputs[1:]
		r.fired = 0
		err := r.wake(policy.Deadline{})
		if err == nil {
			err = r.driver.Take(in.Input)
		}
		if err == nil {
			r.taken = append(r.taken, in.facts...)
			r.checkMeter()
		}
		r.settled(err)
		r.turn()
	})
}

// settled is what the driver does after each step.
func (r *runner) settled(err error) {
	switch {
	case r.w.disk.Crashed():
	case err != nil:
		r.failed(err)
	case r.driver.Engine.State().Lifecycle.Ended != nil:
		r.w.checkEnded()
		r.close(nil)
	default:
		r.arm()
		r.syncLater()
	}
}

// gone owns cancelled items.
var gone = &runner{}

// syncLater is the goroutine that makes events durable a second after they came.
// A failure is sticky: the next append reports it.
func (r *runner) syncLater() {
	if r.syncing {
		return
	}
	r.syncing = true
	r.w.after(time.Second, func() {
		if r.syncing = false; r == r.w.runner && !r.closing {
			_ = r.writer.Sync()
		}
	})
}

// arm sets the timer to the earliest deadline, on the clock that is never set back.
func (r *runner) arm() {
	r.stopTimer()
	r.wait()
	deadline, found := r.driver.Engine.State().Deadline()
	if !found || r.w.broken.noTimer {
		return
	}
	wait := max(0, deadline.At.Sub(r.w.wall()))
	r.armed = r.w.schedule(r, wait, func() { r.fire(deadline) })
	r.armed.own = true
}

func (r *runner) stopTimer() {
	if r.armed != nil {
		r.armed.runner = gone // as if it were another process's
		r.coming--
		r.armed = nil
	}
}

func (r *runner) fire(deadline policy.Deadline) {
	r.armed = nil
	if r.closing {
		return
	}
	if r.fired++; r.fired > 8 {
		r.w.violate(timersRest, "the deadline %q fired %d times in a row", deadline.Name, r.fired)
	}
	err := r.wake(deadline)
	if err == nil {
		err = r.driver.Fire(deadline)
	}
	r.settled(err)
}

// failed ends a runner that can record nothing any more: it kills its agent, and exits.
func (r *runner) failed(err error) {
	r.w.seen.failure(err)
	if r.w.disk.Crashed() || r.closing {
		return
	}
	if errors.Is(err, loop.ErrTooManyDecisions) {
		r.w.violate(neverStuck, "%v", err)
	}
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		r.w.violate(verifies, "%v", err)
	}
	r.close(err)
}

// close ends what the executor still holds, seals the journal, and ends the process.
func (r *runner) close(failure error) {
	r.closing = true
	r.stopTimer()
	r.inputs = nil
	end := func() {
		var err error
		if r.writer != nil {
			err = r.writer.Close()
		}
		if !r.w.disk.Crashed() {
			r.w.closed(r, errors.Join(failure, err))
		}
	}
	if r.executor != nil && r.executor.session != nil && r.executor.session.alive {
		r.executor.session.kill()
		r.executor.session.whenGone(end)
		return
	}
	end()
}
