package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/schedule"
	"github.com/ralph-loop/ralph/pool/store"
)

// Times of a worker.
const (
	localEvery = 5 * time.Second  // between two looks at the loops of this host
	storeEvery = 30 * time.Second // between two readings of the queue, without a submission
	hostsEvery = time.Minute      // between two readings of the beats of all hosts
	// StaleAfter is how long a beat may stay the same until another host tries to take loops over.
	StaleAfter = 3 * time.Minute
)

// Options are those of a worker.
type Options struct {
	Store  store.Store
	Host   string
	Home   string // ralph's
	Slots  int    // loops at once
	Labels []string
	// Once ends the worker when the loops have ended that it has claimed in its first round; Drain
	// claims nothing, and ends it when those have ended that the host has.
	Once, Drain bool
	// Only is the ID of the one loop that is claimed or taken over. The worker ends when this loop
	// has ended on any host, with an Ended unless it has completed.
	Only    string
	Program string // ralph; empty for the one in PATH
	// Take takes over a loop that has a journal, into a new folder: 'ralph pool take --into DIR'.
	Take func(ctx context.Context, id, into string) error
	Say  func(format string, args ...any) // to the person
	Now  func() time.Time                 // nil for time.Now
}

// A Worker runs loops.
type Worker struct {
	Options
	reader    queue.Reader
	beats     beats
	schedules schedule.Firer
	look      chan struct{} // a loop has ended, or needs another step
	group     sync.WaitGroup

	mu       sync.Mutex
	tended   map[string]bool   // the loops with a goroutine
	problems map[string]string // by loop, what keeps it from running
	refused  map[string]string // by specification, why it waits
	deaths   map[string]death  // by loop, the last one of a runner
	// unfitKinds has why starts of a kind were refused: see rememberRefusal.
	unfitKinds map[string]refusedKind

	held   map[string]queue.Holder   // by loop, as it was read first
	passed map[string]store.Revision // by loop, the beat of a host that has it no more, or where it has ended

	said      map[string]string
	published Report
	absent    map[string]bool // see absentAgents; nil while that is not known
	draining  bool            // by 'ralph pool drain'
	idle      string          // why nothing is claimed; empty if it is
	next      struct{ store, hosts time.Time }
}

// New returns a worker.
func New(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Worker{
		Options: o, reader: queue.Reader{Store: o.Store, Host: o.Host}, beats: newBeats(o.Host), look: make(chan struct{}, 1),
		tended: map[string]bool{}, problems: map[string]string{}, refused: map[string]string{}, said: map[string]string{},
		deaths: map[string]death{}, unfitKinds: map[string]refusedKind{}, passed: map[string]store.Revision{}, held: map[string]queue.Holder{},
	}
}

// Run works until ctx ends, which leaves the loops running. One worker of a host's home runs at a
// time.
func (w *Worker) Run(ctx context.Context) error {
	unlock, err := lock(w.Home)
	if err != nil {
		return err
	}
	defer unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer w.group.Wait()
	defer cancel()
	submitted := w.submissions(ctx)
	tick := time.NewTicker(localEvery)
	defer tick.Stop()
	for claim := true; ; {
		err := w.round(ctx, claim)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			w.say("round", "%v; the worker tries again, and its loops go on", err)
		} else if claim = !w.Once; (w.Once || w.Drain) && w.running() == 0 {
			return w.outcome()
		} else if w.Only != "" && w.running() == 0 {
			if ended, err := w.onlyEnded(ctx); ended {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.look: // a slot is free
			w.next.store = time.Time{}
		case <-submitted:
			w.next.store = time.Time{}
		case <-tick.C:
		}
	}
}

// round does what there is to do now. claim says that new loops may be begun.
func (w *Worker) round(ctx context.Context, claim bool) error {
	if err := w.adopt(ctx); err != nil {
		return err
	}
	now := w.Now()
	if w.Drain || !claim || w.running() >= w.Slots || now.Before(w.next.store) {
		return w.publish(ctx)
	}
	w.next.store = now.Add(storeEvery)
	draining, err := Draining(ctx, w.Store, []string{w.Host})
	if err != nil {
		return err
	}
	w.draining = len(draining) > 0
	if now.After(w.next.hosts) {
		w.next.hosts = now.Add(hostsEvery)
		if err := w.beats.read(ctx, w.Store, now); err != nil {
			return err
		}
	}
	switch w.idle = ""; {
	case w.draining:
		w.idle = fmt.Sprintf("host %s drains, so nothing is claimed: 'ralph pool drain %s --undo' ends that", w.Host, w.Host)
	case w.beats.stale(w.Host):
		w.next.hosts = time.Time{}
		w.idle = "no mirror runs on this host, so nothing is claimed: 'ralph pool mirror'"
	}
	if w.idle == "" {
		w.forget("idle")
		err = errors.Join(w.claimQueued(ctx), w.takeOver(ctx))
	} else if !w.Once { // else it is the outcome
		w.say("idle", "%s", w.idle)
	}
	return errors.Join(err, w.publish(ctx))
}

// submissions sends when the queue may have changed.
func (w *Worker) submissions(ctx context.Context) <-chan struct{} {
	changed := make(chan struct{}, 1)
	w.group.Go(func() {
		for ctx.Err() == nil {
			for _, err := range w.Store.Watch(ctx, keys.Cursor) {
				if err != nil {
					break
				}
				signal(changed)
			}
			pause(ctx, localEvery)
		}
	})
	return changed
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// say says something to the person, once until it changes.
func (w *Worker) say(about, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	again := w.said[about] == text
	w.said[about] = text
	w.mu.Unlock()
	if !again {
		w.Say("%s", text)
	}
}

// forget lets say repeat itself.
func (w *Worker) forget(about string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.said, about)
}

func (w *Worker) running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tended)
}

// outcome is what a worker that has nothing left to do ends with.
func (w *Worker) outcome() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, problem := range w.problems {
		return fmt.Errorf("loop %s did not run: %s", id, problem)
	}
	if w.idle != "" {
		return errors.New(w.idle)
	}
	return nil
}

// tend begins to look after a loop, unless that is being done.
func (w *Worker) tend(ctx context.Context, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tended[id] || ctx.Err() != nil {
		return
	}
	w.tended[id] = true
	w.group.Go(func() {
		w.follow(ctx, id)
		w.mu.Lock()
		delete(w.tended, id)
		w.mu.Unlock()
		signal(w.look)
	})
}

func (w *Worker) isTended(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tended[id]
}

// note remembers what keeps a loop from running; empty if nothing does.
func (w *Worker) note(id, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if problem == "" {
		delete(w.problems, id)
		return
	}
	w.problems[id] = problem
}

// starter starts and resumes loops.
func (w *Worker) starter() client.Start {
	return client.Start{Program: w.Program, Env: environ(w.Home)}
}

// hasLabels reports whether this worker has all labels.
func (w *Worker) hasLabels(labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(w.Labels, l) })
}
