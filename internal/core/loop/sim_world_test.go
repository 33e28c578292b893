package loop_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// world is one simulated run of one loop: a disk, a clock, people, a reader, and
// runners one after another, each with its executor and agents. Everything happens in
// one queue, ordered by time; every choice comes from the seed.
type world struct {
	seed     uint64
	rng      *rand.Rand
	scenario scenario
	broken   mutation

	began   time.Time
	now     time.Time     // of the machine, never set back
	stopped time.Time     // until when the runner's process is stopped
	skew    time.Duration // of the wall clock
	queue   queue
	order   int
	ids     int

	disk    *simfs.FS
	pages   pages
	faults  faultModel
	reader  reader
	users   users
	project project
	outside outside
	runner  *runner // nil while none runs
	runs    int
	epoch   uint64   // under which this host has the loop
	agents  []*agent // all that ever lived
	pids    int
	facts   int // serial number of the last line that an agent printed

	crashes int
	begins  int // iterations that were asked for
	checks  int // of the work, before or after iterations
	changes int // of the disk by earlier runners
	resumes int
	trace   []string
	seen    seen
	steps   int
	done    bool
}

const (
	loopDir = "loop"
	// A run has to come to its end within these.
	maxSteps = 200_000
	maxRun   = 30 * 24 * time.Hour
	// Including refunded ones: a run has few limits, disasters and outages.
	beginsMost = 300
	checksMost = 2 * beginsMost
)

// violation is the panic by which an invariant ends a run.
type violation struct {
	invariant string
	problem   string
}

func (v violation) Error() string { return v.invariant + ": " + v.problem }

func (w *world) violate(invariant, format string, args ...any) {
	panic(violation{invariant, fmt.Sprintf(format, args...)})
}

// item is something that will happen.
type item struct {
	at    time.Time
	order int
	// runner is the one in whose process this happens; if it is dead, it does not happen. nil means
	// the world outside.
	runner *runner
	own    bool // it is the runner itself that does it, not an agent
	do     func()
}

type queue []*item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// after schedules something in the world outside.
func (w *world) after(d time.Duration, do func()) { w.schedule(nil, d, do) }

func (w *world) schedule(r *runner, d time.Duration, do func()) *item {
	w.order++
	if r != nil {
		r.coming++
	}
	it := &item{at: w.now.Add(d), order: w.order, runner: r, do: do}
	heap.Push(&w.queue, it)
	return it
}

// newWorld returns a run that has not begun.
func newWorld(seed uint64, s scenario, broken mutation) *world {
	w := &world{
		seed: seed, epoch: 1, rng: rand.New(rand.NewPCG(seed, 2)), scenario: s, broken: broken,
		now:  time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC),
		disk: simfs.New(rand.New(rand.NewPCG(seed, 3))),
	}
	w.seen = seen{}
	w.faults.w, w.reader.w, w.users.w, w.project.w, w.outside.w = w, w, w, w, w
	if err := w.create(); err != nil {
		panic(err)
	}
	return w
}

// create makes the loop's folders, durable as after the start of a loop.
func (w *world) create() error {
	for _, dir := range []string{loopDir, inboxDir, rejectedDir} {
		if err := w.disk.MkdirAll(dir); err != nil {
			return err
		}
	}
	root, err := w.disk.OpenFolder(".")
	if err != nil {
		return err
	}
	for _, dir := range []string{".", loopDir, inboxDir} {
		if err := root.SyncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// play runs until the loop has ended for good. It panics with a violation.
func (w *world) play() {
	w.after(0, w.run)
	w.reader.begin()
	w.users.begin()
	w.outside.begin()
	if w.scenario.edition >= 2 {
		w.project.create()
		w.nap()
	}
	if w.scenario.skews {
		w.after(w.span(time.Minute, 2*time.Hour), w.setClock)
	}
	w.began = w.now
	for !w.done {
		if len(w.queue) == 0 {
			w.violate(neverStuck, "nothing will ever happen again, and the loop has not ended")
		}
		w.look()
		next := heap.Pop(&w.queue).(*item)
		if next.runner != nil {
			if next.runner != w.runner {
				continue
			}
			if next.own && w.stopped.After(next.at) {
				next.at = w.stopped
				heap.Push(&w.queue, next)
				continue
			}
			next.runner.coming--
		}
		w.now = next.at
		if w.steps++; w.steps > maxSteps || w.now.Sub(w.began) > maxRun {
			w.violate(runEnds, "the run does not end: %d steps, %s", w.steps, w.now.Sub(w.began))
		}
		next.do()
		if w.runner != nil && w.disk.Crashed() {
			w.crash(w.scenario.loss(w.rng, w.runs))
		}
	}
}

// look asserts that a loop which is neither ended nor paused waits for something:
// an input, an effect under way, an agent that will act, or a deadline.
func (w *world) look() {
	r := w.runner
	if r == nil || r.coming > 0 {
		return
	}
	s := r.driver.Engine.State()
	if s.NeedsResume() && s.Phase == policy.Between {
		return
	}
	if w.waitsForOther(s) {
		return
	}
	w.violate(neverStuck, "status %s, iteration %d, phase %q: no input, effect, agent or deadline is coming", s.Status(), s.Iteration, s.Phase)
}

// run starts a runner.
func (w *world) run() {
	if w.runner != nil {
		return
	}
	w.project.mend()
	if w.scenario.claimed > 0 && w.runs > 0 && w.chance(w.scenario.claimed) {
		w.epoch++
	}
	w.runs++
	r := &runner{w: w, number: w.runs}
	w.runner = r
	r.before = w.disk.Changes()
	plan := w.scenario.disaster(w)
	if plan.CrashAt > 0 {
		plan.CrashAt += r.before // the disk counts from its creation
	}
	w.disk.Plan(plan)
	w.note("runner %d starts", r.number)
	if err := r.open(); err != nil {
		r.failed(err)
	}
	if w.runner != r || w.disk.Crashed() {
		return
	}
	if at, ok := w.scenario.kill(w.rng, w.runs); ok {
		w.after(at, func() {
			if w.runner == r {
				w.crash(w.scenario.loss(w.rng, w.runs))
			}
		})
	}
}

// crash ends the runner's process, and with PowerLost the machine.
func (w *world) crash(how simfs.Loss) {
	r := w.runner
	w.note("runner %d dies (%s)", r.number, deaths[how])
	if w.disk.Crashed() {
		w.seen.saw(disks, deaths[how]+" in a change")
	} else {
		w.seen.saw(disks, deaths[how]+" between two")
	}
	w.crashes++
	w.runner = nil
	r.dead = true
	if how == simfs.Killed {
		w.reader.look() // a reader may look just now
	} else {
		w.reader.forget()
	}
	w.changes += w.disk.Changes() - r.before
	w.lose(how)
	w.faults.crash(how)
	if how == simfs.Killed {
		w.checkLive(r)
		w.checkKept(r)
	}
	for _, a := range w.agents {
		a.orphan(how)
	}
	w.reader.compare()
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "after the crash: %v", err)
	}
	if hasEnded(events) {
		w.ended()
		return
	}
	w.after(w.span(0, 10*time.Minute), w.run)
}

var deaths = map[simfs.Loss]string{simfs.Killed: "killed", simfs.PowerLost: "power lost", simfs.PowerLostAnyOrder: "power lost, in any order"}

// ended is called when the loop has ended and no runner is left.
func (w *world) ended() {
	w.judge()
	if events, err := w.journal(); err == nil && slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == event.TypeLoopFenced }) {
		w.done = true // it is resumed on another host
		return
	}
	if w.resumes < w.scenario.resumes {
		w.resumes++
		w.after(w.span(time.Minute, time.Hour), w.run)
		return
	}
	w.done = true
}

// closed is called when a runner has ended by itself and its process is gone.
func (w *world) closed(r *runner, err error) {
	w.runner = nil
	r.dead = true
	w.changes += w.disk.Changes() - r.before
	w.lose(simfs.Killed)
	w.faults.crash(simfs.Killed)
	for _, a := range w.agents {
		if a.alive && a.h.r == r {
			w.violate(oneAgent, "runner %d is gone and its agent %d lives", r.number, a.pid)
		}
	}
	w.reader.look()
	if r.opened {
		w.checkLive(r)
		w.checkKept(r)
	}
	switch {
	case err != nil:
		w.note("runner %d gives up: %v", r.number, err)
		// A person looks into it and starts the loop again.
		w.after(w.span(time.Minute, 3*time.Hour), w.run)
	case r.opened && r.driver.Engine.State().Lifecycle.Ended == nil:
		w.violate(neverStuck, "runner %d ended without an error and without ending the loop", r.number)
	default:
		w.note("runner %d ends the loop: %s", r.number, r.driver.Engine.State().Lifecycle.Ended.Reason)
		w.ended()
	}
}

// setClock sets the wall clock, as people and daemons do.
func (w *world) setClock() {
	w.skew += w.span(0, 2*time.Hour) - time.Hour
	w.note("the clock is set to %s", w.wall().Format(time.TimeOnly))
	w.after(w.span(10*time.Minute, 3*time.Hour), w.setClock)
}

func (w *world) wall() time.Time { return w.now.Add(w.skew) }

// id returns a new id: rising, and as long as a ULID.
func (w *world) id(time.Time) (id [26]byte) {
	w.ids++
	copy(id[:], fmt.Sprintf("01SIM%021d", w.ids))
	return id
}

// chance is true n times of a hundred.
func (w *world) chance(n int) bool { return w.rng.IntN(100) < n }

// span is a random time between two, in microseconds, the unit of the journal.
func (w *world) span(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64((most-least)/time.Microsecond)+1))*time.Microsecond
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, w.now.Format("02 15:04:05.000000 ")+fmt.Sprintf(format, args...))
}

// story returns the last events, for a person who looks for a mistake.
func (w *world) story(n int) string {
	var b strings.Builder
	events, err := w.journal()
	for _, e := range events[max(0, len(events)-n):] {
		fmt.Fprintf(&b, "%s %4d i%d %s %s cause=%d %.300s\n", e.At.Format("02 15:04:05.000000"), e.Seq, e.Iter, e.By(), e.Type, e.Cause, e.Data())
	}
	if err != nil {
		fmt.Fprintf(&b, "the journal reads no further: %v\n", err)
	}
	b.WriteString("what happened around it:\n")
	b.WriteString(strings.Join(w.trace[max(0, len(w.trace)-n):], "\n"))
	return b.String()
}
