package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/effect"
	"github.com/ralph-loop/ralph/internal/loop"
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
	Project  string // where the agent works, absolute
	Settings config.Settings
	Frozen   []byte // what config.Freeze makes of Settings, if that is known
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
	hands    *effect.Hands
	over     chan struct{}      // closed when the driver takes nothing more
	asked    chan chan struct{} // who wants to know when the inbox has been read
	deaf     chan struct{}      // closed when the inbox is read no more
	ready    bool
	answers  answers
	begun    []int // the places of the agents that have had an iteration; of the hands' worker alone
}

// Run runs the loop until it has ended and returns how. The error is a
// *registry.HeldError, a *SharedTreeError, an *ExistsError, a *journal.CorruptError, or says what
// could not be read or written; the loop can be resumed later.
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
	r := &runner{Config: cfg, clock: time.Now, over: make(chan struct{}), asked: make(chan chan struct{}), deaf: make(chan struct{})}
	if err := r.open(ctx); err != nil {
		if r.enrolled != nil { // nothing is left half written
			_ = r.enrolled()
			_ = r.project.Close()
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
	if state.Seq > 0 {
		checkpoint, iteration = state.Checkpoint(), state.Life.Iteration
	}
	rules := Rules(r.Settings)
	if state.Seq > 0 {
		rules = r.carried(state.Budget.Rules) // before config.json is written anew
	}
	rules.WaitEnds, rules.Agents = r.Unattended, nil
	if about := r.about(); len(about) > 1 {
		rules.Agents = about
	}
	inputs := make(chan loop.Input, inputsMost)
	r.project = r.projections(inputs) // it tidies the folder, so before anything is written there
	r.enrolled = r.enrol(&state)
	writer, events, err := journal.Create(r.Dir, rec, iteration, checkpoint, opt)
	if err != nil {
		return err
	}
	r.writer = writer
	r.assemble(state, iteration, inputs)
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
	for _, mark := range []string{mark, ownMark(mark)} {
		strays, err := process.Sweep(ctx, mark, sweepGrace)
		if err != nil {
			return 0, fmt.Errorf("end the processes of the runner before: %w", err)
		}
		swept += len(strays)
	}
	return swept, nil
}

// projections returns what writes state.json and its like.
func (r *runner) projections(inputs chan<- loop.Input) *projector.Writer {
	return projector.NewWriter(r.Dir, func(err error) {
		// Any other failure is the journal's to meet; a folder that is not there any
		// more it cannot see, because it holds its files open.
		if errors.Is(err, fs.ErrNotExist) {
			select {
			case inputs <- fault("projections", &effect.VanishedError{Err: err}):
			case <-r.over:
			}
		}
	})
}

func (r *runner) assemble(state projector.State, iteration int, inputs chan loop.Input) {
	deliver := func(drafts []event.Draft, release func()) {
		inputs <- loop.Input{Drafts: drafts, Release: release}
	}
	r.hands = effect.New(effect.Config{
		Deliver: deliver, Agent: r.agent, Mail: r.heard,
		Blob: r.writer.PutBlob, ReadBlob: r.readBlob, ReadFile: r.readFile,
		Dir: r.Dir, Project: r.Project, Env: r.ownEnvironment(),
		Guardrails: r.guards(), TruncateChars: r.Settings.OutputTruncateChars, SCM: r.scm(), Words: r.words(),
	})
	engine := &loop.Engine{Journal: founded{r.writer, r.enrolled}, Hands: r.hands, Folded: r.folded, Segment: iteration}
	engine.Restore(state)
	r.driver = &loop.Driver{Engine: engine, Inputs: inputs, Now: r.clock, Flush: r.project.State}
}

// begin records that the loop started or goes on. It becomes durable with the first
// decision that has to be: until then nothing is done that could not be done again.
func (r *runner) begin(state *projector.State, rec journal.Recovery, rules event.Rules, swept int) error {
	about := r.about()[0]
	host, _ := os.Hostname()
	var first event.Payload
	if state.Life.Started.IsZero() {
		task, err := r.source()
		if err != nil {
			return err
		}
		first = event.LoopStarted{
			Name: r.Name, ID: r.id, Dir: r.Dir, Project: r.Project, Host: host, PID: os.Getpid(),
			Version: r.Version, Agent: about, Rules: rules, Task: task, Settings: r.given(),
		}
	} else {
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
	failure := r.driver.Run(ctx)
	shut()
	close(r.over)
	left := r.empty()
	state := r.driver.Engine.State()
	err = errors.Join(failure, r.writer.Close())
	if unfounded, ok := errors.AsType[*enrolError](failure); ok {
		r.release()
		return event.LoopEnded{}, errors.Join(unfounded.error, r.project.Close())
	}
	if failure != nil {
		// What follows from it is no error of its own.
		err = failure
		if full(failure) {
			if said, more := r.lastWord(failure, left); more == nil {
				state = said
			}
		}
	}
	r.release()
	r.project.State(state)
	if projected := r.project.Close(); err == nil {
		err = projected
	}
	if state.Life.Ended == nil {
		return event.LoopEnded{}, err
	}
	return *state.Life.Ended, errors.Join(err, r.announce(*state.Life.Ended))
}

// folded watches for what is told to others.
func (r *runner) folded(events []event.Event, s *projector.State) {
	for _, e := range events {
		switch e.Type {
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
			if _, gone := os.Lstat(r.Dir); errors.Is(gone, fs.ErrNotExist) {
				err = &effect.VanishedError{Err: gone}
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
				ID: c.ID, Kind: string(c.Kind), From: c.From, Text: c.Text, Key: c.Key, Val: c.Value,
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
		// A file that cannot be removed is found again and known again.
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
				ID: NewID(r.clock()), Kind: kind, From: "signal",
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
