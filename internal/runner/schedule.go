package runner

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// observer looks at what the next iteration may have to wait for: another loop, and the accounts of
// the agents. While the loop waits for its turn, it watches them, and reports changes. What follows
// from them is decided by policy.Schedule.
type observer struct {
	runner  *runner
	reading context.Context    // ends with the runner
	end     context.CancelFunc // of the watch; only the driver's goroutine uses it
	// unwatched says that the watch does not notice all changes.
	unwatched atomic.Bool
	watches   sync.WaitGroup

	mu    sync.Mutex             // held until what was seen is delivered: the last report is the newest
	last  event.ScheduleObserved // what was reported last
	first string                 // the folder of the loop that has to end first; empty if none has to
}

// scheduleRules returns what the next iteration may have to wait for; nil if there is nothing.
func scheduleRules(s config.Settings, when *event.When) *event.ScheduleRules {
	if when == nil && len(s.Limits.Window) == 0 {
		return nil
	}
	rules := &event.ScheduleRules{}
	for _, key := range slices.Sorted(maps.Keys(s.Limits.Window)) {
		span, most, percent, err := config.ParseWindow(key, s.Limits.Window[key])
		switch w := (event.Window{Name: key, Span: event.Duration(span)}); {
		case err != nil: // the settings were checked
		case percent:
			w.Percent = most
			rules.Windows = append(rules.Windows, w)
		default:
			w.USD = most
			rules.Windows = append(rules.Windows, w)
		}
	}
	return rules
}

// observe reports what is there now.
func (o *observer) observe(when *event.When, deliver func(event.ScheduleObserved)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = o.read(when)
	deliver(o.last)
}

// folded begins and ends the watch.
func (o *observer) folded(e event.Event, s *loopstate.State) {
	if e.Type != event.TypeLoopWaiting && e.Type != event.TypeLoopWaited {
		return
	}
	if o.end != nil {
		o.end()
		o.end = nil
		o.unwatched.Store(false)
	}
	if s.Wait != nil && s.Wait.For == event.WaitHeld {
		var ctx context.Context
		ctx, o.end = context.WithCancel(o.reading)
		when := s.When
		o.watches.Go(func() { o.follow(ctx, when) })
	}
}

// follow reports each change until ctx ends.
func (o *observer) follow(ctx context.Context, when *event.When) {
	changed := make(chan struct{}, 1)
	if when != nil && when.After != "" {
		// A runner writes its lock when it begins and ends. A new folder is another loop.
		o.watch(ctx, filepath.Join(when.After, registry.LockFile), []string{""}, changed)
		o.watch(ctx, filepath.Dir(when.After), []string{filepath.Base(when.After)}, changed)
	}
	if accounts := o.accounts(when); len(accounts) > 0 {
		names := []string{""}
		for _, account := range accounts {
			names = append(names, filepath.Base(quotaFile(o.runner.Home, account)))
		}
		o.watch(ctx, quotaDir(o.runner.Home), names, changed)
	}
	for ctx.Err() == nil {
		step, stop := context.WithCancel(ctx)
		o.report(ctx, when, changed, o.awaitRunner(step, changed))
		select {
		case <-changed:
		case <-ctx.Done():
		}
		stop()
	}
}

// watch signals changes of files: those with one of the names in a folder, or with the name "" of
// the path itself.
func (o *observer) watch(ctx context.Context, path string, names []string, changed chan<- struct{}) {
	w, err := filewatch.New(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return // the loop is gone, or no vendor has said anything
	case err != nil:
		o.unwatched.Store(true)
		return
	case filewatch.Remote(filepath.Dir(path)):
		o.unwatched.Store(true)
	}
	o.watches.Go(func() {
		defer w.Close()
		for {
			seen, err := w.Wait(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				o.unwatched.Store(true)
			}
			if err != nil || slices.ContainsFunc(seen, func(name string) bool { return slices.Contains(names, name) }) {
				signal(changed)
			}
			if err != nil {
				return
			}
		}
	})
}

func signal(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

// awaitRunner signals the exit of the runner of the loop that has to end first. It reports false if
// the kernel does not report it.
func (o *observer) awaitRunner(ctx context.Context, changed chan<- struct{}) bool {
	o.mu.Lock()
	first := o.first
	o.mu.Unlock()
	if first == "" {
		return true
	}
	live, err := registry.Probe(first)
	host, _ := os.Hostname()
	if err != nil || !live.Alive || live.Host != host {
		return err == nil && !live.Alive
	}
	exited := process.AwaitExit(ctx, live.PID, live.StartTicks)
	if exited == nil {
		return false
	}
	o.watches.Go(func() {
		select {
		case <-exited:
			signal(changed)
		case <-ctx.Done():
		}
	})
	return true
}

// report reports what has changed.
func (o *observer) report(ctx context.Context, when *event.When, changed chan<- struct{}, awaited bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.first
	seen := o.read(when)
	if o.first != before {
		signal(changed) // another runner is to be awaited
	}
	if seen.After != nil && !seen.After.Ended && !awaited {
		o.unwatched.Store(true)
		seen.Unwatched = true
	}
	if ctx.Err() == nil && !reflect.DeepEqual(seen, o.last) {
		o.last = seen
		seen.Changed = true
		o.runner.send(ctx, loop.Input{Drafts: []event.Draft{event.Encode(seen, "loop")}})
	}
}

// read returns what is there now. What cannot be read holds nothing.
func (o *observer) read(when *event.When) event.ScheduleObserved {
	r := o.runner
	seen := event.ScheduleObserved{Unwatched: o.unwatched.Load()}
	if o.first = ""; ComesAfter(when) {
		seen.After, o.first = observeLoop(when.After), when.After
		seen.Unwatched = seen.Unwatched || seen.After.Died // nothing says that its folder was moved
	}
	if seen.After != nil && seen.After.Ended {
		o.takeTree(&seen)
	}
	for _, account := range o.accounts(when) {
		q, err := readQuota(r.Home, account)
		if err != nil {
			q = quota{}
		}
		seen.Accounts = append(seen.Accounts, event.AccountObserved{At: q.At, Windows: q.Windows})
	}
	if rules := scheduleRules(r.Settings, when); rules != nil {
		seen.Spent = o.spent(rules.Windows)
	}
	return seen
}

// takeTree takes the work tree: the loop that had to end first has. Another one may be at work in
// it, such as one that came after the same loop; then that one has to end first.
func (o *observer) takeTree(seen *event.ScheduleObserved) {
	r := o.runner
	err := r.tree.take(r.Home, r.Tree, r.Settings.AllowSharedWorktree)
	if other, held := errors.AsType[*SharedTreeError](err); held {
		seen.After = &event.LoopObserved{Name: cmp.Or(other.Loop, seen.After.Name)}
		o.first, seen.Unwatched = other.Dir, true // who has the work tree is no more than likely
	} else if o.first = ""; err != nil {
		r.warn(err)
	}
}

// spent returns what the loops of the first agent's account spent in each window of US dollars.
func (o *observer) spent(windows []event.Window) (spent []event.Spent) {
	r := o.runner
	windows = slices.DeleteFunc(windows, func(w event.Window) bool { return w.USD == 0 })
	if len(windows) == 0 {
		return nil
	}
	all, err := spendings(r.Home)
	if err != nil {
		r.warn(err)
	}
	account, now := accountID(r.Settings.AllAgents()[0], r.Env), r.clock()
	for _, w := range windows {
		usd, since := spentWithin(w.Span.Std(), all, account, now)
		spent = append(spent, event.Spent{Window: w.Name, USD: usd, Since: since})
	}
	return spent
}

// accounts returns those of the agents, if the loop may have to wait for a quota.
func (o *observer) accounts(when *event.When) (accounts []string) {
	rules := scheduleRules(o.runner.Settings, when)
	if rules == nil || (when == nil || when.Quota == 0) && !slices.ContainsFunc(rules.Windows, func(w event.Window) bool { return w.Percent > 0 }) {
		return nil
	}
	for _, a := range o.runner.Settings.AllAgents() {
		accounts = append(accounts, accountID(a, o.runner.Env))
	}
	return accounts
}

// observeLoop looks at a loop that has to end first. One that is gone has ended.
func observeLoop(dir string) *event.LoopObserved {
	seen := &event.LoopObserved{Name: filepath.Base(dir)}
	state, err := loopstate.Open(dir)
	if err != nil || !state.Begun() || state.Lifecycle.Ended != nil {
		seen.Ended = true
		return seen
	}
	live, err := registry.Probe(dir)
	seen.Died = err == nil && !live.Alive
	return seen
}
