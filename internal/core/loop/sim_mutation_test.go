package loop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// mutation is an intended fault of a world. The zero mutation is a world without faults.
type mutation struct {
	// spoil returns what is written in place of p.
	spoil func(w *world, file string, p []byte) []byte
	// folded is called after the engine's own fold, and may spoil the state.
	folded func([]event.Event, *loopstate.State)
	// journal and executor wrap the engine's real ones.
	journal  func(*runner, loop.Journal) loop.Journal
	executor func(*runner, loop.Executor) loop.Executor
	// recovered is called before a runner opens the journal, and may spoil the disk.
	recovered func(*world)
	// early is when the files of commands are removed: before their receipt is recorded.
	early bool

	// unfolded leaves out the comparison of states, which notices every spoiled one
	// before it does any harm.
	unfolded bool
	decided  bool // with unfolded: the decisions are still compared

	noSweep    bool // a runner does not end the previous runner's agent
	noTimer    bool // no timer fires
	forgetful  bool // the inbox does not know what it has received
	twice      bool // now and then two agents are started
	immortal   bool // now and then the end of a process is reported and it lives on
	exitsTwice bool // each end of a process is reported twice
	confirms   bool // messages are confirmed after their turn
	dicey      bool // something does not come from the seed
	deaf       bool // jumps of the clock are not noticed
	gullible   bool // a copy of a sealed file is used as it is
	unkept     bool // copies of sealed files are not synced
	rash       bool // tasks.json is replaced before that is recorded
	movesAgain bool // each resume records the last take-over
	hasty      bool // an agent at work is reported as parked

	// stage makes the scenario fit if chance would take too long.
	stage func(*scenario)
}

func (m mutation) wrap(r *runner) loop.Journal {
	if m.journal != nil {
		return m.journal(r, r.writer)
	}
	return r.writer
}

func (m mutation) hold(r *runner) loop.Executor {
	if m.executor != nil {
		return m.executor(r, r.executor)
	}
	return r.executor
}

// wrong is something that an invariant has to notice.
type wrong struct {
	name   string
	broken mutation
	want   string
}

// Each invariant can fail: each mutation here is noticed by its invariant.
func TestSimulationCanFail(t *testing.T) {
	for _, row := range []wrong{
		{"a disk changes a letter", mutation{spoil: changeLetter}, verifies},
		{"a recovery cuts the last whole line off", mutation{recovered: cutLastLine}, seenIsKept},
		{"the journal drops a line", mutation{journal: func(r *runner, j loop.Journal) loop.Journal { return dropping{j, r.w} }}, factsKept},
		{"the journal writes a line twice", mutation{journal: func(r *runner, j loop.Journal) loop.Journal { return doubling{j, r.w} }}, factsKept},
		{"the journal does not sync", mutation{journal: func(_ *runner, j loop.Journal) loop.Journal { return unsynced{j} }}, recordedFirst},
		{"the journal goes on after a failed sync", mutation{journal: func(r *runner, j loop.Journal) loop.Journal { return carefree{j, r} }}, silentAfterFault},
		{"an effect starts before its decision is recorded", mutation{journal: func(r *runner, j loop.Journal) loop.Journal { return hasty{j, r} }}, recordedFirst},
		{"an effect is not the one that was decided", mutation{executor: func(_ *runner, h loop.Executor) loop.Executor { return wilful{h} }}, recordedFirst},
		{"the executor names no cause", mutation{executor: func(r *runner, h loop.Executor) loop.Executor { return causeless{h, r.executor} }}, causesMatch},
		{"two agents are started", mutation{twice: true}, oneAgent},
		{"a runner does not sweep", mutation{noSweep: true}, oneAgent},
		{"an agent lives on after its end was reported", mutation{immortal: true}, oneAgent},
		{"the end of a process is reported twice", mutation{exitsTwice: true}, oneExit},
		{"the inbox forgets what it has received", mutation{forgetful: true}, answeredOnce},
		{"a command's file is removed before its receipt is recorded", mutation{early: true}, answeredOnce},
		{"messages are confirmed when the next prompt has them", mutation{confirms: true}, deliveredOnce},
		{"a decision is made from another state", mutation{unfolded: true, decided: true, folded: func(_ []event.Event, s *loopstate.State) { s.Rules.MaximumIterations = 1 }}, decidedAgain},
		{"the live state forgets an answer", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Commands.Seen = nil }}, stateIsFold},
		{"iterations are not counted", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Budget.Counted = 0 }, unfolded: true}, withinLimits},
		{"failures are not counted", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Failover.Restart.Failures = 0 }, unfolded: true}, withinLimits},
		{"an agent that says nothing is heard", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Process.Answered = true }, unfolded: true}, refundsHold},
		{"no agent is heard", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Process.Heard, s.Process.Answered = false, false }, unfolded: true}, refundsHold},
		{"a pause is forgotten", mutation{folded: func(_ []event.Event, s *loopstate.State) { s.Commands.Pausing = false }, unfolded: true}, commandsHold},
		{"a stop is forgotten", mutation{folded: forgetStop, unfolded: true}, commandsHold},
		{"the loop ends for another reason", mutation{unfolded: true, journal: func(_ *runner, j loop.Journal) loop.Journal { return misreporting{j} }}, reasonHolds},
		{"an iteration skips a number", mutation{folded: skipNumber, unfolded: true}, inTurn},
		{"a blob is not written", mutation{spoil: loseBlob}, blobsWhole},
		{"no timer goes off", mutation{noTimer: true}, neverStuck},
		{"a delay begins again when it is over", mutation{folded: delayAgain, unfolded: true}, timersRest},
		{"something does not come from the seed", mutation{dicey: true}, sameRun},
	} {
		notices(t, row, newScenario)
	}
	for _, row := range wrongInTheSecondEdition {
		notices(t, row, second)
	}
	for _, row := range append(wrongSnapshots, wrongAgents...) {
		notices(t, row, third)
	}
	for _, row := range append(wrongBackgrounds, wrongRounds...) {
		notices(t, row, fourth)
	}
	for _, row := range append(wrongStories, wrongReviews...) {
		notices(t, row, seventh)
	}
	for _, row := range wrongQuestions {
		notices(t, row, eighth)
	}
	for _, row := range wrongSchedules {
		notices(t, row, tenth)
	}
	for _, row := range wrongHeldOut {
		notices(t, row, eleventh)
	}
	for _, row := range wrongProofs {
		notices(t, row, proving)
	}
	for _, row := range wrongPrompts {
		notices(t, row, eighth)
	}
	for _, row := range wrongFences {
		notices(t, row, fencing)
	}
}

// notices plays runs with a mutation until one is caught.
func notices(t *testing.T, row wrong, draw func(uint64) scenario) {
	t.Run(row.name, func(t *testing.T) {
		t.Parallel()
		if *simSeed != 0 {
			t.Skip("one run is asked for")
		}
		const most = 200
		for seed := range uint64(most) {
			s := draw(seed + 1)
			if row.broken.stage != nil {
				row.broken.stage(&s)
			}
			first, problem := playRun(seed+1, s, row.broken)
			if problem == nil && row.want == sameRun {
				if second, failed := playRun(seed+1, s, row.broken); failed == nil {
					problem = compareRuns(first, second)
				}
			}
			if problem == nil {
				continue
			}
			if v, ok := errors.AsType[violation](problem); !ok || v.invariant != row.want {
				t.Fatalf("want %q, and seed %d is caught as %v", row.want, seed+1, problem)
			}
			t.Logf("caught in run %d: %.200v", seed+1, problem)
			return
		}
		t.Fatalf("%d runs went well", most)
	})
}

func changeLetter(w *world, file string, p []byte) []byte {
	if isSegment(file) && w.chance(1) {
		return bytes.Replace(p, []byte("SIM"), []byte("SIN"), 1)
	}
	return p
}

func loseBlob(_ *world, file string, p []byte) []byte {
	if strings.Contains(file, "/blobs/") {
		return nil
	}
	return p
}

func forgetStop(_ []event.Event, s *loopstate.State) {
	if s.Commands.Stopping == event.CommandStop {
		s.Commands.Stopping = ""
	}
}

// skipNumber spoils the state only if nothing else would notice first.
func skipNumber(events []event.Event, s *loopstate.State) {
	if events[len(events)-1].Type == event.TypeIterationEnded {
		s.Iteration++
	}
}

func delayAgain(events []event.Event, s *loopstate.State) {
	if events[len(events)-1].Type == event.TypeTimerFired && !s.Failover.Restart.NotUntil.IsZero() {
		s.Failover.Restart.NotUntil = s.At.Add(time.Millisecond)
	}
}

func cutLastLine(w *world) {
	paths := segments(w.disk)
	if len(paths) == 0 {
		return
	}
	last := paths[len(paths)-1]
	content, err := w.disk.ReadFile(last)
	if err != nil || len(content) == 0 {
		return
	}
	if shorter := wholeLines(content[:len(content)-1]); len(shorter) > 0 {
		_ = w.disk.Drop(last, shorter)
		w.pages = pages{}
	}
}

type dropping struct {
	loop.Journal
	w *world
}

func (j dropping) Append(drafts []event.Draft) ([]event.Event, error) {
	if len(drafts) > 1 && drafts[0].Type == event.TypeAgentSaid && j.w.chance(30) {
		drafts = drafts[:len(drafts)-1]
	}
	return j.Journal.Append(drafts)
}

type doubling struct {
	loop.Journal
	w *world
}

func (j doubling) Append(drafts []event.Draft) ([]event.Event, error) {
	if drafts[0].Type == event.TypeAgentUsed && j.w.chance(30) {
		drafts = append(drafts[:1:1], drafts...)
	}
	return j.Journal.Append(drafts)
}

type unsynced struct{ loop.Journal }

func (unsynced) Sync() error { return nil }

// carefree ignores a failed sync, and writes on in a new file.
type carefree struct {
	loop.Journal
	r *runner
}

func (j carefree) Sync() error {
	_ = j.Journal.Sync()
	return nil
}

func (j carefree) Append(drafts []event.Draft) ([]event.Event, error) {
	events, err := j.Journal.Append(drafts)
	if err == nil || errors.Is(err, simfs.ErrCrashed) {
		return events, err
	}
	return (&memory{now: j.r.w.now}).Append(drafts)
}

// hasty starts the effect before it is recorded.
type hasty struct {
	loop.Journal
	r *runner
}

func (j hasty) Append(drafts []event.Draft) ([]event.Event, error) {
	if drafts[0].Type == event.TypeDecided {
		var d event.Decided
		if err := json.Unmarshal(drafts[0].Data, &d); err != nil {
			return nil, err
		}
		s := j.r.driver.Engine.State()
		j.r.executor.Do(d, s.Seq+1, s)
	}
	return j.Journal.Append(drafts)
}

type wilful struct{ loop.Executor }

func (h wilful) Do(d event.Decided, cause event.Seq, s *loopstate.State) {
	if d.Do == event.DoRelease {
		d.Do = event.DoKill
	}
	h.Executor.Do(d, cause, s)
}

// causeless forgets why an iteration was begun.
type causeless struct {
	loop.Executor
	real *simExecutor
}

func (h causeless) Do(d event.Decided, cause event.Seq, s *loopstate.State) {
	if d.Do == event.DoBegin {
		h.real.queue(func(done func()) { h.real.begin(d, "work", "go", 0); done() })
		return
	}
	h.Executor.Do(d, cause, s)
}

// misreporting gives another reason for the end.
type misreporting struct{ loop.Journal }

func (j misreporting) Append(drafts []event.Draft) ([]event.Event, error) {
	if drafts[0].Type == event.TypeLoopEnded {
		drafts[0] = event.Encode(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}, "loop")
	}
	return j.Journal.Append(drafts)
}

// dice returns random numbers that do not come from the seed.
func dice(n int) int { return rand.IntN(n) }
