package playground

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Run is one simulated run of one loop. It belongs to one goroutine.
type Run struct {
	rng   *rand.Rand
	now   time.Time
	queue queue
	order int
	ids   int
	pids  int

	disk    *simfs.FS
	full    bool    // no byte fits on the disk
	runner  *runner // nil while none runs
	agent   *agent  // the last process of an agent
	project project
	runs    int                     // of runners
	inbox   []event.CommandReceived // that no runner has recorded

	fault  string // what the agent does next instead of its work
	outage time.Time
	view   projector.Loop // what a reader knows
	lines  []Line         // that Advance has not returned
}

const (
	loopDir  = "loop"
	loopName = "parser"
	task     = "Make the parser count lines, words and bytes, as task.md lists it."
)

// start is when each run begins.
var start = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// item is something that will happen.
type item struct {
	at    time.Time
	act   bool // by a person: after all else of that moment
	order int
	// runner is the one in whose process this happens; if that is gone, it does not happen. nil is
	// the world outside.
	runner *runner
	do     func()
}

type queue []*item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case !a.at.Equal(b.at):
		return a.at.Before(b.at)
	case a.act != b.act:
		return b.act
	}
	return a.order < b.order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// New begins a run.
func New(seed uint64) *Run {
	w := &Run{
		rng: rand.New(rand.NewPCG(seed, 1)), now: start,
		disk: simfs.New(rand.New(rand.NewPCG(seed, 2))),
	}
	root, err := w.disk.OpenFolder(".")
	if err == nil {
		err = w.disk.MkdirAll(loopDir)
	}
	if err == nil {
		err = root.SyncFolder(".")
	}
	if err != nil {
		panic(err) // a disk in memory that nothing fails yet
	}
	w.project.begin(w)
	w.after(0, w.run)
	return w
}

func (w *Run) schedule(r *runner, d time.Duration, do func()) *item {
	w.order++
	it := &item{at: w.now.Add(d), order: w.order, runner: r, do: do}
	heap.Push(&w.queue, it)
	return it
}

// after schedules something in the world outside.
func (w *Run) after(d time.Duration, do func()) { w.schedule(nil, d, do) }

// Elapsed is the simulated time since the start of the run.
func (w *Run) Elapsed() time.Duration { return w.now.Sub(start) }

// Ended reports whether the loop has ended, so that only another run shows more.
func (w *Run) Ended() bool {
	view := w.view.View()
	return view.Ended != nil && w.runner == nil
}

// Advance lets that much time pass, and returns what happened.
func (w *Run) Advance(by time.Duration) []Line {
	until := w.now.Add(by)
	for len(w.queue) > 0 && !w.queue[0].at.After(until) {
		next := heap.Pop(&w.queue).(*item)
		if next.runner != nil && next.runner != w.runner {
			continue
		}
		w.now = next.at
		next.do()
	}
	w.now = until
	lines := w.lines
	w.lines = nil
	return lines
}

// run starts a runner, unless there is one or the loop has ended.
func (w *Run) run() {
	if view := w.view.View(); w.runner != nil || view.Ended != nil {
		return
	}
	w.runs++
	w.runner = &runner{w: w}
	if err := w.runner.open(); err != nil {
		w.runner.fail(err)
	}
}

// die ends the runner's process, and with how other than Killed the machine.
func (w *Run) die(how simfs.Loss) {
	w.runner = nil
	w.disk = w.disk.Crash(how)
	w.fill(w.full)
	if how != simfs.Killed {
		w.endAgent()
	}
	w.reread()
}

// fill makes the disk full, or empties it.
func (w *Run) fill(full bool) {
	w.full = full
	plan := simfs.Plan{}
	if full {
		plan.Space = 1
	}
	w.disk.Plan(plan)
}

// read returns the events that are on the disk.
func (w *Run) read() (events []event.Event, err error) {
	for e, err := range journal.Read(loopDir, journal.ReadOptions{FS: w.disk}) {
		if err != nil {
			return events, err
		}
		events = append(events, e.Clone())
	}
	return events, nil
}

// reread makes the view that of the files, after a death: what was not on the disk is gone.
func (w *Run) reread() {
	before := w.view.Seq()
	w.view = projector.Loop{}
	events, err := w.read()
	for _, e := range events {
		switch {
		case err != nil:
		case e.Seq > before: // the runner could not show it any more
			w.show(e, "")
		default:
			err = w.view.Fold(e)
		}
	}
	if err != nil {
		w.note("failure", fmt.Sprintf("The journal cannot be read: %v", err))
	}
	if last := w.view.Seq(); last < before {
		w.lines = append(w.lines, Line{Lost: last + 1})
		lost := units.Quantity(int(before-last), "line")
		w.note("warning", "Lost, because it was not on the disk yet: the last "+lost+" of the journal. No decision that cannot be undone was among them.")
	}
}

// id returns a new id: rising, and as long as a ULID.
func (w *Run) id(time.Time) (id [26]byte) {
	w.ids++
	copy(id[:], fmt.Sprintf("01SIM%021d", w.ids))
	return id
}

// chance is true n times of a hundred.
func (w *Run) chance(n int) bool { return w.rng.IntN(100) < n }

// span is a random time between two.
func (w *Run) span(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64((most-least)/time.Millisecond)+1))*time.Millisecond
}
