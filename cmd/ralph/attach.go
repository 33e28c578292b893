package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type attachVerb struct {
	placed
	Name     string `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	Verbose  bool   `short:"V" help:"Show prompts, decisions and notices as well."`
	Time     bool   `help:"Show the time of each entry."`
	NoStatus bool   `help:"Show no status line, and no output of tools that run."`
	JSON     bool   `help:"Print the journal's lines as they are."`
}

// Run shows a loop and lets a person steer it. Any number may attach at a time.
func (v *attachVerb) Run(e *env) error {
	s, err := e.find(v.Name)
	if err != nil {
		return err
	}
	return attach(e, s.Name, s.Dir, attachOptions{json: v.JSON, verbose: v.Verbose, time: v.Time, plain: v.NoStatus, head: s.Head})
}

type attachOptions struct {
	started bool // ralph start has just begun it
	json    bool
	verbose bool
	time    bool
	plain   bool          // without a status line
	head    registry.Head // where the loop stands, if that is known
}

// attach shows where the loop stands, what happened last, and then what happens,
// until the loop ends or the person leaves. It reads the journal and nothing else,
// so it neither holds the loop up nor ends it. It returns the loop's exit code as
// an error, none where the person left.
func attach(e *env, name, dir string, o attachOptions) error {
	// Before the journal is read: what a dead runner wrote is complete by then.
	live, err := registry.Probe(dir)
	if err != nil {
		return err
	}
	a := &attached{env: e, name: name, dir: dir, json: o.json, verbose: o.verbose, time: o.time, stale: make(chan struct{}, 1)}
	a.screen = newScreen(e.stdout)
	// The first line before anything that takes longer.
	known := o.head.Seq > 0
	if known && !o.json {
		fmt.Fprintln(e.stdout, a.header(o.head, live.Alive))
	}
	state, err := projector.Open(dir)
	if err != nil {
		return err
	}
	if !state.Begun() && !live.Alive {
		return unbegun(name, o.head)
	}
	if !known && !o.json {
		fmt.Fprintln(e.stdout, a.header(headOf(&state), live.Alive))
	}
	if live.Alive && a.listens() {
		fmt.Fprintln(e.stdout, a.faint("type to steer the agent, /help for more, ctrl-d to leave"))
	}
	a.ended, a.project = state.Life.Ended, state.Life.Project
	a.history = &history{to: a.screen}
	a.view = followOptions{json: o.json, verbose: o.verbose, time: o.time, diffs: e.isTerminal()}.viewer(e, a.history)
	if text, ok := a.view.(*render.Text); ok {
		text.Resume(&state)
		if e.drawable() && live.Alive {
			a.draws(o, state)
		}
	}
	from, err := a.last()
	if err != nil {
		return err
	}
	if !live.Alive {
		return a.conclude()
	}
	return a.follow(from)
}

// attached is one person's view of a loop.
type attached struct {
	*env
	name, dir string
	json      bool
	verbose   bool
	time      bool
	project   string
	view      viewer
	screen    *screen
	history   *history
	pulse     *pulse           // nil without a status line
	typist    *typist          // nil without a keyboard
	ended     *event.LoopEnded // the last known end of the loop, if it has not gone on since
	seq       uint64           // the last event shown
	stale     chan struct{}    // something came since the status was drawn
	heard     atomic.Bool      // something came since the last look at the runner
}

// headOf is what state.json would begin with.
func headOf(s *projector.State) registry.Head {
	sum := s.Summary()
	head := registry.Head{
		Seq: sum.Seq, Status: sum.Status, Reason: sum.Reason, Iteration: sum.Iteration, MaximumIterations: sum.MaximumIterations,
		Since: sum.Since, At: sum.At, CostKnown: sum.Cost != nil,
		Agent: sum.Agent, Waiting: sum.Waiting, Pending: sum.Pending, Refunded: sum.Refunded,
	}
	if sum.Cost != nil {
		head.Cost = *sum.Cost
	}
	if sum.TokensIn != nil {
		head.TokensIn, head.TokensOut, head.TokensKnown = *sum.TokensIn, *sum.TokensOut, true
	}
	return head
}

// header says in one line where the loop stands.
func (a *attached) header(h registry.Head, alive bool) string {
	status, until := h.Status, a.now()
	switch {
	case h.Reason != "":
		until = h.At
	case !alive:
		status = "died"
	case h.Waiting != "":
		status += ": " + local(firstLine(h.Waiting), a.now())
	}
	if alive {
		status = withPending(status, h.Pending)
	}
	parts := []string{"loop " + a.name, status}
	if h.Iteration > 0 {
		parts = append(parts, "iteration "+countOf(h).Number())
	}
	if !h.Since.IsZero() {
		parts = append(parts, render.Span(until.Sub(h.Since)))
	}
	if h.Agent != "" {
		parts = append(parts, h.Agent)
	}
	cost := "cost unknown"
	if h.CostKnown {
		cost = render.Cost(&h.Cost)
	}
	look := a.look()
	line := render.Cut(render.Clean(strings.Join(append(parts, cost), " · ")), look.Width)
	if look.Color {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	return line
}

// faint is text that is not the loop's, where colours are wanted.
func (a *attached) faint(text string) string {
	if a.look().Color {
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}

// What is shown of the past: so many lines, or a screen of them, out of so many events.
const (
	pastEvents = 1000
	pastLines  = 30
)

// last shows what happened last and returns the place from where it goes on.
func (a *attached) last() (journal.Position, error) {
	want := pastEvents
	if a.json {
		want = pastLines
	}
	past, from, err := journal.Last(a.dir, want)
	damage, damaged := errors.AsType[*journal.CorruptError](err)
	if damaged && from.Segment != "" { // what was written since can be shown, and what is being written
		tell(a.stderr, "warning: %v; what stands behind it is shown, and %s", damage, damage.Hint())
		err = nil
	}
	if err != nil {
		return from, err
	}
	for _, ev := range past {
		if err := a.show(ev); err != nil {
			return from, err
		}
	}
	if err := a.view.Flush(); err != nil {
		return from, err
	}
	lines := pastLines
	if a.isTerminal() {
		_, rows := a.size()
		lines = max(rows-3, 5)
	}
	return from, a.history.open(lines)
}

// show passes an event on and notes whether it ends the loop.
func (a *attached) show(ev event.Event) error {
	switch ev.Type {
	case event.TypeLoopEnded:
		if p, err := event.As[event.LoopEnded](ev); err == nil {
			a.ended = &p
		}
	case event.TypeLoopResumed, event.TypeLoopStarted:
		a.ended = nil
	}
	if a.pulse != nil {
		a.pulse.event(ev)
	}
	a.told(ev)
	a.seq = ev.Seq
	a.heard.Store(true)
	return a.view.Event(ev)
}

// Why following ended before the loop did.
var (
	errLeft     = errors.New("the person left")
	errSignal   = errors.New("a signal came")
	errNoRunner = errors.New("no runner holds the loop's lock")
)

// follow shows what happens until the loop ends, its runner dies or the person
// leaves.
func (a *attached) follow(from journal.Position) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer a.screen.restore()
	defer a.screen.close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go a.watch(ctx, signals, died(ctx, a.dir, &a.heard), cancel)
	if a.interactive() {
		if err := a.screen.keyboard(a.stdin.(*os.File)); err != nil {
			return err
		}
	}
	if a.listens() {
		a.typist = newTypist()
		// Ends with the process: a read of a terminal cannot be called off.
		go a.guarded(func() { a.listen(cancel) })
	}
	if a.screen.draws {
		ticks, done := context.WithCancel(ctx)
		var ticking sync.WaitGroup
		ticking.Go(func() { a.guarded(func() { a.tick(ticks) }) })
		defer ticking.Wait()
		defer done()
	}
	if err := a.live(ctx, from); err != nil {
		return err
	}
	a.screen.close()
	switch why := context.Cause(ctx); {
	case errors.Is(why, errLeft):
		a.say(fmt.Sprintf("ralph: left loop %s, which goes on; 'ralph attach %s' comes back, 'ralph stop %s' ends it", a.name, a.name, a.name))
		return nil
	case errors.Is(why, errSignal):
		a.say(fmt.Sprintf("ralph: left loop %s, which goes on", a.name))
		return exit(event.ExitInterrupted)
	case errors.Is(why, errNoRunner):
		if err := a.rest(); err != nil {
			return err
		}
	}
	cancel(nil)
	if a.pulse != nil {
		a.pulse.end()
		a.stands()
	}
	ended := a.conclude()
	if words := a.unsent(); words != "" {
		return a.offer(words, signals, ended)
	}
	return ended
}

// guarded runs what has a goroutine of its own. A panic there ends the program without what others deferred, and is not
// to leave the terminal in the modes of a screen.
func (a *attached) guarded(run func()) {
	defer func() {
		if p := recover(); p != nil {
			a.screen.restore()
			panic(p)
		}
	}()
	run()
}

// say tells the person something that is not the loop's.
func (a *attached) say(text string) {
	if a.typist != nil {
		a.screen.say(text)
		return
	}
	fmt.Fprintln(a.stderr, text)
}

// live shows events as they come.
func (a *attached) live(ctx context.Context, from journal.Position) error {
	var flushed error
	opt := journal.FollowOptions{From: from, UntilEnded: true, Idle: func(journal.Position) {
		a.resize()
		flushed = a.view.Flush()
		select {
		case a.stale <- struct{}{}:
		default:
		}
	}}
	for ev, err := range journal.Follow(ctx, a.dir, opt) {
		if err == nil {
			err = a.show(ev)
		}
		if err = errors.Join(err, flushed); err != nil {
			return err
		}
	}
	return flushed
}

// resize has the text take on the size that the terminal has now.
func (a *attached) resize() {
	if text, ok := a.view.(*render.Text); ok && a.isTerminal() {
		columns, rows := a.size()
		text.SetWidth(columns)
		a.screen.size(columns, rows)
	}
}

// draws has the screen draw what stands below the output.
func (a *attached) draws(o attachOptions, state projector.State) {
	a.screen.draws, a.screen.color = true, a.look().Color
	a.screen.columns, a.screen.rows = a.size()
	if !o.plain {
		a.screen.prompt, a.pulse = true, newPulse(state)
	}
}

// stands says below the output where the loop stands now.
func (a *attached) stands() {
	if a.pulse == nil {
		return
	}
	columns, _ := a.size()
	status, tail := a.pulse.line(a.now(), columns-1)
	if a.verbose {
		tail = nil // it is shown above
	}
	a.screen.footer(status, tail)
}

// frameEvery is how often what stands below the output is drawn where much happens.
const frameEvery = 100 * time.Millisecond

// tick keeps the time in what stands below the output, and that in its place where the terminal changes.
func (a *attached) tick(ctx context.Context) {
	changes := make(chan os.Signal, 1)
	hearTerminal(changes)
	defer signal.Stop(changes)
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	var drawn time.Time
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.stale:
			if soon == nil {
				soon = time.After(frameEvery - time.Since(drawn))
			}
			continue
		case <-soon:
			soon = nil
		case <-seconds.C:
		case s := <-changes:
			if continued(s) {
				a.screen.continued()
			}
		}
		a.screen.size(a.size())
		a.stands()
		a.screen.refresh()
		drawn = time.Now()
	}
}

// watch calls the following off when a signal comes or the runner is dead.
func (a *attached) watch(ctx context.Context, signals <-chan os.Signal, dead <-chan struct{}, cancel context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case <-signals:
		a.leave(cancel, errSignal)
	case <-dead:
		a.leave(cancel, errNoRunner)
	}
}

// leave ends the following, also where its output waits for a line that is being
// typed.
func (a *attached) leave(cancel context.CancelCauseFunc, why error) {
	cancel(why)
	a.screen.close()
}

// rest shows what a runner that is gone has written since the last look: everything,
// since it gave up its lock after that.
func (a *attached) rest() error {
	for ev, err := range journal.Read(a.dir, journal.ReadOptions{FromSeq: a.seq + 1}) {
		if err == nil {
			err = a.show(ev)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// conclude is the end of a loop that nobody runs any more.
func (a *attached) conclude() error {
	if err := a.view.Close(); err != nil {
		return err
	}
	if a.ended == nil {
		return &failure{
			err:  fmt.Errorf("the runner of loop %s died", a.name),
			hint: fmt.Sprintf("'ralph start %s --resume' goes on with it; what it said itself stands in %s", a.name, a.short(filepath.Join(a.dir, "runner.log"))),
			code: event.ExitFailed,
		}
	}
	if code := a.ended.Reason.ExitCode(); code != event.ExitCompleted {
		return exit(code)
	}
	return nil
}

// listens reports whether a person sits there to type, interactive whether that shows on a line that can be drawn again.
// Where it cannot, the terminal's own line mode has to do.
func (a *attached) listens() bool { return !a.json && a.isTerminal() && a.typed() }

func (a *attached) interactive() bool { return !a.json && a.drawable() && a.typed() }

// history holds what happened before we came, until it is known how much of it
// fits on the screen.
type history struct {
	to   io.Writer
	past bytes.Buffer
	live bool
}

func (h *history) Write(p []byte) (int, error) {
	if h.live {
		return h.to.Write(p)
	}
	return h.past.Write(p)
}

// open writes the last lines of the past, and from now on everything.
func (h *history) open(lines int) error {
	h.live = true
	text := h.past.Bytes()
	from := len(text)
	for range lines + 1 {
		if from = bytes.LastIndexByte(text[:max(from, 0)], '\n'); from < 0 {
			break
		}
	}
	_, err := h.to.Write(text[from+1:])
	h.past = bytes.Buffer{}
	return err
}
