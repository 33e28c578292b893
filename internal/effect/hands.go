package effect

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Config is what the hands need of the world.
type Config struct {
	// Deliver takes what happened, in order, to the loop. It may block.
	Deliver func(drafts []event.Draft, release func())
	// Agent returns the configuration of a new session with the agent at that place of the loop's
	// list; Deliver is filled in.
	Agent func(place int, p agent.Prompt) (agent.Config, error)
	// Blob stores and reads texts that are too long for a line.
	Blob     func(text []byte) (event.Blob, error)
	ReadBlob func(sha256 string) ([]byte, error)
	// ReadFile reads the file that a prompt comes from: a path as the user gave it.
	ReadFile func(name string) ([]byte, error)

	// Mail returns when every command that was dropped into the inbox before is told, or ctx
	// is done; nil where there is no inbox.
	Mail func(ctx context.Context)

	Dir     string   // the loop's folder
	Project string   // the folder that holds .ralph: guardrails run there
	WorkDir string   // where the agent works; "" for the project's folder
	Env     []string // of guardrails and of version control
	// What has to pass after an iteration, and how much of a failure the agent is shown.
	Guardrails    []guardrail.Guardrail
	TruncateChars int
	SCM           SCM
	Words         Words
	// Secrets hides them in what is written beside the journal: guardrails' logs, commit messages. nil hides nothing.
	Secrets *secret.Masker
}

// Words say what ralph adds to a person's prompt.
type Words struct {
	Count bool // which iteration this is
	// Memory says which agents, by their places, are told of task.md and of how to say that the work is
	// done. One that reads its prompt as anything but prose, such as a shell, must not be told. nil tells
	// nobody.
	Memory func(place int) bool
}

func (w Words) memory(place int) bool { return w.Memory != nil && w.Memory(place) }

// Hands do what decisions ask for. Do is called by one goroutine.
type Hands struct {
	cfg    Config
	jobs   chan func()
	worker sync.WaitGroup
	killed atomic.Bool // agent.kill was asked for: the agent that is being started goes as well

	closed atomic.Bool

	// Of the worker alone.
	sealed *guardrail.Seal    // what the guardrails consisted of when an agent was let at it last
	found  []guardrail.Change // what the check found changed and left so
	heads  map[string]string  // where the repositories stood when the iteration began

	mu      sync.Mutex
	session *agent.Session
	place   int                // whose session it is
	cancel  context.CancelFunc // of the check or the tasks that run
}

// jobsMost is how many effects may wait for the hand on the agent: far more than
// steers can be on their way at once, since each waits for its answer.
const jobsMost = 1024

// New returns hands with nothing in them.
func New(cfg Config) *Hands {
	h := &Hands{cfg: cfg, jobs: make(chan func(), jobsMost), heads: map[string]string{}}
	h.worker.Go(func() {
		for job := range h.jobs {
			job()
		}
	})
	return h
}

// Do starts an effect. See the package's table for how it is answered.
func (h *Hands) Do(d event.Decided, cause uint64, s *projector.State) {
	switch d.Do {
	case event.DoBegin:
		p := plan(d, s)
		h.run(func(ctx context.Context) { h.begin(ctx, p, cause) })
	case event.DoCheck:
		sealed := s.Seal
		h.run(func(ctx context.Context) { h.check(ctx, d, sealed, cause) })
	case event.DoCommit:
		h.run(func(ctx context.Context) { h.commit(ctx, d, cause) })
	case event.DoCancel:
		h.cancelCheck()
	case event.DoStart:
		// What was killed before is gone, or this would not have been decided.
		h.killed.Store(false)
		prompt := s.Life.Prompt
		h.jobs <- func() { h.start(d, prompt, cause) }
	case event.DoSteer:
		text := textOf(s, d.Command)
		h.jobs <- func() { h.steer(d, text, cause) }
	case event.DoRelease:
		h.jobs <- func() { h.with(func(a *agent.Session) { a.Release(d.Same, cause) }) }
	case event.DoAbort:
		h.jobs <- func() { h.with(func(a *agent.Session) { a.Abort(cause) }) }
	case event.DoKill:
		h.killed.Store(true)
		h.with(func(a *agent.Session) { a.Kill() })
	default:
		h.fail(d, cause, errors.New("this ralph has no hand for it"))
	}
}

// Close kills an agent that is still there and waits for the hands to be empty.
// Deliver must still be taking drafts.
func (h *Hands) Close() {
	h.killed.Store(true)
	h.closed.Store(true)
	h.cancelCheck()
	h.with(func(a *agent.Session) { a.Kill() })
	close(h.jobs)
	h.worker.Wait()
	h.with(func(a *agent.Session) { <-a.Done() })
}

// with does something with the agent, if there is one.
func (h *Hands) with(do func(*agent.Session)) {
	h.mu.Lock()
	session := h.session
	h.mu.Unlock()
	if session != nil {
		do(session)
	}
}

func (h *Hands) start(d event.Decided, prompt event.Blob, cause uint64) {
	text, err := h.whole(prompt)
	if err != nil {
		h.fail(d, cause, err)
		return
	}
	p := agent.Prompt{Text: text, Iteration: d.Iteration}
	if h.reuse(p, d, cause) {
		return
	}
	cfg, err := h.cfg.Agent(d.Agent, p)
	if err != nil {
		h.fail(d, cause, err)
		return
	}
	cfg.Deliver, cfg.Blob = h.cfg.Deliver, h.cfg.Blob
	session, err := agent.Start(cfg)
	if err != nil {
		h.fail(d, cause, err)
		return
	}
	h.mu.Lock()
	h.session, h.place = session, d.Agent
	h.mu.Unlock()
	session.Begin(p, false, cause)
	if h.killed.Load() {
		session.Kill()
	}
}

// reuse gives the prompt to a process that rests, if there is one of that agent and it can be
// given a fresh context, or is to go on in its old one. One that cannot is ended before another
// is started.
func (h *Hands) reuse(p agent.Prompt, d event.Decided, cause uint64) bool {
	h.mu.Lock()
	session, place := h.session, h.place
	h.mu.Unlock()
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

func (h *Hands) steer(d event.Decided, text string, cause uint64) {
	err := errors.New("the agent is gone")
	h.with(func(a *agent.Session) { err = a.Steer(d.Command, text, cause) })
	if err != nil {
		h.fail(d, cause, err)
	}
}

// whole returns a prompt's full text.
func (h *Hands) whole(b event.Blob) (string, error) {
	if b.SHA256 == "" {
		return b.Text, nil
	}
	text, err := h.cfg.ReadBlob(b.SHA256)
	return string(text), err
}

func (h *Hands) deliver(p event.Payload, iteration int, cause uint64) {
	d := event.Encode(p, "loop")
	d.Cause, d.Iter = cause, iteration
	h.cfg.Deliver([]event.Draft{d}, func() {})
}

func (h *Hands) fail(d event.Decided, cause uint64, err error) {
	if _, gone := os.Lstat(h.cfg.Dir); errors.Is(gone, fs.ErrNotExist) {
		err = &VanishedError{Err: err}
	}
	class := Classify(err)
	h.deliver(event.EffectFailed{
		Do: d.Do, Command: d.Command, Error: err.Error(), Class: class, Hint: hint(d.Do, class, err),
	}, 0, cause)
}

// VanishedError says that somebody took away the loop's folder, or something in it without which the loop
// cannot go on.
type VanishedError struct {
	Part string // such as "the inbox"; empty where it is the whole folder
	Err  error
}

func (e *VanishedError) Error() string {
	return cmp.Or(e.Part, "the loop's folder") + " vanished: " + e.Err.Error()
}
func (e *VanishedError) Unwrap() error { return e.Err }

// Hint returns the next step.
func (e *VanishedError) Hint() string { return "put the folder back, then resume the loop" }

// Classify says what kind of error a decision has to do with.
func Classify(err error) string {
	if _, ok := errors.AsType[*VanishedError](err); ok {
		return event.ClassDisk
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EIO):
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

// hint is the next step for a person: the error's own, where it knows one.
func hint(do, class string, err error) string {
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
		return "install the agent or set agent.command; 'ralph doctor' shows what is found"
	case do == event.DoStart && class == event.ClassPermission && !aboutFile: // a *fs.PathError is about the working folder
		return "make the agent's program executable"
	case do == event.DoBegin && aboutPrompt && (class == event.ClassMissing || class == event.ClassConfig):
		return "write the prompt file, or start with -p"
	}
	return ""
}
