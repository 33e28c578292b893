package remote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/projector"
)

// A Watch has the loops of several sources as they were last, for a front end that does not wait
// for any of them. It asks them while the front end looks, and for a minute after that: without a
// look, nothing runs. A nil Watch has no loops.
type Watch struct {
	env       *cli.Env
	followers sync.WaitGroup

	mu       sync.Mutex // for what follows
	all      []Loops
	fresh    []bool             // the sources that have answered since it was begun
	answered chan struct{}      // closed once all of them have
	end      context.CancelFunc // nil while nothing runs
	rest     *time.Timer
	closed   bool
}

const (
	// watchEvery is how often a host is asked.
	watchEvery = 3 * time.Second
	// restAfter is how long after a look nothing is asked any more. A page that is not
	// seen looks twice a minute.
	restAfter = time.Minute
)

// NewWatch returns a watch of sources that asks nothing before the first look; nil without any
// source. ssh never asks the person.
func NewWatch(e *cli.Env, sources []string) *Watch {
	if len(sources) == 0 {
		return nil
	}
	w := &Watch{env: e, all: make([]Loops, len(sources))}
	for i, source := range sources {
		w.all[i].Source = source
	}
	return w
}

// Loops are those of all sources, with errors where a source did not answer the last time. The
// views are not changed any more.
func (w *Watch) Loops() (loops []*projector.View, errs []error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin()
	for _, of := range w.all {
		if of.Err != nil {
			errs = append(errs, of.Err)
		}
	}
	return Merge(w.all), errs
}

// Await is Loops once every source has answered, or has not done so for a while.
func (w *Watch) Await(ctx context.Context, patience time.Duration) ([]*projector.View, []error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	w.begin()
	answered := w.answered
	w.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-ctx.Done():
	}
	return w.Loops()
}

// Find returns the loop that HOST:NAME or HOST:ID names among those that are known; nil if there is
// none. Only a host of the sources is ever reached for it.
func (w *Watch) Find(name string) *projector.View {
	loops, _ := w.Loops()
	for _, v := range loops {
		if v.Call == name {
			return v
		}
	}
	for _, v := range loops {
		if v.ID != "" && v.Remote+":"+v.ID == name {
			return v
		}
	}
	return nil
}

// Close ends what runs for it.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.stop()
	w.followers.Wait()
}

// begin asks the sources unless it does so, and goes on for a while. The lock is held.
func (w *Watch) begin() {
	switch {
	case w.closed:
		return
	case w.end != nil:
		w.rest.Reset(restAfter)
		return
	}
	ctx, end := context.WithCancel(context.Background())
	w.end, w.rest = end, time.AfterFunc(restAfter, w.stop)
	w.answered, w.fresh = make(chan struct{}), make([]bool, len(w.all))
	for i, of := range w.all {
		if of.Source == Pool { // its process has to end before this one
			w.followers.Go(func() { w.followPool(ctx, i) })
		} else {
			go w.ask(ctx, i, of.Source)
		}
	}
}

func (w *Watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end != nil {
		w.rest.Stop()
		w.end()
		w.end = nil
	}
}

func (w *Watch) ask(ctx context.Context, i int, host string) {
	for ok := true; ok; ok = pause(ctx, watchEvery) {
		loops, err := listInTime(ctx, w.env, host)
		w.set(ctx, i, loops, err)
	}
}

// set takes what a source has answered; after an error, its loops are as they were last.
func (w *Watch) set(ctx context.Context, i int, loops []*projector.View, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return // it is no answer
	}
	if w.all[i].Err = err; err == nil {
		w.all[i].Loops = loops
	}
	w.fresh[i] = true
	for _, fresh := range w.fresh {
		if !fresh {
			return
		}
	}
	select {
	case <-w.answered:
	default:
		close(w.answered)
	}
}

// listInTime ends with an error where a host says nothing: else a screen would show its loops for
// ever as they were.
func listInTime(ctx context.Context, e *cli.Env, host string) ([]*projector.View, error) {
	ctx, stop := context.WithTimeoutCause(ctx, doTime, fmt.Errorf("%s: ralph there has not answered for %s", host, doTime))
	defer stop()
	return list(ctx, e, host, false, true)
}

// doTime is the longest that a front end waits for a command there. A web server answers within a
// minute.
const doTime = 50 * time.Second

// Merge returns the loops of several sources. A loop that ssh reaches and the pool has as well is
// that of ssh, which can do more with it, unless the pool has heard of it much later.
func Merge(all []Loops) (loops []*projector.View) {
	known := map[string]int{}
	for _, of := range all {
		for _, v := range of.Loops {
			at, twice := known[v.ID]
			switch {
			case of.Source != Pool || !twice:
				known[v.ID] = len(loops)
				loops = append(loops, v)
			case v.Heard.Sub(loops[at].Heard) > muchLater:
				loops[at] = v
			}
		}
	}
	return loops
}

// muchLater is longer than a source is usually silent.
const muchLater = 2 * time.Minute
