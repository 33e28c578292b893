package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/effect"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Config is what a runner needs to know.
type Config struct {
	Home     string // ralph's own home
	Name     string // of the loop
	Dir      string // the loop's folder, absolute
	Project  string // the folder that holds .ralph, where guardrails run; absolute
	WorkDir  string // where the agent works, absolute; "" for the project's folder
	Settings config.Settings
	Frozen   []byte // what config.Freeze makes of Settings, if that is known; secrets do not reach the file
	// Resume goes on with a loop that has a journal. Without it such a loop is an
	// *ExistsError.
	Resume bool
	// AcceptChanges says of a resumed loop that what its guardrails consist of is right as it is now, though an agent may
	// have changed it.
	AcceptChanges bool
	// Given is what of the settings is not built in, for the journal, which masks no secret that is not also in the environment
	// or in the settings of an agent.
	Given []event.Setting
	// Prompt or PromptFile is the base prompt of a new loop; a resumed one has its own.
	Prompt     string
	PromptFile string
	Version    string
	Env        []string
	// Unattended says that nobody is there to resume a loop whose agent waits for a person: it ends.
	Unattended bool
	// Signals are wishes to stop from outside the inbox: each value is one more.
	Signals <-chan os.Signal
	// Ready is called once: when the first agent runs, or with the end of a loop
	// that never got so far.
	Ready func(*event.LoopEnded)
	// Warn is told what went wrong beside the loop and changes nothing about how it ended; nil where nobody
	// listens.
	Warn func(error)
}

// sweepGrace is how long processes of a dead runner have between TERM and KILL.
const sweepGrace = 5 * time.Second

// inputsMost is how many batches may wait for the driver; further ones hold
// their senders back.
const inputsMost = 4

// runner is one run of Run.
type runner struct {
	Config
	id     string // of the loop; the mark of its agent's processes
	clock  func() time.Time
	masker *secret.Masker
	writer *journal.Writer
	// enrolled waits until what stands beside the journal is on disk.
	enrolled func() error
	project  *projector.Writer
	driver   *loop.Driver
	inputs   chan loop.Input // the driver's
	hands    *effect.Hands
	lock     *registry.Lock
	unlocked sync.Once          // the loss of the lock's file is told once
	over     chan struct{}      // closed when the driver takes nothing more
	asked    chan chan struct{} // who wants to know when the inbox has been read
	deaf     chan struct{}      // closed when the inbox is read no more
	ready    bool
	answers  answers
	looked   sync.Once // whether the agents have logins
	decided  []Keys    // by place
	begun    []int     // the places of the agents that have had an iteration; of the hands' worker alone
}

// Run runs the loop until it has ended and returns how. The error is a
// *registry.HeldError, a *SharedTreeError, an *ExistsError, a *journal.CorruptError, [journal.ErrBusy], or says what
// could not be read or written; the loop can be resumed later. Where the journal was taken away or damaged while the
// loop ran, both are returned: the end, which stands in no journal, and a *journal.VanishedError or *journal.CorruptError.
func Run(ctx context.Context, cfg Config) (event.LoopEnded, error) {
	lock, err := registry.Acquire(cfg.Dir)
	if err != nil {
		return event.LoopEnded{}, err
	}
	defer func() { _ = lock.Release() }() // its end is the process's at the latest
	tree, err := enter(cfg.Home, cfg.Project, cfg.Settings.Share)
	if err != nil {
		return event.LoopEnded{}, err
	}
	defer func() { _ = tree.Release() }() // as above
	// Without it, what an agent leaves behind in sessions of its own is found by its mark.
	_ = process.EnableSubreaper()
	cfg.WorkDir = cmp.Or(cfg.WorkDir, cfg.Project)
	r := &runner{Config: cfg, lock: lock, clock: time.Now, inputs: make(chan loop.Input, inputsMost), over: make(chan struct{}), asked: make(chan chan struct{}), deaf: make(chan struct{})}
	if err := r.open(ctx); err != nil {
		if r.enrolled != nil { // nothing is left half written
			_ = r.enrolled()
			_ = r.project.Close()
			r.release()
		}
		if r.writer != nil {
			_ = r.writer.Close()
		}
		return event.LoopEnded{}, err
	}
	return r.run(ctx)
}

// open takes up the journal and begins a segment of it.
func (r *runner) open(ctx context.Context) error {
	r.masker = secret.New(r.environ())
	if r.Frozen == nil {
		var err error
		if r.Frozen, err = config.Freeze(r.Settings, nil); err != nil {
			return err
		}
	}
	r.Frozen, _ = r.masker.Mask(r.Frozen)
	opt := r.journalOptions()
	rec, err := journal.Recover(r.Dir, opt)
	if err != nil {
		return err
	}
	state, err := projector.Rebuild(r.Dir)
	if err != nil {
		return err
	}
	if err := r.agreed(&state); err != nil {
		return err
	}
	swept, err := r.sweep(ctx, state.Life.ID)
	if err != nil {
		return err
	}
	var checkpoint []byte
	iteration := 1 // a new loop's first segment is its first iteration's
	rules := Rules(r.Settings)
	if state.Begun() {
		checkpoint, iteration = state.Checkpoint(), state.Life.Iteration
		rules = r.carried(state.Budget.Rules) // before config.json is written anew
	}
	rules.WaitEnds, rules.Agents = r.Unattended, nil
	if about := r.about(); len(about) > 1 {
		rules.Agents = about
	}
	r.project = r.projections() // it tidies the folder, so before anything is written there
	r.enrolled = r.enrol(&state)
	LetOutlive(r.id, r.Settings)
	writer, events, err := journal.Create(r.Dir, rec, iteration, checkpoint, opt)
	if err != nil {
		return err
	}
	r.writer = writer
	r.assemble(state, iteration)
	if err := r.driver.Engine.Fold(events); err != nil {
		return err
	}
	if err := r.mend(&state); err != nil {
		return err
	}
	return r.begin(&state, rec, rules, swept)
}

// sweep ends what a dead runner's agent left running.
func (r *runner) sweep(ctx context.Context, mark string) (int, error) {
	if mark == "" {
		return 0, nil
	}
	swept := 0
	for _, mark := range Marks(mark) {
		strays, err := process.Sweep(ctx, mark, sweepGrace)
		if err != nil {
			return 0, fmt.Errorf("end the processes of the runner before: %w", err)
		}
		swept += len(strays)
	}
	return swept, nil
}

// projections returns what writes state.json and its like. One that cannot be written stops no loop.
func (r *runner) projections() *projector.Writer {
	return projector.NewWriter(r.Dir, func(err error) {
		// The folder's end is seen here first where the loop has nothing to sync for a while.
		if _, gone := os.Lstat(r.Dir); errors.Is(gone, fs.ErrNotExist) {
			r.raise("projections", &effect.VanishedError{Err: err})
		}
	})
}

func (r *runner) assemble(state projector.State, iteration int) {
	deliver := func(drafts []event.Draft, release func()) {
		r.inputs <- loop.Input{Drafts: drafts, Release: release}
	}
	r.hands = effect.New(effect.Config{
		Deliver: deliver, Agent: r.agent, Mail: r.heard,
		Blob: r.writer.PutBlob, ReadBlob: r.readBlob, ReadFile: r.readFile,
		Dir: r.Dir, Project: r.Project, WorkDir: r.WorkDir, Env: r.ownEnvironment(),
		Guardrails: r.guards(), TruncateChars: r.Settings.OutputTruncateChars, SCM: r.scm(), Words: r.words(), Secrets: r.masker,
	})
	engine := &loop.Engine{Journal: founded{r.writer, r.enrolled}, Hands: r.hands, Folded: r.folded, Segment: iteration}
	engine.Restore(state)
	r.driver = &loop.Driver{Engine: engine, Inputs: r.inputs, Now: r.clock, Flush: r.flush}
}

// begin records that the loop started or goes on. It becomes durable with the first
// decision that has to be: until then nothing is done that could not be done again.
func (r *runner) begin(state *projector.State, rec journal.Recovery, rules event.Rules, swept int) error {
	about := r.about()[0]
	host, _ := os.Hostname()
	var first event.Payload
	if !state.Begun() {
		task, err := r.source()
		if err != nil {
			return err
		}
		first = event.LoopStarted{
			Name: r.Name, ID: r.id, Dir: r.Dir, Project: r.WorkDir, Host: host, PID: os.Getpid(),
			Version: r.Version, Agent: about, Rules: rules, Task: task, Settings: r.given(),
		}
	} else {
		// What cannot be enrolled is not resumed: the loop stays as it ended.
		if err := r.enrolled(); err != nil {
			return err
		}
		first = event.LoopResumed{
			Host: host, PID: os.Getpid(), Version: r.Version,
			Died: state.Life.Ended == nil, Lost: rec.Lost, Swept: swept, Rules: &rules, Agent: &about, Resealed: r.AcceptChanges, Settings: r.given(),
		}
	}
	events, err := r.writer.Append([]event.Draft{event.Encode(first, "loop")})
	if err != nil {
		return err
	}
	return r.driver.Engine.Fold(events)
}

// run drives the loop and closes everything behind it.
func (r *runner) run(ctx context.Context) (event.LoopEnded, error) {
	doors, shut := context.WithCancel(ctx)
	defer shut()
	box, err := inbox.Open(r.Dir)
	if err != nil {
		return event.LoopEnded{}, err
	}
	go r.askAhead()
	go r.receive(doors, box)
	go r.obey(doors)
	if r.driver.Engine.State().Life.Resumed > 0 {
		before := make(chan struct{})
		go func() {
			defer close(before)
			r.heard(doors)
		}()
		r.driver.Before = before
	}
	failure := r.driver.Run(ctx)
	shut()
	close(r.over)
	left := r.empty()
	err = errors.Join(failure, finish(r.writer, r.driver.Engine))
	state := r.driver.Engine.State()
	if unfounded, ok := errors.AsType[*enrolError](failure); ok {
		r.release()
		return event.LoopEnded{}, errors.Join(unfounded.error, r.project.Close())
	}
	if failure != nil {
		// What follows from it is no error of its own.
		err = failure
		state = r.recorded(state)
		if full(failure) {
			if said, more := r.lastWord(failure, left); more == nil {
				state = said
			}
		}
	}
	if ended := r.unrecorded(err); ended != nil {
		state.Life.Ended = ended
	}
	r.release()
	if r.lock.Check() == nil { // else the folder may be another runner's by now
		r.forget()
		r.project.State(state)
	}
	if projected := r.project.Close(); projected != nil && err == nil {
		r.warn(fmt.Errorf("%w; the journal has all of it, and 'ralph journal rebuild %s' writes it again", projected, r.Name))
	}
	if state.Life.Ended == nil {
		return event.LoopEnded{}, err
	}
	if announced := r.announce(*state.Life.Ended); announced != nil {
		r.warn(announced)
	}
	return *state.Life.Ended, err
}

// folded watches for what is told to others.
func (r *runner) folded(events []event.Event, s *projector.State) {
	for _, e := range events {
		switch e.Type {
		case event.TypeIterationStarted:
			// An agent's 'git clean' takes this file away, and without it the next one could add nothing at all: git refuses a
			// repository without a commit, which is what the loop's folder looks like to it.
			_ = repo.Ignore(filepath.Dir(r.Dir))
			r.forget()
		case event.TypeIterationEnded:
			r.project.Iteration(*s.Last)
		case event.TypeAgentStarted:
			r.tell(nil)
		case event.TypeLoopEnded:
			r.tell(s.Life.Ended)
		}
	}
}

func (r *runner) tell(ended *event.LoopEnded) {
	if !r.ready && r.Ready != nil {
		r.Ready(ended)
	}
	r.ready = true
}

// receive takes commands from the inbox until ctx is done.
func (r *runner) receive(ctx context.Context, box *inbox.Box) {
	defer close(r.deaf)
	wake := box.Watch(ctx)
	var asked chan struct{}
	for {
		items, err := box.Pending()
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				gone := &effect.VanishedError{Part: "the inbox", Err: err}
				if _, whole := os.Lstat(r.Dir); errors.Is(whole, fs.ErrNotExist) {
					gone.Part = ""
				}
				err = gone
			}
			r.put(ctx, fault("inbox", err))
			return
		}
		if len(items) > 0 && !r.claim(ctx, box, items) {
			return
		}
		if len(items) == inbox.PassLimit {
			continue
		}
		if asked != nil {
			close(asked)
			asked = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case asked = <-r.asked:
		}
	}
}

// heard returns when every command that was dropped before is in the journal, or will not be
// read any more.
func (r *runner) heard(ctx context.Context) {
	done := make(chan struct{})
	select {
	case r.asked <- done:
	case <-r.deaf:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-r.deaf:
	case <-ctx.Done():
	}
}

// claim records commands and removes their files once that is durable.
func (r *runner) claim(ctx context.Context, box *inbox.Box, items []inbox.Item) bool {
	done := make(chan struct{})
	in := loop.Input{Synced: func() { close(done) }}
	for _, item := range items {
		if c := item.Command; c != nil {
			in.Commands = append(in.Commands, event.CommandReceived{
				ID: c.ID, Kind: string(c.Kind), From: policy.Sender(c.From), Text: c.Text, Key: c.Key, Val: c.Value,
			})
			continue
		}
		in.Drafts = append(in.Drafts, event.Encode(event.CommandRefused{ID: "file:" + item.Reject.Name, Why: item.Reject.Reason}, "inbox"))
	}
	if !r.put(ctx, in) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-done:
	}
	for _, item := range items {
		// A file that cannot be moved away is in the journal, and the box gives it no more.
		if item.Command != nil {
			_ = box.Done(item.Command.ID)
		} else {
			_ = box.Reject(item.Reject.Name, item.Reject.Reason)
		}
	}
	return true
}

// fault is an error that ralph itself met.
func fault(where string, err error) loop.Input {
	return loop.Input{Drafts: []event.Draft{event.Encode(event.FaultRaised{Where: where, Error: err.Error(), Class: effect.Classify(err)}, "loop")}}
}

// obey turns signals into wishes: the first to stop after the iteration, the second
// to stop now, the third to kill.
func (r *runner) obey(ctx context.Context) {
	for _, kind := range []string{string(inbox.Stop), string(inbox.StopNow), string(inbox.Kill)} {
		select {
		case <-ctx.Done():
			return
		case <-r.Signals:
			r.put(ctx, loop.Input{Drafts: []event.Draft{event.Encode(event.CommandReceived{
				ID: NewID(r.clock()), Kind: kind, From: policy.FromSignal,
			}, "loop")}})
		}
	}
}

func (r *runner) put(ctx context.Context, in loop.Input) bool {
	select {
	case <-ctx.Done():
		return false
	case r.driver.Inputs <- in:
		return true
	}
}

// readBlob reads a text that the journal keeps in a file.
func (r *runner) readBlob(sha256 string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Join(r.Dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	defer root.Close()
	text, err := root.ReadFile(sha256)
	if err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	return text, nil
}

func (r *runner) source() (event.Source, error) {
	if r.PromptFile != "" {
		return event.Source{File: r.PromptFile}, nil
	}
	blob, err := r.writer.PutBlob([]byte(r.Prompt))
	return event.Source{Text: &blob}, err
}

// NewID returns a ULID's text.
func NewID(now time.Time) string { return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String() }
