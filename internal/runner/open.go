package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// sweepGrace is how long processes of a dead runner have between TERM and KILL.
const sweepGrace = 5 * time.Second

// open recovers the journal, begins a segment, and opens the inbox. After an error the caller
// closes what is open: the next runner may start as soon as run.lock is free.
func (r *runner) open(ctx context.Context) (*inbox.Box, error) {
	r.redactor = redact.New(slices.Concat(r.Env, credentials.Secrets(r.Settings), otlp.Secrets(r.Settings.Telemetry.OTLP, r.Env)))
	r.Frozen, _ = r.redactor.Mask(r.Frozen)
	opt := r.journalOptions()
	rec, err := journal.Recover(r.Dir, opt)
	if err != nil {
		return nil, err
	}
	state, err := loopstate.Rebuild(r.Dir)
	if err != nil {
		return nil, err
	}
	if err := r.checkResume(&state); err != nil {
		return nil, err
	}
	swept, err := r.sweep(ctx, state.Lifecycle.ID)
	if err != nil {
		return nil, err
	}
	if err := r.refuseFenced(&state); err != nil {
		return nil, err
	}
	var checkpoint []byte
	iteration := 1 // a new loop's first segment is its first iteration's
	if state.Begun() {
		checkpoint, iteration = state.Checkpoint(), state.Lifecycle.Iteration
	}
	if err := r.readHeldOut(); err != nil {
		return nil, err
	}
	rules, err := r.firstRules(&state) // before config.json is replaced
	if err != nil {
		return nil, err
	}
	resumed := r.resuming(&state, rec, rules, swept)
	if err := r.tryResume(&state, resumed); err != nil {
		return nil, err
	}
	r.project = r.projections() // removes temporary files, so before anything is written
	if r.id = state.Lifecycle.ID; r.id == "" {
		r.id = cmp.Or(r.ID, NewID(r.clock()))
	}
	r.traceParent = state.Lifecycle.TraceParent
	if !state.Begun() {
		r.traceParent = outerTrace(r.Env)
	}
	if err := r.register(&state); err != nil {
		return nil, err
	}
	if err := r.openSandbox(ctx); err != nil {
		return nil, err
	}
	LetOutlive(r.Home, r.id, r.Settings)
	writer, events, err := journal.Create(r.Dir, rec, iteration, checkpoint, opt)
	if err != nil {
		return nil, err
	}
	r.writer = writer
	r.assemble(state, iteration)
	if err := r.driver.Engine.Fold(events); err != nil {
		return nil, err
	}
	if err := r.writeMissingIterations(&state); err != nil {
		return nil, err
	}
	if err := r.begin(&state, rules, resumed); err != nil {
		return nil, err
	}
	r.nested.release() // the next one reads in the journal what this one may spend
	return inbox.Open(r.Dir)
}

// firstRules returns the rules with which a loop begins or is resumed.
func (r *runner) firstRules(state *loopstate.State) (event.Rules, error) {
	rules, stories, when := Rules(r.Settings), r.Stories, r.When
	if state.Begun() {
		rules, stories, when = r.resumedRules(state.Rules), state.Rules.Stories, state.Lifecycle.When
	}
	if stories {
		rules = onStories(rules)
		// A dead runner left it. The next iteration writes its own.
		if err := plan.RemoveMarker(r.Tree, r.Dir); err != nil {
			return rules, err
		}
	}
	rules.Limits.Cost = r.nested.limitCost(rules.Limits.Cost)
	rules.WaitEnds, rules.Agents, rules.Reviewers, rules.Schedule = r.Unattended, nil, 0, scheduleRules(r.Settings, when)
	rules.HeldOut = len(r.heldOut)
	about := r.about()
	if !stories {
		about = about[:len(r.Settings.Candidates())] // there is nothing to review
	}
	if len(about) > 1 {
		rules.Agents, rules.Reviewers = about, len(about)-len(r.Settings.Candidates())
	}
	return rules, nil
}

// sweep ends the processes that a dead runner left.
func (r *runner) sweep(ctx context.Context, id string) (int, error) {
	if id == "" {
		return 0, nil
	}
	swept := 0
	for _, mark := range process.LoopMarks(r.Home, id) {
		strays, err := process.Sweep(ctx, mark, sweepGrace)
		if err != nil {
			return 0, fmt.Errorf("end the processes of the last runner: %w", err)
		}
		swept += len(strays)
	}
	return swept, nil
}

// projections returns the writer of state.json and iterations. If it fails, the loop continues.
func (r *runner) projections() *loopstate.Writer {
	return loopstate.NewWriter(r.Dir, func(err error) {
		// While the loop has nothing to sync, this is the first to notice that the folder is gone.
		if _, gone := os.Lstat(r.Dir); errors.Is(gone, fs.ErrNotExist) {
			r.reportFault("projections", &executor.VanishedError{Err: err})
		}
	})
}

func (r *runner) assemble(state loopstate.State, iteration int) {
	deliver := func(drafts []event.Draft, release func()) {
		r.inputs <- loop.Input{Drafts: drafts, Release: release}
	}
	cfg := executor.Config{
		Deliver: deliver, Agent: r.agent, Commands: r.receiveCommands,
		Blob: r.writer.PutBlob, ReadBlob: r.readBlob, ReadFile: r.readFile,
		Dir: r.Dir, Home: r.Home, Project: r.Tree, Settings: r.Project, WorkDir: r.WorkDir, AgentDir: r.sandbox.LoopDir(), Env: r.ownEnvironment(),
		Guardrails: Guards(r.Settings), TruncateChars: r.Settings.OutputTruncateChars, SCM: r.Settings.SCM, Worktree: r.Settings.Worktree, Secrets: r.redactor,
		ID: r.id, Snapshots: r.Settings.Snapshots.Keep, Shared: r.Settings.AllowSharedWorktree, Settle: r.settle, Observe: r.observer.observe,
		CountInPrompt: r.Settings.IncludeIterationCountInPrompt, Memory: r.explainsMemory, Ralph: r.ralphFor,
		Wrap: r.wrapGuardrail(), Box: r.guardrailBox, Scratch: r.scratchTree,
	}
	if len(r.heldOut) > 0 {
		cfg.HoldOut = r.holdOut
	}
	r.executor = executor.New(cfg)
	engine := &loop.Engine{Journal: r.writer, Executor: r.executor, Folded: r.folded, Segment: iteration}
	engine.Restore(state)
	r.driver = &loop.Driver{Engine: engine, Inputs: r.inputs, Now: r.clock, Flush: r.flush}
}

// begin records that the loop started or was resumed. The record becomes durable with the first
// decision that has to be: before it, nothing is done that cannot be repeated.
func (r *runner) begin(state *loopstate.State, rules event.Rules, resumed event.LoopResumed) error {
	var first event.Payload = resumed
	moved, err := r.moved(state)
	if err != nil {
		return err
	}
	if !state.Begun() {
		task, err := r.source()
		if err != nil {
			return err
		}
		first = event.LoopStarted{
			Name: r.Name, ID: r.id, Dir: r.Dir, Project: r.WorkDir, Host: resumed.Host, PID: resumed.PID,
			Version: r.Version, Agent: *resumed.Agent, Rules: rules, Task: task, Settings: r.settingsEvent(), TraceParent: r.traceParent, When: r.When,
		}
	} else if err := r.freeze(); err != nil {
		// The last step that can fail: the old settings show which ones a person has changed, also
		// for the next attempt to resume.
		return err
	}
	events, err := r.writer.Append(append(moved, event.Encode(first, "loop")))
	if err != nil {
		return err
	}
	return r.driver.Engine.Fold(events)
}

// resuming is the record of a resume.
func (r *runner) resuming(state *loopstate.State, rec journal.Recovery, rules event.Rules, swept int) event.LoopResumed {
	about := r.about()[0]
	host, _ := os.Hostname()
	resumed := event.LoopResumed{
		Host: host, PID: os.Getpid(), Version: r.Version,
		Died: state.Lifecycle.Ended == nil, Lost: rec.Lost, Swept: swept, Rules: &rules, Agent: &about,
		AcceptedChanges: r.AcceptChanges, Settings: r.settingsEvent(),
	}
	before := &state.Lifecycle
	if file := r.promptFile(state); file != before.Task.File {
		resumed.Task = &event.Source{File: file}
	}
	if r.Dir != before.Dir {
		resumed.Dir = r.Dir
	}
	if r.WorkDir != before.Project {
		resumed.Project = r.WorkDir
	}
	return resumed
}

func (r *runner) source() (event.Source, error) {
	if r.PromptFile != "" {
		return event.Source{File: r.PromptFile}, nil
	}
	blob, err := r.writer.PutBlob([]byte(r.Prompt))
	return event.Source{Text: &blob}, err
}
