package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config connects an executor to its loop, its files and its agents.
type Config struct {
	// Deliver passes outcomes, in order, to the loop. It may block.
	Deliver func(drafts []event.Draft, release func())
	// Agent returns the configuration of a new session with the agent at that place of the loop's
	// list; Deliver is filled in.
	Agent func(place int, p agent.Prompt) (agent.Config, error)
	// Blob stores and reads texts that are too long for a line.
	Blob     func(text []byte) (event.Blob, error)
	ReadBlob func(event.BlobRef) ([]byte, error)
	// ReadFile reads the file that a prompt comes from: a path as the user gave it.
	ReadFile func(name string) ([]byte, error)

	// Commands returns when every command that is in the inbox now is recorded, or ctx is done; nil
	// if there is no inbox.
	Commands func(ctx context.Context)

	Dir     string // the loop's folder
	Home    string // ralph's own; "" if it is not known
	Project string // the project's folder, in a worktree of the loop or of the person: guardrails run there
	WorkDir string // where the agent works; "" for the project's folder
	// AgentDir is the loop's folder as the agent has it; "" for Dir.
	AgentDir string
	// Settings is the folder that holds .ralph with the settings; "" for Project.
	Settings string
	Env      []string // of guardrails and of version control
	// Guardrails have to pass after an iteration. The agent sees TruncateChars of a failure.
	Guardrails    []guardrail.Guardrail
	TruncateChars int
	// Wrap runs the guardrails in a sandbox; nil runs them as they are.
	Wrap process.Wrap
	// Box runs them in a sandbox while they are tried in a throw-away tree; nil as they are.
	Box func(context.Context, *scratch.Tree) (process.Wrap, func() error, error)
	// Scratch opens a throw-away work tree of a commit, in which the guardrails can run.
	Scratch func(ctx context.Context, commit string) (*ScratchTree, error)
	// HoldOut runs the held-out guardrails on the work as it is, and calls ended with the result of
	// each; nil without such guardrails.
	HoldOut  func(ctx context.Context, iteration int, ended func(event.HoldoutEnded)) event.HoldoutChecked
	SCM      config.SCM
	Worktree config.Worktree // what a fresh work tree needs
	// Secrets redacts the logs of guardrails and commit messages; nil redacts nothing.
	Secrets *redact.Redactor

	// ID is that of the loop. Snapshots is how many work trees are kept besides the first; 0 keeps
	// none.
	ID        string
	Snapshots int

	// Settle returns, after the agent has ended, when the files are as it wrote them, and git's as
	// they have to be. It returns what ralph put right for that. It may be nil.
	Settle func(context.Context) []string

	// Observe looks at what the next iteration may have to wait for, with what the start named.
	Observe func(when *event.When, deliver func(event.ScheduleObserved))

	// Shared says that other loops may work in the work tree: a review's changes are not undone.
	Shared bool

	CountInPrompt bool // the prompt says which iteration this is
	// Memory reports whether the prompt of the agent at that place explains task.md and how to
	// declare the work done. It must not for an agent whose prompt is not prose, such as a shell.
	// nil means for no agent.
	Memory func(place int) bool
	// Ralph returns what the agent at that place types for ralph; "" for its name. It may be nil.
	Ralph func(place int) string
}

// ScratchTree is a throw-away work tree.
type ScratchTree struct {
	Dir   string // the project's folder in it
	Logs  string // a folder beside it
	Env   []string
	Wrap  process.Wrap // as Config.Wrap
	Close func() error // removes it
}

func (c Config) memory(place int) bool { return c.Memory != nil && c.Memory(place) }

// Executor performs decided effects. One goroutine calls Do.
type Executor struct {
	cfg    Config
	jobs   chan func()
	worker sync.WaitGroup
	killed atomic.Bool // agent.kill was requested: it also ends the agent that is being started

	closed atomic.Bool

	// Used by the worker only.
	snapshot *guardrail.FileSnapshot        // the guardrails' files before the last agent ran
	edited   []guardrail.Change             // changes that the check found and did not undo
	heads    map[string]headAt              // HEAD of each repository when the iteration began
	ends     map[string]event.RepoInspected // each repository at the last check
	results  guardResults                   // for pull requests
	before   []byte                         // tasks.json before the last agent ran; nil after a restart
	prd      []byte                         // prd.md, likewise
	judged   []byte                         // tasks.json as it was judged last; nil if it was not in this check
	base     *reviewed                      // the work tree before a review; nil if it needs no undoing
	unkept   string                         // why it could not be kept, as it was reported last
	searched bool                           // for what an earlier runner kept
	treeless string                         // why the work tree before an iteration is not kept, as it was reported last

	mu      sync.Mutex
	session *agent.Session
	place   int                // of the session's agent
	cancel  context.CancelFunc // of the check or the tasks that run
}

// maxJobs is how many effects may be queued: far more than there can be steers at once, since each
// waits for its answer.
const maxJobs = 1024

// New returns an executor without an agent and starts its worker, which Close ends.
func New(cfg Config) *Executor {
	x := &Executor{cfg: cfg, jobs: make(chan func(), maxJobs), heads: map[string]headAt{}, ends: map[string]event.RepoInspected{},
		results: guardResults{commits: map[string]string{}}}
	x.worker.Go(func() {
		for job := range x.jobs {
			job()
		}
	})
	return x
}

// Do starts an effect. The package's table says how it is answered.
func (x *Executor) Do(d event.Decided, cause event.Seq, s *loopstate.State) {
	switch d.Do {
	case event.DoBegin:
		p := planPrompt(d, s)
		x.enqueue(d, cause, func(ctx context.Context) error { return x.begin(ctx, p, cause) })
	case event.DoCheck:
		last := checkPlan{
			files: s.FileChanges, stories: s.Stories, spans: s.ToolSpans, rules: s.Rules, votes: s.Votes, voters: s.Failover.Voters(s.Rules),
			changes: s.Changes.Clone(),
		}
		x.enqueue(d, cause, func(ctx context.Context) error { return x.check(ctx, d, last, cause) })
	case event.DoHoldout:
		x.enqueue(d, cause, func(ctx context.Context) error { return x.holdOut(ctx, d, cause) })
	case event.DoCommit:
		p := commitPlan{d, s.Rules.Limits.Diff, s.Lifecycle.PullRequest}
		x.enqueue(d, cause, func(ctx context.Context) error { x.commit(ctx, p, cause); return nil })
	case event.DoProve:
		p := planProof(s)
		x.enqueue(d, cause, func(ctx context.Context) error { x.prove(ctx, d, p, cause); return nil })
	case event.DoCancel:
		x.cancelCheck()
	case event.DoStart:
		// The process of an earlier kill has exited, else this would not have been decided.
		x.killed.Store(false)
		prompt := s.Lifecycle.Prompt
		x.jobs <- func() { x.fail(d, cause, x.start(d, prompt, cause)) }
	case event.DoSteer:
		text := messageText(s, d.Command)
		x.jobs <- func() {
			err := errors.New("the agent is gone")
			x.withSession(func(a *agent.Session) { err = a.Steer(d.Command, text, cause) })
			x.fail(d, cause, err)
		}
	case event.DoRelease:
		x.jobs <- func() { x.withSession(func(a *agent.Session) { a.Release(d.Same, cause) }) }
	case event.DoAbort:
		x.jobs <- func() { x.withSession(func(a *agent.Session) { a.Abort(cause) }) }
	case event.DoKill:
		x.killed.Store(true)
		x.withSession(func(a *agent.Session) { a.Kill() })
	case event.DoObserve:
		when := s.When
		x.jobs <- func() {
			x.cfg.Observe(when, func(seen event.ScheduleObserved) { x.deliver(seen, d.Iteration, cause) })
		}
	default:
		x.fail(d, cause, errors.New("this version of ralph has no such effect"))
	}
}

// Close kills the agent and waits until it and the worker have ended. Deliver must still accept
// drafts.
func (x *Executor) Close() {
	x.killed.Store(true)
	x.closed.Store(true)
	x.cancelCheck()
	x.withSession(func(a *agent.Session) { a.Kill() })
	close(x.jobs)
	x.worker.Wait()
	x.withSession(func(a *agent.Session) { <-a.Done() })
}

// withSession calls do with the agent's session, if there is one.
func (x *Executor) withSession(do func(*agent.Session)) {
	x.mu.Lock()
	session := x.session
	x.mu.Unlock()
	if session != nil {
		do(session)
	}
}

// enqueue adds an effect to the queue. check.cancel ends its context, also while it is queued.
func (x *Executor) enqueue(d event.Decided, cause event.Seq, do func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	x.mu.Lock()
	x.cancel = cancel
	x.mu.Unlock()
	if x.closed.Load() {
		cancel()
	}
	x.jobs <- func() {
		defer cancel()
		x.fail(d, cause, do(ctx))
	}
}

func (x *Executor) cancelCheck() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cancel != nil {
		x.cancel()
	}
}

func (x *Executor) start(d event.Decided, prompt event.Blob, cause event.Seq) error {
	text, err := x.fullText(prompt)
	if err != nil {
		return err
	}
	p := agent.Prompt{Text: text, Iteration: d.Iteration}
	if x.reuse(p, d, cause) {
		return nil
	}
	cfg, err := x.cfg.Agent(d.Agent, p)
	if err != nil {
		return err
	}
	cfg.Deliver, cfg.Blob = x.cfg.Deliver, x.cfg.Blob
	session, err := agent.Start(cfg)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.session, x.place = session, d.Agent
	x.mu.Unlock()
	session.Begin(p, false, cause)
	if x.killed.Load() {
		session.Kill()
	}
	return nil
}

// reuse gives the prompt to the parked process, if it is of that agent and either continues its
// context or can start a fresh one. Otherwise it ends that process before another is started.
func (x *Executor) reuse(p agent.Prompt, d event.Decided, cause event.Seq) bool {
	x.mu.Lock()
	session, place := x.session, x.place
	x.mu.Unlock()
	if session == nil {
		return false
	}
	if place == d.Agent && (d.Same || session.Refresh()) {
		session.Begin(p, true, cause)
		return true
	}
	session.Abort(cause)
	return false
}

func (x *Executor) fullText(b event.Blob) (string, error) {
	if b.SHA256 == "" {
		return b.Text, nil
	}
	text, err := x.cfg.ReadBlob(b.SHA256)
	return string(text), err
}

func (x *Executor) deliver(p event.Payload, iteration int, cause event.Seq) {
	x.cfg.Deliver([]event.Draft{draft(p, iteration, cause)}, func() {})
}

// draft returns an event that reports what an effect came to.
func draft(p event.Payload, iteration int, cause event.Seq) event.Draft {
	d := event.Encode(p, "loop")
	d.Cause, d.Iter = cause, iteration
	return d
}

// fail reports that an effect failed, if err is not nil.
func (x *Executor) fail(d event.Decided, cause event.Seq, err error) {
	if err == nil {
		return
	}
	if _, gone := os.Lstat(x.cfg.Dir); errors.Is(gone, fs.ErrNotExist) {
		err = &VanishedError{Err: err}
	} else if _, gone := os.Lstat(x.cfg.Project); errors.Is(gone, fs.ErrNotExist) {
		err = &VanishedError{Part: "the folder " + x.cfg.Project + ", in which the agent works,", Err: err}
	}
	failed := Failure(d.Do, err)
	failed.Command = d.Command
	x.deliver(failed, 0, cause)
}

// Failure returns what the journal says of an effect that failed.
func Failure(do event.Effect, err error) event.EffectFailed {
	class := Classify(err)
	return event.EffectFailed{Do: do, Error: err.Error(), Class: class, Hint: hint(do, class, err)}
}

// VanishedError reports that the loop's folder, or a part that the loop needs, was removed.
type VanishedError struct {
	Part string // such as "the inbox"; empty for the folder itself
	Err  error
}

func (e *VanishedError) Error() string {
	return cmp.Or(e.Part, "the loop's folder") + " vanished: " + e.Err.Error()
}
func (e *VanishedError) Unwrap() error { return e.Err }

// Hint returns the next step.
func (e *VanishedError) Hint() string { return "put the folder back, then resume the loop" }

// Classify returns the class of an error, on which decisions depend.
func Classify(err error) event.Class {
	if _, ok := errors.AsType[*VanishedError](err); ok {
		return event.ClassDisk
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EDQUOT),
		errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EIO):
		return event.ClassDisk
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return event.ClassMissing
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return event.ClassPermission
	}
	if _, ok := errors.AsType[*promptError](err); ok {
		return event.ClassConfig
	}
	return event.ClassTransient
}

// install is the next step where the agent's program is missing: it may be misspelled.
func install(err error) string {
	const step = "install the agent, or choose another with --agent; 'ralph doctor' shows what is found"
	missing, ok := errors.AsType[*exec.Error](err)
	if !ok {
		return step
	}
	var programs []string
	for _, known := range config.KnownAgents() {
		programs = append(programs, known.Program)
	}
	if near := config.Nearest(missing.Name, programs); near != "" && near != missing.Name {
		return fmt.Sprintf("did you mean %s? else %s", near, step)
	}
	return step
}

// hint returns the next step for a person: the error's own, if it has one.
func hint(do event.Effect, class event.Class, err error) string {
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return hinted.Hint()
	}
	_, aboutFile := errors.AsType[*fs.PathError](err)
	_, aboutPrompt := errors.AsType[*promptError](err)
	switch {
	case do == event.DoStart && errors.Is(err, exec.ErrNotFound):
		return install(err)
	// a *fs.PathError is about the working folder
	case do == event.DoStart && class == event.ClassPermission && !aboutFile:
		return "make the agent's program executable"
	case do == event.DoBegin && aboutPrompt && (class == event.ClassMissing || class == event.ClassConfig):
		return "write the prompt file, or start with -p"
	}
	return ""
}
