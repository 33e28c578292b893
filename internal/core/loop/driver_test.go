package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// memJournal is a journal in memory that records the calls of its methods.
type memJournal struct {
	memory
	clock  func() time.Time
	asked  []string // append TYPE, sync, rotate
	full   bool
	broken error
}

func (l *memJournal) Append(drafts []event.Draft) ([]event.Event, error) {
	if l.broken != nil {
		return nil, l.broken
	}
	l.now = l.clock()
	for _, d := range drafts {
		l.asked = append(l.asked, "append "+string(d.Type))
	}
	return l.memory.Append(drafts)
}

func (l *memJournal) Sync() error {
	l.asked = append(l.asked, "sync")
	return l.broken
}

func (l *memJournal) Rotate(iteration int, checkpoint json.RawMessage) ([]event.Event, error) {
	l.asked = append(l.asked, "rotate")
	if l.broken != nil {
		return nil, l.broken
	}
	l.full = false
	return l.memory.Append([]event.Draft{event.Encode(event.SegmentOpened{Ordinal: 2, Iteration: iteration, Checkpoint: checkpoint}, "journal")})
}

func (l *memJournal) Full() bool { return l.full }

func (l *memJournal) types(t *testing.T) (types []string) {
	t.Helper()
	for _, line := range l.lines {
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, string(e.Type))
	}
	return types
}

// driverRun is a driver that runs in a bubble of its own time, with an executor that does nothing.
type driverRun struct {
	*loop.Driver
	journal     *memJournal
	executor    *recordingExecutor
	clockOffset time.Duration // of the bubble's clock
	flushed     []time.Time
	done        chan error
	stop        context.CancelCauseFunc
	fence       atomic.Int64
}

// sleep lets time pass, and waits until the driver has done what follows. The driver knows what the
// test did before, because it looks at the clock first.
func (n *driverRun) sleep(d time.Duration) {
	n.fence.Add(1)
	time.Sleep(d)
	synctest.Wait()
}

// awake starts a driver. It is called in a bubble.
func awake(t *testing.T) *driverRun {
	n := &driverRun{executor: &recordingExecutor{}, done: make(chan error, 1)}
	now := func() time.Time {
		n.fence.Load()
		return time.Now().Add(n.clockOffset)
	}
	n.journal = &memJournal{clock: now}
	n.executor.journal, n.executor.before = n.journal, map[string]string{}
	n.Driver = &loop.Driver{
		Engine: &loop.Engine{Journal: n.journal, Executor: n.executor}, Inputs: make(chan loop.Input), Now: now,
		Flush: func(*loopstate.State) { n.flushed = append(n.flushed, now()) },
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	n.stop = cancel
	go func() { n.done <- n.Run(ctx) }()
	t.Cleanup(func() { cancel(nil) })
	return n
}

// happens sends what happened, and waits until the driver has done what follows.
func (n *driverRun) happens(payloads ...event.Payload) {
	var drafts []event.Draft
	for _, p := range payloads {
		drafts = append(drafts, event.Encode(p, "story"))
	}
	n.Inputs <- loop.Input{Drafts: drafts}
	synctest.Wait()
}

var turning = []event.Payload{
	event.LoopStarted{Name: "x", ID: "L", Rules: event.Rules{MaximumIterations: 3, Limits: event.LimitRules{Idle: event.Duration(time.Minute), Iteration: event.Duration(2 * time.Hour)}, Restart: event.RestartRules{Delay: event.Duration(time.Second)}}},
	event.IterationStarted{N: 1}, event.AgentStarted{PID: 7, Tools: true, Costs: true},
}

func (n *driverRun) begin() {
	for _, p := range turning {
		n.happens(p)
	}
}

func (n *driverRun) did(do event.Effect) bool {
	return slices.ContainsFunc(n.executor.asked, func(d event.Decided) bool { return d.Do == do })
}

func TestDriverFiresPassedDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.sleep(59 * time.Second)
		if n.did(event.DoAbort) {
			t.Fatal("the agent was ended before its time")
		}
		n.sleep(time.Second)
		if !n.did(event.DoAbort) || !slices.Contains(n.journal.types(t), "timer.fired") || slices.Contains(n.journal.types(t), "clock.jumped") {
			t.Errorf("%v", n.journal.types(t))
		}
	})
}

// A machine that sleeps fires its timers late, all of them at once.
func TestDriverRecordsLateTimer(t *testing.T) {
	for late, slept := range map[time.Duration]bool{9 * time.Second: false, 10 * time.Second: true, 8 * time.Hour: true} {
		synctest.Test(t, func(t *testing.T) {
			n := awake(t)
			n.begin()
			n.sleep(time.Second) // the state is projected
			n.clockOffset = late // except for the timer, which is armed
			n.sleep(59 * time.Second)
			if got := slices.Contains(n.journal.types(t), "clock.jumped"); got != slept || n.did(event.DoAbort) == slept {
				t.Fatalf("late by %s: %v", late, n.journal.types(t))
			}
			if !slept {
				return
			}
			n.sleep(60 * time.Second)
			if !n.did(event.DoAbort) {
				t.Errorf("late by %s, and a minute of silence later the agent still runs", late)
			}
		})
	}
}

func TestDriverIgnoresLateRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.happens(event.AgentExited{Code: 1})
		n.clockOffset = time.Hour
		n.sleep(time.Second)
		if types := n.journal.types(t); slices.Contains(types, "clock.jumped") || !slices.Contains(types, "timer.fired") {
			t.Errorf("%v", types)
		}
	})
}

func TestDriverRearmsAfterClockChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.clockOffset = -30 * time.Second
		n.sleep(60 * time.Second)
		if n.did(event.DoAbort) {
			t.Fatal("a deadline fired before its time")
		}
		n.sleep(30 * time.Second)
		if !n.did(event.DoAbort) {
			t.Error("the deadline was forgotten")
		}
	})
}

func TestDriverLimitsProjections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		synctest.Wait()
		if len(n.flushed) != 1 {
			t.Fatalf("at its beginning the state was projected %d times", len(n.flushed))
		}
		n.begin()
		for range 50 {
			n.happens(event.AgentNoticed{What: "x"})
			n.sleep(10 * time.Millisecond)
		}
		n.sleep(time.Second)
		// At the beginning, and then every quarter of a second while something is new.
		if len(n.flushed) != 3 {
			t.Errorf("in half a second the state was projected %d times: %v", len(n.flushed), n.flushed)
		}
		for i := range n.flushed[1:] {
			if apart := n.flushed[i+1].Sub(n.flushed[i]); apart < 250*time.Millisecond || apart > 300*time.Millisecond {
				t.Errorf("%s apart", apart)
			}
		}
		quiet := len(n.flushed)
		n.sleep(30 * time.Second)
		if len(n.flushed) != quiet {
			t.Error("a loop in which nothing happens is projected")
		}
	})
}

func TestDriverProjectsAfterClockChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		synctest.Wait()
		n.clockOffset = -time.Hour
		n.happens(turning[0])
		if len(n.flushed) != 2 {
			t.Errorf("the state was projected %d times", len(n.flushed))
		}
	})
}

func TestDriverEndsWithItsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.happens(event.CommandReceived{ID: "c", Kind: "kill"})
		n.happens(event.AgentExited{Code: -1, Signal: "killed"})
		if err := <-n.done; err != nil {
			t.Error(err)
		}
		if asked := n.journal.asked; !slices.Equal(asked[len(asked)-2:], []string{"append loop.ended", "sync"}) {
			t.Errorf("the end is not on disk: %v", asked)
		}
	})
}

func TestDriverReturnsOnCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		before := len(n.journal.lines)
		why := errors.New("the terminal is gone")
		n.stop(why)
		if err := <-n.done; !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
		if len(n.journal.lines) != before {
			t.Error("something is still recorded")
		}
	})
}

func TestDriverReturnsJournalError(t *testing.T) {
	for _, commands := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := awake(t)
			n.begin()
			n.journal.broken = errors.New("no space left on device")
			in := loop.Input{Drafts: []event.Draft{event.Encode(event.AgentNoticed{}, "story")}}
			if commands {
				in.Synced = func() { t.Error("Synced was called, and the input is not on disk") }
			}
			n.Inputs <- in
			if err := <-n.done; !errors.Is(err, n.journal.broken) || !strings.Contains(err.Error(), "append to the journal") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A command's file is removed when its receipt is on disk, and before anything is done.
func TestDriverReportsDurableCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		var asked []string
		released := 0
		send := func(id string) {
			n.Inputs <- loop.Input{
				Commands: []event.CommandReceived{{ID: id, Kind: "pause"}},
				Synced:   func() { asked = slices.Clone(n.journal.asked) }, Release: func() { released++ },
			}
			synctest.Wait()
		}
		send("c")
		if !slices.Equal(asked[len(asked)-2:], []string{"append command.received", "sync"}) || released != 1 {
			t.Errorf("%v, %d", asked, released)
		}
		if last := n.journal.asked[len(n.journal.asked)-1]; last != "append command.delivered" {
			t.Errorf("nothing follows from it: %s", last)
		}
		before := len(n.journal.lines)
		send("c")
		if len(n.journal.lines) != before || released != 2 {
			t.Error("a command whose file outlived a crash is recorded twice")
		}
	})
}

func TestEngineSyncsBeforeIrrevocableEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.happens(turning[0])
		if last := n.journal.asked[len(n.journal.asked)-1]; last != "rotate" {
			t.Errorf("an iteration does not begin its own segment: %v", n.journal.asked)
		}
		n.happens(turning[1])
		if asked := n.journal.asked; !slices.Equal(asked[len(asked)-2:], []string{"append decided", "sync"}) {
			t.Errorf("an agent is started by a decision that is not on disk: %v", asked)
		}
		if last := n.executor.before[string(event.DoStart)]; last != "sync" {
			t.Errorf("an agent is started when the journal was asked for %q last", last)
		}
		n.happens(turning[2], event.AgentThought{Text: event.Plain("hm")})
		n.happens(event.AgentFinished{Outcome: "ok"})
		if asked := n.journal.asked; asked[len(asked)-1] != "append decided" {
			t.Errorf("a release waits for the disk: %v", asked)
		}
		n.happens(event.AgentExited{})
		if !slices.Equal(n.journal.asked[len(n.journal.asked)-4:], []string{"append iteration.ended", "sync", "append decided", "rotate"}) {
			t.Errorf("%v", n.journal.asked)
		}
	})
}

// The agent of a fleet reads its own steps in the journal, and takes them.
func TestEngineSyncsStepsOfFleets(t *testing.T) {
	journal := &memJournal{clock: func() time.Time { return time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC) }}
	engine := &loop.Engine{Journal: journal, Executor: &recordingExecutor{}}
	for _, p := range []event.Payload{
		event.FleetOpened{Parallel: 1, Tasks: []event.FleetTask{{ID: "a", Loop: "x-a"}}},
		event.FleetDecided{Do: event.FleetBegin, Task: "a"},
		event.FleetObserved{Task: "a", What: event.FleetStarted},
	} {
		if err := engine.Step([]event.Draft{event.Encode(p, "fleet")}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"append fleet.opened", "append fleet.decided", "sync", "append fleet.observed"}; !slices.Equal(journal.asked, want) {
		t.Errorf("%q, want %q", journal.asked, want)
	}
	if task := engine.State().Fleet.Task("a"); task == nil || task.Step != event.FleetWorking {
		t.Errorf("%+v", task)
	}
}

func TestEngineSyncsBeforeCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.happens(event.LoopStarted{ID: "L", Rules: event.Rules{MaximumIterations: 3, SCM: true}})
		n.happens(append(turning[1:], event.AgentThought{Text: event.Plain("hm")}, event.AgentFinished{Outcome: "ok"}, event.AgentExited{})...)
		n.happens(event.IterationChecked{})
		if asked := n.journal.asked; !n.did(event.DoCommit) || !slices.Equal(asked[len(asked)-2:], []string{"append decided", "sync"}) {
			t.Errorf("a commit is made by a decision that is not on disk: %v", asked)
		}
		if last := n.executor.before[string(event.DoCommit)]; last != "sync" {
			t.Errorf("a commit is made when the journal was asked for %q last", last)
		}
	})
}

func TestEngineRotatesFullSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.journal.full = true
		n.happens(event.AgentNoticed{What: "x"})
		if asked := n.journal.asked; !slices.Equal(asked[len(asked)-2:], []string{"rotate", "append agent.noticed"}) {
			t.Errorf("%v", asked)
		}
		if n.Engine.Segment != 1 {
			t.Errorf("the segment is for iteration %d", n.Engine.Segment)
		}
		for _, line := range n.journal.lines[len(n.journal.lines)-1:] {
			if e, _ := event.Parse(line); e.Iter != 1 {
				t.Errorf("an event without an iteration is of %d", e.Iter)
			}
		}
	})
}

func TestEngineReturnsRotationError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := awake(t)
		n.begin()
		n.journal.full, n.journal.broken = true, errors.New("no space left on device")
		n.Inputs <- loop.Input{Drafts: []event.Draft{event.Encode(event.AgentNoticed{}, "story")}}
		if err := <-n.done; err == nil || !strings.Contains(err.Error(), "begin the next segment") {
			t.Errorf("%v", err)
		}
	})
}

func TestEngineReportsFoldedEvents(t *testing.T) {
	journal := &memJournal{clock: time.Now}
	var seen []string
	engine := &loop.Engine{Journal: journal, Executor: &recordingExecutor{}, Folded: func(events []event.Event, s *loopstate.State) {
		for _, e := range events {
			if s.Seq < e.Seq {
				t.Errorf("%s is passed on before it is folded", e.Type)
			}
			seen = append(seen, string(e.Type))
		}
	}}
	if err := engine.Step([]event.Draft{event.Encode(turning[0], "story")}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []string{"loop.started", "decided", "segment.opened"}) {
		t.Errorf("%v", seen)
	}
	other := &loop.Engine{Journal: journal, Executor: &recordingExecutor{}}
	other.Restore(*engine.State())
	if other.State().Lifecycle.Name != "x" {
		t.Error("the restored state is missing")
	}
	bad := testevent.Of(1, time.Time{}, event.Draft{Type: event.TypeIterationEnded, Data: []byte(`[]`)})
	if err := engine.Fold([]event.Event{bad}); err == nil {
		t.Error("an unreadable event is folded")
	}
}

// Each deadline of the agent moves if its timer fires too late.
func TestDriverRecordsLateAgentTimers(t *testing.T) {
	for name, story := range map[string][]event.Payload{
		"tool":      {event.ToolCalled{ID: "t"}},
		"iteration": {event.AgentNoticed{What: event.NoticeLingering}},
		"exitGrace": {event.AgentFinished{Outcome: "ok"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := awake(t)
			rules := event.Rules{MaximumIterations: 3, Limits: event.LimitRules{Idle: event.Duration(time.Second), Tool: event.Duration(time.Minute), Iteration: event.Duration(time.Minute), ExitGrace: event.Duration(time.Minute)}}
			if name != "iteration" {
				rules.Limits.Iteration = 0
			}
			n.happens(event.LoopStarted{ID: "L", Rules: rules})
			n.happens(turning[1])
			n.happens(append([]event.Payload{turning[2]}, story...)...)
			n.sleep(time.Second)
			before := len(n.executor.asked)
			n.clockOffset = time.Hour
			n.sleep(59 * time.Second)
			if types := n.journal.types(t); len(n.executor.asked) != before || types[len(types)-1] != "clock.jumped" && types[len(types)-2] != "clock.jumped" {
				t.Fatalf("%s: %v", name, types)
			}
			n.sleep(61 * time.Second)
			if len(n.executor.asked) == before {
				t.Errorf("%s: the deadline was forgotten: %v", name, n.journal.types(t))
			}
		})
	}
}

func TestDriverWorksWithoutFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &driverRun{executor: &recordingExecutor{}, done: make(chan error, 1)}
		now := func() time.Time {
			n.fence.Load()
			return time.Now()
		}
		n.journal = &memJournal{clock: now}
		n.Driver = &loop.Driver{Engine: &loop.Engine{Journal: n.journal, Executor: n.executor}, Inputs: make(chan loop.Input), Now: now}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		go func() { n.done <- n.Run(ctx) }()
		n.begin()
		n.sleep(time.Minute)
		if !n.did(event.DoAbort) {
			t.Error("the deadline was forgotten")
		}
		if n.fired() != 1 {
			t.Errorf("timers fired %d times", n.fired())
		}
	})
}

// fired counts the deadlines that were recorded.
func (n *driverRun) fired() (times int) {
	for _, asked := range n.journal.asked {
		if asked == "append timer.fired" {
			times++
		}
	}
	return times
}

// A deadline that moved while its timer fired has not passed.
func TestDriverForgetsMovedDeadline(t *testing.T) {
	journal := &memJournal{clock: time.Now}
	engine := &loop.Engine{Journal: journal, Executor: &recordingExecutor{}}
	d := &loop.Driver{Engine: engine, Now: time.Now}
	for _, p := range turning {
		if err := engine.Step([]event.Draft{event.Encode(p, "story")}); err != nil {
			t.Fatal(err)
		}
	}
	before := len(journal.lines)
	due, found := engine.State().Deadline()
	if !found {
		t.Fatal("there is no deadline")
	}
	if err := d.Fire(due); err != nil || len(journal.lines) != before {
		t.Errorf("a deadline fired before its time: %v", err)
	}
	past := due
	past.At = time.Now().Add(-time.Minute)
	if err := d.Fire(past); err != nil || len(journal.lines) != before {
		t.Errorf("a deadline that moved fired: %v", err)
	}
	past.Name = ""
	if err := d.Fire(past); err != nil || len(journal.lines) != before {
		t.Errorf("no deadline fired: %v", err)
	}
	journal.clock = func() time.Time { return due.At }
	d.Now = journal.clock
	if err := d.Fire(due); err != nil || len(journal.lines) == before {
		t.Errorf("a deadline that passed did not fire: %v", err)
	}
}

func TestDriverReturnsTimerError(t *testing.T) {
	for _, late := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			n := awake(t)
			n.begin()
			n.sleep(time.Second)
			n.journal.broken, n.clockOffset = errors.New("no space left on device"), late
			n.sleep(time.Minute)
			if err := <-n.done; !errors.Is(err, n.journal.broken) {
				t.Errorf("late by %s: %v", late, err)
			}
		})
	}
}

func TestDriverReturnsFirstError(t *testing.T) {
	journal := &memJournal{clock: time.Now}
	engine := &loop.Engine{Journal: journal, Executor: &recordingExecutor{}}
	var s loop.State
	s.Started, s.Rules.MaximumIterations = time.Now(), 3
	engine.Restore(s)
	journal.broken = errors.New("no space left on device")
	d := &loop.Driver{Engine: engine, Now: time.Now, Inputs: make(chan loop.Input)}
	if err := d.Run(t.Context()); !errors.Is(err, journal.broken) {
		t.Errorf("%v", err)
	}
}
