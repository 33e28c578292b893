package night

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// loop is the only one.
const loop = "01JD000000000000000000000L"

// A Variant is a way in which hosts may be wrong. The tests show that the promises notice each.
type Variant int

// The variants.
const (
	Sound            Variant = iota
	NoNonce                  // any chunk in the place of one's own counts as one's own
	NoEpoch                  // a chunk of another epoch counts as the host's own
	ResumesFirst             // the claim is written after the loop was resumed
	UnknownIsWritten         // a put without an answer counts as done
	Unsynced                 // lines are sealed before they are durable
	LateEpoch                // a loop comes to its host before the epoch under which the host has it
	Forgetful                // a command is delivered whether the journal has it or not
)

// A broken promise.
type broken struct{ what string }

func (b broken) Error() string { return b.what }

// item is something that happens at a moment.
type item struct {
	at    time.Duration
	order int
	do    func()
}

type queue []item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// world is one run.
type world struct {
	seed    uint64
	rng     *rand.Rand
	variant Variant
	queue   queue
	order   int
	now     time.Duration
	healed  bool // nothing fails any more
	hosts   []*host
	store   simStore
	acked   map[uint64]string // events that a host knows to be in the store
	inbox   []string          // commands in the store
	serial  int
	trace   []string
	Stats
}

// Stats say what a run had in it.
type Stats struct {
	Chunks, Events, Commands  int
	Claims, Fences, Lost      int // take-overs that were won, and lost
	Kills, Stops, Cuts, Disks int
	LostAnswers, Doubled      int // requests without an answer; requests that came twice, or late
	// Slowest is the longest time from an answer that says that a host is fenced to the end of its
	// agent.
	Slowest time.Duration
}

// The parts of a run.
const (
	nightLasts = 40 * time.Minute
	healLasts  = 30 * time.Minute // how long all hosts have to agree, which takes few of them
	fenceTakes = 12 * time.Second // by force: see 'ralph fence'
)

// Run plays the run of a seed. The error is the promise that was broken, with what happened last.
func Run(seed uint64, variant Variant) (stats Stats, err error) {
	w := &world{seed: seed, rng: rand.New(rand.NewPCG(seed, 29)), variant: variant, acked: map[uint64]string{}}
	w.store.values = map[string][]byte{}
	defer func() {
		stats = w.Stats
		if v := recover(); v != nil {
			b, ok := v.(broken)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("seed %d: %w\n%s", seed, b, strings.Join(w.trace[max(0, len(w.trace)-60):], "\n"))
		}
	}()
	w.play()
	return w.Stats, nil
}

func (w *world) play() {
	for i := range 2 + w.rng.IntN(2) {
		w.hosts = append(w.hosts, newHost(w, string(rune('a'+i))))
	}
	w.hosts[0].folder = &folder{epoch: 1}
	for _, h := range w.hosts {
		h.boot()
		h.watch()
	}
	w.after(w.span(0, time.Minute), w.command)
	w.after(w.span(0, time.Minute), w.fail)
	w.after(nightLasts, w.heal)
	for w.now < nightLasts+healLasts {
		next := heap.Pop(&w.queue).(item)
		w.now = next.at
		next.do()
		w.checkRunning()
	}
	w.judge()
}

func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.queue, item{w.now + d, w.order, do})
}

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *world) span(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)+1))
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%8.1fs ", w.now.Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) violate(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

func (w *world) name() string {
	w.serial++
	return fmt.Sprintf("%026d", w.serial)
}

// command is what a person sends to the loop, wherever it is.
func (w *world) command() {
	if w.healed {
		return
	}
	w.inbox = append(w.inbox, w.name())
	w.Commands++
	w.after(w.span(time.Second, 4*time.Minute), w.command)
}

// fail lets something fail.
func (w *world) fail() {
	if w.healed {
		return
	}
	h := w.hosts[w.rng.IntN(len(w.hosts))]
	switch roll := w.rng.IntN(100); {
	case roll < 20:
		h.cutOff(w.span(time.Second, 8*time.Minute))
	case roll < 35:
		h.stop(w.span(time.Second, 8*time.Minute))
	case roll < 50:
		h.killMirror()
	case roll < 60:
		h.killRunner()
	case roll < 70:
		h.killTake()
	case roll < 80:
		h.losePower(false)
	case roll < 85:
		h.losePower(true)
	case roll < 90:
		h.skew = w.span(0, 2*time.Hour) - time.Hour
	case roll < 95:
		h.take(true)
	default:
		for _, h := range w.hosts { // each of them thinks that the others are dead
			h.take(true)
		}
	}
	w.after(w.span(time.Second, 2*time.Minute), w.fail)
}

// heal ends all failures.
func (w *world) heal() {
	w.note("from now on nothing fails")
	w.healed = true
	for _, h := range w.hosts {
		h.cut, h.stopped = 0, 0
		if h.down {
			h.boot()
		}
	}
}

// add adds the counts of another run.
func (s *Stats) add(other Stats) {
	s.Chunks, s.Events, s.Commands = s.Chunks+other.Chunks, s.Events+other.Events, s.Commands+other.Commands
	s.Claims, s.Fences, s.Lost = s.Claims+other.Claims, s.Fences+other.Fences, s.Lost+other.Lost
	s.Kills, s.Stops, s.Cuts, s.Disks = s.Kills+other.Kills, s.Stops+other.Stops, s.Cuts+other.Cuts, s.Disks+other.Disks
	s.LostAnswers, s.Doubled = s.LostAnswers+other.LostAnswers, s.Doubled+other.Doubled
	s.Slowest = max(s.Slowest, other.Slowest)
}
