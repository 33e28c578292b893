package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config is what a runner needs to know. A starter passes it to a detached runner as JSON.
type Config struct {
	Home    string // ralph's own home
	ID      string // the ULID of a new loop; without it the runner makes one
	Name    string // of the loop
	Dir     string // the loop's folder, absolute
	Project string // the folder that holds .ralph; absolute
	// Tree is the project's folder in the worktree of the loop, absolute; "" for Project.
	// Guardrails run there.
	Tree     string
	PortBase int             // the first of the ports that the processes of the loop may use; 0 for none
	WorkDir  string          // where the agent works, absolute; "" for the project's folder
	Settings config.Settings `json:"-"`
	// Frozen is the result of config.Freeze for Settings. It is redacted before it is written.
	Frozen []byte
	// Resume continues a loop that has a journal. Without it such a loop is an *ExistsError.
	Resume bool
	// AcceptChanges accepts the guardrails' files of a resumed loop as they are now, even if an
	// agent changed them.
	AcceptChanges bool
	// Given are the settings that differ from the built-in ones, for the journal. It redacts
	// secrets that are also in the environment or in the settings of an agent.
	Given []event.Setting
	// Prompt or PromptFile is the base prompt of a new loop; a resumed one has its own.
	Prompt     string
	PromptFile string
	// Stories lets a new loop work on the stories of ralph/tasks.json, which is its PromptFile.
	Stories bool
	// When says what has to be before the first iteration of a new loop; nil for nothing.
	When    *event.When
	Version string
	Env     []string `json:"-"`
	// Unattended ends a loop whose agent waits for a person.
	Unattended bool
	// Signals stop the loop: the first after the iteration, the second now, the third kills.
	Signals <-chan os.Signal `json:"-"`
	// Ready, if not nil, is called once: when the first agent runs, when the loop pauses or waits
	// before that, or with the end of a loop that ended before.
	Ready func(*event.LoopEnded) `json:"-"`
	// Warn, if not nil, receives errors that do not change how the loop ended.
	Warn func(error) `json:"-"`
}

// maxInputs is how many batches may wait for the driver; further senders block.
const maxInputs = 4

// runner is one call of Run.
type runner struct {
	Config
	id          string // of the loop; the mark of its agent's processes
	clock       func() time.Time
	redactor    *redact.Redactor
	writer      *journal.Writer
	project     *loopstate.Writer
	driver      *loop.Driver
	inputs      chan loop.Input // the driver's
	executor    *executor.Executor
	lock        *registration.Lock
	lockLost    sync.Once // reports the loss of the lock's file
	tree        *workTree
	driverDone  chan struct{}      // closed when the driver has returned
	inboxReads  chan chan struct{} // requests to read the inbox; closed when that is done
	inboxClosed chan struct{}      // closed when the inbox is no longer read
	ready       bool
	probes      sync.Map // results of probes, each a func() probeResult, by place and command line
	// keys are the keys of the environment that each agent gets. They are decided once, as the
	// journal records them, although a login may appear later.
	keys []credentials.Keys
	// places of the agents that had an iteration; used by the executor's worker
	started  []int
	follower follower
	notifier *notifier    // nil without a channel
	sandbox  *sandbox.Box // nil without one
	exchange *exchange    // with the agent of a virtual machine; nil without one
	observer observer
	// interrupted says that a person could change files while the loop paused or waited.
	interrupted atomic.Bool
	// sandboxed is what the journal says of it; nil without a sandbox in the settings.
	sandboxed *event.SandboxOpened
	// traceParent is the span of another program in which the loop began; empty if there is none.
	traceParent string
	nested      *nesting
	heldOut     []holdout.Guardrail // which no agent may read
}

// Run runs the loop until it has ended and returns how. The error is a *registration.HeldError, a
// *SharedTreeError, an *ExistsError, a *journal.CorruptError, [journal.ErrBusy], or says what could
// not be read or written; the loop can be resumed later. If the journal was removed or damaged
// while the loop ran, Run returns both the end, which is in no journal, and a
// *journal.VanishedError or *journal.CorruptError. If a resumed loop would end before an agent
// works, Run returns that end and records nothing.
func Run(ctx context.Context, cfg Config) (event.LoopEnded, error) {
	lock, err := registration.Acquire(cfg.Dir)
	if err != nil {
		return event.LoopEnded{}, err
	}
	defer func() { _ = lock.Release() }() // the end of the process releases it too
	cfg.Tree = cmp.Or(cfg.Tree, cfg.Project)
	when := cfg.When
	if cfg.Resume {
		state, _ := loopstate.Open(cfg.Dir) // what cannot be read ends the start below
		when = state.Lifecycle.When
	}
	tree := &workTree{}
	defer func() {
		if tree.lock != nil {
			_ = tree.lock.Release() // as above
		}
	}()
	if !ComesAfter(when) {
		if err := tree.take(cfg.Home, cfg.Tree, cfg.Settings.AllowSharedWorktree); err != nil {
			return event.LoopEnded{}, err
		}
	}
	nested, err := nest(&cfg, process.Ancestors())
	if err != nil {
		return event.LoopEnded{}, err
	}
	defer nested.release()
	// Without a subreaper, stray processes of an agent are found by their mark.
	_ = process.EnableSubreaper()
	cfg.WorkDir = cmp.Or(cfg.WorkDir, cfg.Tree)
	r := &runner{Config: cfg, nested: &nested, lock: lock, tree: tree, clock: time.Now, inputs: make(chan loop.Input, maxInputs),
		driverDone: make(chan struct{}), inboxReads: make(chan chan struct{}), inboxClosed: make(chan struct{})}
	r.observer.runner = r
	r.decideKeys()
	box, err := r.open(ctx)
	if err != nil {
		r.closeSandbox()
		if r.project != nil {
			_ = r.project.Close()
			r.release()
		}
		if r.writer != nil {
			_ = r.writer.Close()
		}
		if refused, ok := errors.AsType[*refusedError](err); ok {
			r.reportReady(&refused.ended)
			return refused.ended, nil
		}
		return event.LoopEnded{}, err
	}
	return r.run(ctx, box)
}

// run drives the loop, and closes everything after its end.
func (r *runner) run(ctx context.Context, box *inbox.Box) (event.LoopEnded, error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var readers sync.WaitGroup // each ends when reading is cancelled or driverDone is closed
	readers.Go(r.probeFirstAgent)
	readers.Go(func() { r.readInbox(reading, box) })
	readers.Go(func() { r.forwardSignals(reading) })
	if r.driver.Engine.State().Lifecycle.Resumed > 0 || r.Settings.SCM.FollowPR {
		read := make(chan struct{})
		readers.Go(func() {
			defer close(read)
			r.receiveCommands(reading)
		})
		r.driver.InboxRead = read
	}
	exported := r.exportTrace()
	r.notifier = r.startNotifier()
	awake := r.keepAwake()
	r.reportSandbox()
	r.observer.reading = reading
	failure := r.driver.Run(ctx)
	cancel()
	close(r.driverDone)
	left := r.closeExecutor()
	if to := r.driver.Engine.State().Ownership.Fenced; to != nil { // the record is durable
		if err := writeFence(r.Dir, *to, r.clock()); err != nil {
			r.warn(err)
		}
	}
	r.closeSandbox()
	awake()
	readers.Wait()
	r.observer.watches.Wait()
	err := errors.Join(failure, finish(r.writer, r.driver.Engine))
	state := r.driver.Engine.State()
	if failure != nil {
		err = failure // the others follow from it
		state = r.stateOnDisk(state)
		if diskFull(failure) {
			if ended, err := r.recordDiskFull(failure, left); err == nil {
				state = ended
			}
		}
	}
	if ended := r.unrecordedEnd(err); ended != nil {
		state.Lifecycle.Ended = ended
	}
	r.release()
	if state.Rules.Stories {
		if err := plan.RemoveMarker(r.Tree, r.Dir); err != nil {
			r.warn(err)
		}
	}
	if r.lock.Check() == nil { // else the folder may belong to another runner now
		r.removeDropped()
		_ = r.writeMissingIterations(state) // for which there was no room
		r.project.State(state)
	}
	if projected := r.project.Close(); projected != nil && err == nil {
		r.warn(fmt.Errorf("%w; the journal has all of it, and 'ralph journal rebuild %s' writes it again", projected, r.Name))
	}
	exported()
	r.notifier.finish()
	if state.Lifecycle.Ended == nil {
		return event.LoopEnded{}, err
	}
	if announced := r.appendCompletion(*state.Lifecycle.Ended); announced != nil {
		r.warn(announced)
	}
	return *state.Lifecycle.Ended, err
}

// folded updates projections and readiness after events were folded.
func (r *runner) folded(events []event.Event, s *loopstate.State) {
	r.notifier.folded(events, s)
	for _, e := range events {
		r.account(e, s)
		r.observer.folded(e, s)
		switch e.Type {
		case event.TypeIterationStarted:
			// An agent's 'git clean' removes this file. Without it 'git add' fails: git takes the
			// loop's folder for a repository without a commit.
			_ = repo.Ignore(filepath.Dir(r.Dir))
			r.removeDropped()
		case event.TypeLoopPaused:
			r.interrupted.Store(true)
			r.reportReady(nil)
		case event.TypeIterationEnded:
			r.project.Iteration(*s.Last)
		case event.TypeAgentStarted:
			r.reportReady(nil)
		case event.TypeLoopWaiting:
			// Before a restart, the agent failed to start, and the loop may end yet.
			if p, err := event.As[event.LoopWaiting](e); err == nil && p.For != event.WaitRestart {
				r.interrupted.Store(p.For == event.WaitPerson || r.interrupted.Load())
				r.reportReady(nil)
			}
		case event.TypeLoopReleased: // a person may have let it begin before its turn
			if err := r.tree.take(r.Home, r.Tree, true); err != nil {
				r.warn(err)
			}
		case event.TypeLoopEnded:
			r.reportReady(s.Lifecycle.Ended)
		}
	}
}

func (r *runner) reportReady(ended *event.LoopEnded) {
	if !r.ready && r.Ready != nil {
		r.Ready(ended)
	}
	r.ready = true
}

// NewID returns a ULID's text.
func NewID(now time.Time) string { return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String() }
