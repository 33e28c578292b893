package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	simSeeds = flag.Int("fleet.seeds", 400, "how many fleets TestSimulation plays")
	simFirst = flag.Uint64("fleet.first", 1, "the first seed")
)

// errKilled ends an agent as kill -9 does.
var errKilled = errors.New("killed")

// simLoop is the loop of a task.
type simLoop struct {
	policy.FleetLoop
	work   int // what its branch has
	merged int // what of that is in the fleet's branch
	talks  int // messages for its agent
}

// sim is a fleet without processes: its loops end in any order and in any way, its agent is killed
// anywhere and starts again, and the journal is all that outlives it.
type sim struct {
	*rand.Rand
	t        *testing.T
	seen     map[string]int
	tasks    []Task
	parallel int
	limit    float64
	byPerson bool

	journal  []event.Payload
	stops    map[int]bool // a person stops the fleet before that event of the journal
	stopping bool
	loops    map[string]*simLoop
	kills    int // that may still come

	state policy.Fleet // of the agent that lives
}

func (w *sim) fleet() *policy.Fleet             { return &w.state }
func (w *sim) next() (event.FleetDecided, bool) { return w.state.Next(w.stopping, w.limit) }
func (w *sim) say(string, ...any)               {}
func (w *sim) chance(n int) bool                { return w.IntN(n) == 0 }

func (w *sim) watch(_ context.Context, loop string, _ policy.FleetLoop) {
	if !w.loops[loop].Alive {
		w.t.Errorf("%s is watched, and does not run", loop)
	}
}

func (w *sim) look(loop string) (policy.FleetLoop, error) {
	l, ok := w.loops[loop]
	if !ok {
		return policy.FleetLoop{}, nil
	}
	return l.FleetLoop, nil
}

// killed reports whether the agent is killed here.
func (w *sim) killed(where string) bool {
	if w.kills == 0 || !w.chance(12) {
		return false
	}
	w.kills--
	w.seen["killed "+where]++
	return true
}

func (w *sim) record(_ context.Context, p event.Payload) error {
	if w.killed("before a record") {
		return errKilled
	}
	w.check(p)
	w.journal = append(w.journal, p)
	if w.killed("after a record") {
		return errKilled
	}
	w.state.Apply(p)
	return nil
}

// check compares an event that is about to be recorded with the world.
func (w *sim) check(p event.Payload) {
	switch p := p.(type) {
	case event.FleetObserved:
		w.seen["result "+string(p.What)]++
		if l := w.loops[w.state.Task(p.Task).Loop]; p.What == event.FleetAccepted && l.merged != l.work {
			w.t.Errorf("%s counts as merged with %d of %d", p.Task, l.merged, l.work)
		}
	case event.FleetDecided:
		w.seen["action "+string(p.Do)]++
		if p.Do != event.FleetBegin {
			return
		}
		free := w.limit - p.Share
		for _, l := range w.loops {
			if free -= l.USD; l.Alive {
				free -= max(l.Share-l.USD, 0)
			}
		}
		if w.limit > 0 && free < -0.001 {
			w.t.Errorf("%s begins with a share of %v, and the fleet has %v less than that", p.Task, p.Share, -free)
		}
		if w.stopping {
			w.t.Errorf("%s begins after a person stopped the fleet", p.Task)
		}
	}
}

// carryOut is what [run.carryOut] does, on loops that are no processes.
func (w *sim) carryOut(ctx context.Context, t policy.FleetTask) error {
	if w.killed("before an action") {
		return errKilled
	}
	var last event.FleetDecided
	for _, p := range w.journal {
		if d, ok := p.(event.FleetDecided); ok && d.Task == t.ID {
			last = d
		}
	}
	if last != *t.Doing {
		w.t.Errorf("%+v is carried out, and the journal has %+v", *t.Doing, last)
	}
	l := w.loops[t.Loop]
	o := event.FleetObserved{Task: t.ID, What: event.FleetStarted}
	switch t.Doing.Do {
	case event.FleetBegin:
		if l == nil || !l.Alive && !l.Begun {
			o.What, o.Why = w.begin(t), "no"
		} else {
			w.seen["an action that was carried out before"]++
		}
	case event.FleetResume:
		if !l.Alive && l.Seq <= t.Seq {
			if l.talks++; w.chance(20) {
				o.What, o.Why = event.FleetRefused, "no"
				break
			}
			l.Alive, l.Ended = true, nil
			l.Seq++
		} else {
			w.seen["an action that was carried out before"]++
		}
	case event.FleetMerge:
		if l.Alive {
			w.t.Errorf("%s is merged while its loop runs", t.ID)
		}
		if t.Base == "" {
			if err := w.record(ctx, event.FleetObserved{Task: t.ID, What: event.FleetBased, Commit: "base"}); err != nil {
				return err
			}
		}
		switch {
		case l.work == 0:
			o.What = event.FleetUnchanged
		case l.merged == l.work:
			w.seen["an action that was carried out before"]++
			o.What = event.FleetAccepted
		case w.chance(3):
			o.What = []event.FleetResult{event.FleetConflicting, event.FleetRejected, event.FleetUncommitted, event.FleetLost}[w.IntN(4)]
			o.Why = "no"
		default:
			o.What, l.merged = event.FleetAccepted, l.work
		}
		if o.What == event.FleetAccepted {
			o.Commit = "merged"
		}
	}
	if w.killed("after an action") {
		return errKilled
	}
	return w.record(ctx, o)
}

func (w *sim) begin(t policy.FleetTask) event.FleetResult {
	at := slices.IndexFunc(w.tasks, func(o Task) bool { return o.ID == t.ID })
	for _, on := range w.tasks[at].DependsOn {
		if l := w.loops["x-"+on]; !w.tasks[slices.IndexFunc(w.tasks, func(o Task) bool { return o.ID == on })].Done && (l == nil || l.merged == 0) {
			w.t.Errorf("%s begins before %s is merged", t.ID, on)
		}
	}
	alive := 1
	for _, l := range w.loops {
		if l.Alive {
			alive++
		}
	}
	if alive > w.parallel {
		w.t.Errorf("%d loops run, and %d may", alive, w.parallel)
	}
	if w.chance(25) {
		return event.FleetRefused
	}
	w.loops[t.Loop] = &simLoop{FleetLoop: policy.FleetLoop{Alive: true, Begun: !w.chance(12), Seq: 1, Share: t.Doing.Share}}
	return event.FleetStarted
}

// wait lets something happen.
func (w *sim) wait(context.Context) error {
	if w.killed("while it waits") {
		return errKilled
	}
	if !w.live() {
		return errors.New("it waits, and nothing runs")
	}
	return nil
}

// live lets time pass: false if no loop runs.
func (w *sim) live() bool {
	names := []string{}
	for name, l := range w.loops {
		if l.Alive {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return false
	}
	if !w.stopping && w.chance(60) {
		w.stopping, w.stops[len(w.journal)] = true, true
	}
	l := w.loops[names[w.IntN(len(names))]]
	l.Seq++
	if !l.Begun {
		l.Begun, l.Alive = !w.chance(2), false // its start was killed
		return true
	}
	if w.chance(2) {
		l.USD += w.Float64()
		return true
	}
	l.Alive = false
	if l.talks > 0 || !w.chance(6) {
		l.work++
	}
	switch w.IntN(12) {
	case 0:
	case 1:
		l.Ended = &event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonInterrupt}
	case 2:
		l.Ended = &event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonIterations, Why: "no"}
	default:
		l.Ended = &event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}
	}
	return true
}

// start is what [run.open] does: the agent folds the journal, and records what there is.
func (w *sim) start(ctx context.Context) error {
	w.state = policy.Fleet{}
	for i, p := range w.journal {
		w.state.Apply(p)
		if w.chance(10) || i == len(w.journal)-1 { // a segment ends here
			w.state = throughJSON(w.t, w.state)
		}
	}
	opened := event.FleetOpened{Parallel: w.parallel, Branch: "ralph/x", ByPerson: w.byPerson}
	for _, task := range w.tasks {
		t := event.FleetTask{ID: task.ID, Loop: "x-" + task.ID, DependsOn: task.DependsOn}
		if task.Done {
			t.Step = event.FleetMerged
		}
		if l := w.loops[t.Loop]; l != nil && l.Begun {
			t.Begun, t.Share, t.USD = true, l.Share, l.USD
		}
		opened.Tasks = append(opened.Tasks, t)
	}
	return w.record(ctx, opened)
}

func throughJSON(t *testing.T, f policy.Fleet) (back policy.Fleet) {
	data, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	again, _ := json.Marshal(back)
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("%s became %s: %v", data, again, err)
	}
	return back
}

// play plays a fleet to its end.
func (w *sim) play() (event.FleetDecided, error) {
	ctx := context.Background()
	for {
		err := w.start(ctx)
		var d event.FleetDecided
		if err == nil {
			d, err = drive(ctx, w)
		}
		if !errors.Is(err, errKilled) {
			return d, err
		}
		for range w.IntN(4) {
			w.live() // until the agent starts again
		}
	}
}

func newSim(t *testing.T, seed uint64, seen map[string]int) *sim {
	w := &sim{
		Rand: rand.New(rand.NewPCG(seed, 0)), t: t, seen: seen, stops: map[int]bool{}, loops: map[string]*simLoop{}, //nolint:gosec // a simulation
	}
	w.parallel, w.byPerson, w.kills = 1+w.IntN(4), w.chance(3), w.IntN(10)
	if w.chance(3) {
		w.limit = 1 + 6*w.Float64()
	}
	for i := range 1 + w.IntN(10) {
		task := Task{ID: string(rune('a' + i)), Done: i == 0 && w.chance(4)}
		for j := range i {
			if w.chance(4) {
				task.DependsOn = append(task.DependsOn, string(rune('a'+j)))
			}
		}
		w.tasks = append(w.tasks, task)
	}
	return w
}

// TestSimulation plays fleets of any shape. Whatever is killed, no loop is started twice, no task
// begins before what it depends on is merged, never more work than is allowed, and in the end each
// task is merged, failed or kept by a failed one. The journal alone gives the same decisions.
func TestSimulation(t *testing.T) {
	seen := map[string]int{}
	for seed := *simFirst; seed < *simFirst+uint64(*simSeeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newSim(t, seed, seen)
			d, err := w.play()
			if err != nil {
				t.Fatal(err)
			}
			w.checkEnd(d)
			w.replay()
			if t.Failed() {
				t.Logf("again: go test ./internal/verb/fleet -run TestSimulation -fleet.first=%d -fleet.seeds=1", seed)
			}
		})
	}
	for _, what := range wanted {
		if seen[what] == 0 && *simSeeds >= 400 {
			t.Errorf("no run has met: %s", what)
		}
	}
}

// wanted is what the runs have to meet, or they do not test it.
var wanted = []string{
	"action begin", "action resume", "action merge", "action give up", "action complete", "action block", "action stop",
	"result started", "result refused", "result absent", "result completed", "result interrupted", "result died", "result ended", "result spent", "result based",
	"result accepted", "result unchanged", "result uncommitted", "result conflicting", "result rejected", "result lost",
	"killed before a record", "killed after a record", "killed before an action", "killed after an action", "killed while it waits",
	"an action that was carried out before",
}

// checkEnd checks what the fleet came to.
func (w *sim) checkEnd(d event.FleetDecided) {
	merged := 0
	for _, task := range w.state.Tasks {
		l := w.loops[task.Loop]
		switch done := w.tasks[slices.IndexFunc(w.tasks, func(o Task) bool { return o.ID == task.ID })].Done; {
		case done, l != nil && l.work > 0 && l.merged == l.work && task.Step == event.FleetMerged:
			merged++
		case task.Step == event.FleetMerged:
			w.t.Errorf("%s counts as merged: %+v", task.ID, l)
		case task.Step == event.FleetWorking, task.Step == event.FleetMerging:
			w.t.Errorf("%s is left at %s", task.ID, task.Step)
		case task.Step == event.FleetFailed && task.Why == "":
			w.t.Errorf("%s failed without a reason", task.ID)
		}
		if l != nil && l.Alive {
			w.t.Errorf("%s still runs", task.Loop)
		}
		if task.Tries > 3 {
			w.t.Errorf("%s was tried %d times", task.ID, task.Tries)
		}
	}
	if all := merged == len(w.tasks); all != (d.Do == event.FleetComplete) {
		w.t.Errorf("%d of %d are merged, and it ends as %s", merged, len(w.tasks), d.Do)
	}
	if d.Do == event.FleetStop && !w.stopping {
		w.t.Error("it stopped, and no stop was sent")
	}
}

// replay decides again from the journal.
func (w *sim) replay() {
	var f policy.Fleet
	stopping := false
	for i, p := range w.journal {
		stopping = stopping || w.stops[i]
		if want, ok := p.(event.FleetDecided); ok {
			if got, ok := f.Next(stopping, w.limit); !ok || got != want {
				w.t.Errorf("event %d is %+v, and a replay decides %+v", i, want, got)
			}
		}
		f.Apply(p)
	}
}
