package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/registry"
)

const (
	// lookAfter is the time from the first line after a look until the next look.
	lookAfter = time.Second
	// restGrid puts moments that need not be exact together, so that a thousand loops wake the
	// process as often as a few do.
	restGrid = 5 * time.Second
	// restMost is the time between two looks at a loop that gives no sign, and between two readings
	// of a registry that does not change.
	restMost = 10 * time.Minute
	// findEvery is the time between two looks at the registry where nothing announces a change.
	findEvery = time.Minute
	// doubtFor is how long the store is asked each decide.Interval whose a loop is, after a host
	// was woken for it: one that is about to claim it wakes this host first.
	doubtFor = 10 * time.Minute
	// settled is the age from which what is written again has another time, on any disk.
	settled = 3 * time.Second
	// workers is how many loops are looked at at once.
	workers = 4
	// retryMost bounds the time until a loop is looked at again after an error.
	retryMost = time.Minute
	never     = 100 * 365 * 24 * time.Hour
)

// A Tree stores the files of a loop in a folder as tree n: tree.Put.
type Tree func(ctx context.Context, s store.Store, folder, loop string, n uint64) error

// Options say what is mirrored, and where to.
type Options struct {
	Store   store.Store
	Host    string // the name of this host in the pool
	Home    string // of ralph
	Program string // ralph, which fences loops
	All     bool   // mirror all loops, not only those that take part in the pool
	Verify  bool   // read all of each log at the start, not only its end
	Tree    Tree   // may be nil
	// Say reports to people: what has changed, and once what goes wrong. It may be called from
	// several goroutines.
	Say func(text string)
	Now func() time.Time // nil is the clock
}

// Counts are what a mirror has written.
type Counts struct {
	Loops   int           `json:"loops"`
	Chunks  int           `json:"chunks"`
	Bytes   int           `json:"bytes"` // as they are stored
	Writing time.Duration `json:"-"`     // the time of the writes of chunks
}

// A Mirror copies the journals of a host's loops.
type Mirror struct {
	opt   Options
	store store.Store
	beat  live.Cell
	watch *fsnotify.Watcher // nil where the system has none, or in tests
	// changed wakes Run.
	changed chan struct{}
	heard   heard

	mu      sync.Mutex
	loops   map[string]*loop // by folder
	ids     map[owned]*loop
	said    map[string]string // by folder, the last
	queue   []*loop           // that are due
	working int               // goroutines
	find    time.Time         // when to look at the registry
	sweep   time.Time         // when to look for changes of journals that were not announced
	listed  time.Time         // as writtenAt, of the registry when it was read
	relist  time.Time         // when to read the registry in any case
	counts  Counts
	// unreachable says that the last beat failed: then no loop says it too.
	unreachable bool
}

// New returns a mirror, which does nothing until Run or Once.
func New(opt Options) *Mirror {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Mirror{
		opt: opt, store: patient{opt.Store}, beat: live.Cell{Key: keys.Beat(opt.Host)}, changed: make(chan struct{}, 1),
		loops: map[string]*loop{}, ids: map[owned]*loop{}, said: map[string]string{},
	}
}

// Counts returns what was written until now.
func (m *Mirror) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.Loops = len(m.loops)
	return c
}

func (m *Mirror) count(bytes int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Chunks++
	m.counts.Bytes += bytes
	m.counts.Writing += took
}

// Run mirrors until ctx ends.
func (m *Mirror) Run(ctx context.Context) error {
	var written chan fsnotify.Event
	var lost chan error
	if watch, err := fsnotify.NewWatcher(); err == nil {
		defer watch.Close()
		m.watch, written, lost = watch, watch.Events, watch.Errors
	} else {
		m.opt.Say(fmt.Sprintf("the system reports no changes of files: journals are read each %s: %v", decide.Interval, err))
	}
	// A folder that exists is watched: the first loop of a host is mirrored at once as well.
	// Without it, it is found in a minute.
	_ = os.MkdirAll(registry.Folder(m.opt.Home), 0o700)
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { m.beats(ctx) })
	background.Go(func() { m.wakes(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		next := m.dispatch(ctx, &background)
		timer.Reset(max(next.Sub(m.opt.Now()), 0))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-m.changed:
		case event := <-written:
			m.written(event.Name)
		case err := <-lost:
			m.opt.Say(fmt.Sprintf("changes of files may have been missed, and all journals are read again: %v", err))
			m.kick(func(*loop) bool { return true }, lookAfter)
		}
	}
	return context.Cause(ctx)
}

// dispatch has goroutines look at the loops that are due, and returns when the next is.
func (m *Mirror) dispatch(ctx context.Context, background *sync.WaitGroup) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.opt.Now()
	if !now.Before(m.find) {
		m.findLoops()
	}
	sweep := !now.Before(m.sweep)
	if sweep {
		m.sweep = now.Add(decide.Interval).Truncate(restGrid)
	}
	next := m.sweep
	if m.find.Before(next) {
		next = m.find
	}
	for _, l := range m.loops {
		switch {
		case l.busy:
		case !l.due.After(now), sweep && l.rests && l.stirred(now):
			l.busy, l.kicked = true, false
			m.queue = append(m.queue, l)
		case l.due.Before(next):
			next = l.due
		}
	}
	for range min(len(m.queue), workers-m.working) {
		m.working++
		background.Go(func() { m.work(ctx) })
	}
	return next
}

// work looks at loops of the queue until it is empty.
func (m *Mirror) work(ctx context.Context) {
	defer m.wake() // Run learns when they are due again
	for {
		m.mu.Lock()
		if len(m.queue) == 0 || ctx.Err() != nil {
			m.working--
			m.mu.Unlock()
			return
		}
		l := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		_ = m.lookAt(ctx, l) // it has said what is wrong
	}
}

func (m *Mirror) wake() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Once mirrors what is there now, and returns what went wrong.
func (m *Mirror) Once(ctx context.Context) error {
	m.mu.Lock()
	m.relist = time.Time{}
	m.findLoops()
	m.mu.Unlock()
	var wrong []error
	for _, dir := range slices.Sorted(maps.Keys(m.loops)) {
		l := m.loops[dir]
		l.acted = time.Time{} // all of it is due
		for more := true; more && ctx.Err() == nil; more = !l.due.After(m.opt.Now()) {
			l.busy = true
			if err := m.lookAt(ctx, l); err != nil {
				wrong = append(wrong, fmt.Errorf("mirror loop %s: %w", l.name, err))
			}
		}
	}
	return errors.Join(append(wrong, ctx.Err())...)
}

// lookAt looks at a loop that is busy, and says when it is due again.
func (m *Mirror) lookAt(ctx context.Context, l *loop) error {
	err := m.look(ctx, l)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.opt.Now()
	broken, isBroken := errors.AsType[*brokenError](err)
	_, isGap := errors.AsType[*gapError](err)
	l.rests = false
	switch {
	case errors.Is(err, errRemoved):
		l.due = now.Add(never)
		m.forget(l)
	case err == nil && l.more:
		l.due, l.fails = now, 0
	case err == nil && l.log.Owns() && (l.unsealed > 0 || now.Before(l.doubt)):
		l.due, l.fails = l.acted.Add(decide.Interval).Truncate(restGrid), 0
	case err == nil && l.log.Owns():
		l.due, l.fails, l.rests = now.Add(restMost).Truncate(restGrid), 0, true
	case err == nil: // another host has it
		l.due = now.Add(never)
	case isGap:
		l.due = now.Add(restMost)
	case isBroken:
		err = broken.error
		l.log, l.due = nil, now.Add(restMost)
		l.woken.Store(true)
		clear(l.dropped)
	default:
		l.fails++
		l.due = now.Add(min(time.Second<<min(l.fails, 10), retryMost))
	}
	if err != nil && ctx.Err() == nil && !m.unreachable {
		m.sayLocked(l.dir, l.name, err.Error())
	}
	if l.kicked && l.fails == 0 && l.due.After(now.Add(lookAfter)) {
		l.due = now.Add(lookAfter)
	}
	l.busy = false
	return err
}

// say reports something about a loop, once.
func (m *Mirror) say(l *loop, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sayLocked(l.dir, l.name, text)
}

func (m *Mirror) sayLocked(dir, name, text string) {
	if m.said[dir] != text {
		m.said[dir] = text
		m.opt.Say(fmt.Sprintf("loop %s: %s", name, text))
	}
}

// kick has loops looked at after a while at most.
func (m *Mirror) kick(which func(*loop) bool, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	due := m.opt.Now().Add(after)
	for _, l := range m.loops {
		if !which(l) {
			continue
		}
		l.kicked = true
		if l.due.After(due) && l.fails == 0 {
			l.due = due
		}
	}
}

// owned is a loop under one epoch. A loop that comes back to this host has two folders here, and
// the one of the earlier epoch is fenced.
type owned struct {
	id    string
	epoch uint64
}

// claimID gives an ID to a loop, and returns the folder of another loop that has it.
func (m *Mirror) claimID(id string, l *loop) (other string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := owned{id, l.epoch}
	if has := m.ids[key]; has != nil && has != l {
		return has.dir
	}
	m.ids[key], l.id = l, id
	return ""
}

// forget drops a loop. A goroutine that has it finds out by itself.
func (m *Mirror) forget(l *loop) {
	if m.loops[l.dir] == l {
		delete(m.loops, l.dir)
	}
	if key := (owned{l.id, l.epoch}); m.ids[key] == l {
		delete(m.ids, key)
	}
	if l.folder != nil {
		l.folder.Close()
	}
	m.find, m.relist = m.opt.Now(), time.Time{} // another loop may have its name
}

// findLoops reads the registry, if it may have changed. The caller has the lock.
func (m *Mirror) findLoops() {
	type found struct {
		entry  registry.Entry
		member membership.Membership
		err    error
	}
	var mu sync.Mutex
	var all []found
	now := m.opt.Now()
	m.find = now.Add(findEvery)
	folder := registry.Folder(m.opt.Home)
	_ = os.MkdirAll(folder, 0o700) // only what is there announces the first loop of a host
	m.listenTo(folder)
	info, err := os.Stat(folder)
	at := writtenAt(info, err, now)
	if !at.IsZero() && at.Equal(m.listed) && now.Before(m.relist) {
		return
	}
	m.listed, m.relist = at, now.Add(restMost)
	_, err = registry.Survey(m.opt.Home, func(e registry.Entry) bool {
		f := found{entry: e}
		f.member, f.err = membership.Read(e.Dir)
		if f.err == nil && f.member == (membership.Membership{}) {
			if !m.opt.All {
				return false
			}
			f.member = membership.Membership{Epoch: 1, Host: m.opt.Host}
			_, f.err = os.Stat(e.Dir) // the entry of a removed loop may stay
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return false // nothing else of it is read
	})
	if err != nil {
		m.listed = time.Time{} // it is read again
		m.opt.Say(fmt.Sprintf("list the loops of this host: %v", err))
	}
	for _, f := range all {
		l := m.loops[f.entry.Dir]
		switch {
		case errors.Is(f.err, fs.ErrNotExist):
		case f.err != nil:
			m.listed = time.Time{}
			m.sayLocked(f.entry.Dir, f.entry.Name, f.err.Error())
		case l == nil, l.member != f.member && !l.busy:
			if l != nil {
				m.forget(l)
			}
			m.loops[f.entry.Dir] = newLoop(f.entry, f.member)
		case l.member != f.member:
			m.listed = time.Time{}
		case !l.began.Equal(f.entry.Started): // a runner has begun
			l.began, l.due, l.kicked = f.entry.Started, now.Add(lookAfter), true
		}
	}
}
