package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config is what a Session needs.
type Config struct {
	Name     string // of the agent, for "by": agent:<Name>
	Dialect  Dialect
	Spec     Spec
	Env      []string // the complete environment before the dialect's own additions
	Own      []string // what the settings put into it, which wins over the dialect's additions
	Mark     string   // finds the process tree again after a crash: see process.Sweep
	Patience Patience // zero means DefaultPatience
	KeepRaw  bool     // keep the agent's own lines beside the facts
	Quiet    bool     // Command.Notice was reported before
	// Blob stores a text that is too long for a line. It may be called at any time
	// from the goroutine that reads the agent.
	Blob func(text []byte) (event.Blob, error)
	// Linger is how long processes that the agent leaves may run; see process.Spec. nil gives no
	// time.
	Linger func() time.Duration
	// Now returns the time in the machine's zone, for agents that state a time of day. It may be
	// nil.
	Now func() time.Time
	// Secrets masks texts that come in pieces, before these become events that are masked one by
	// one. nil masks nothing.
	Secrets *redact.Redactor
	// Wrap, if not nil, returns the command that runs another one in a sandbox, and its
	// environment.
	Wrap func(argv, env []string) (wrapped, environment []string, err error)
	// Hides says what that sandbox hides. It follows the last words of a process that found no
	// program.
	Hides string
	// Deliver takes drafts in order; release is to be called when their memory may
	// be used again. It may block, which holds the agent back.
	Deliver func(drafts []event.Draft, release func())
}

// Session is one agent's process and its conversation. Begin, Steer, Release and
// Abort are called by one goroutine at a time; Kill and Done at any time.
type Session struct {
	cfg     Config
	by      string
	proc    *process.Process
	command Command

	opened    chan struct{} // closed once the dialect has its first prompt
	named     chan struct{} // closed once the conversation's id is known, or will not be
	name      sync.Once
	announced chan struct{} // closed once the first agent.started is delivered
	announce  func()        // delivers it, once; made by the first Begin
	early     []*batch      // what came before it; guarded by order
	order     sync.Mutex    // orders deliveries before and after it
	gone      chan struct{} // closed once agent.exited is delivered

	mu       sync.Mutex // guards the dialect and what follows
	decoded  Decoded
	redactor streamRedactor
	complete []byte        // a line of text with its newline
	stderr   tail          // of standard error
	reported time.Time     // when a line last came to something
	finished chan struct{} // closed when the running turn is over; nil while none runs
	// receives whether a reset was confirmed; nil while none is asked for
	reset    chan bool
	endCause event.Seq            // the decision that ends the process
	steers   map[string]event.Seq // the decisions that put commands into the running turn
	queued   [][]byte             // lines for the agent's stdin
}

// Start starts the process. The agent has no prompt yet. The error says which program or
// folder it is about, and satisfies errors.Is as process.Start's does.
func Start(cfg Config) (*Session, error) {
	if cfg.Patience == (Patience{}) {
		cfg.Patience = DefaultPatience
	}
	cfg.Patience.Reset = cmp.Or(cfg.Patience.Reset, DefaultPatience.Reset)
	cfg.Patience.Start = cmp.Or(cfg.Patience.Start, DefaultPatience.Start)
	cfg.Spec.Session = cmp.Or(cfg.Spec.Session, newSessionID())
	command, err := cfg.Dialect.Command(cfg.Spec)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, by: "agent:" + cfg.Name, command: command,
		redactor: streamRedactor{secrets: cfg.Secrets},
		opened:   make(chan struct{}), named: make(chan struct{}), announced: make(chan struct{}), gone: make(chan struct{}),
	}
	spec := process.Spec{
		Argv: command.Argv, Dir: cfg.Spec.Dir, Mark: cfg.Mark,
		Env:       process.Environment(cfg.Env, command.Drop, slices.Concat(command.Env, cfg.Own)),
		KeepStdin: true, Raw: command.Text, Output: s.output, Linger: s.linger,
	}
	if cfg.Wrap != nil {
		if spec.Argv, spec.Env, err = cfg.Wrap(spec.Argv, spec.Env); err != nil {
			return nil, err
		}
	}
	if command.ParentDeath {
		spec.ParentDeath = syscall.SIGTERM
	}
	if s.proc, err = process.Start(spec); err != nil {
		return nil, err
	}
	go s.reap()
	return s, nil
}

// PID returns the process's id.
func (s *Session) PID() int { return s.proc.PID() }

// Done is closed when the process is gone and agent.exited is delivered.
func (s *Session) Done() <-chan struct{} { return s.gone }

// Begin gives the agent its prompt and delivers agent.started. reused says that the
// process served an earlier iteration.
func (s *Session) Begin(p Prompt, reused bool, cause event.Seq) {
	s.mu.Lock()
	s.finished, s.steers = make(chan struct{}), map[string]event.Seq{}
	s.queue(s.cfg.Dialect.Open(p))
	s.mu.Unlock()
	if reused {
		s.started(true, cause)
	} else {
		s.introduce(cause)
	}
	// One that cannot be written to is about to exit, which agent.exited reports.
	_ = s.send()
	if s.command.CloseStdin {
		s.proc.CloseStdin()
	}
}

// Refresh asks the process for a fresh context and reports whether it has one. If not, the process
// has to be replaced.
func (s *Session) Refresh() bool {
	s.mu.Lock()
	lines, same := s.cfg.Dialect.Reset()
	if !same {
		s.mu.Unlock()
		return false
	}
	answer := make(chan bool, 1)
	s.reset = answer
	s.queue(lines)
	s.mu.Unlock()
	_ = s.send() // its exit ends the wait below
	return await(s, answer, s.cfg.Patience.Reset)
}

// Steer puts text into the running turn. It returns an error if that cannot be done now: the text
// then goes into the next prompt.
func (s *Session) Steer(id, text string, cause event.Seq) error {
	s.mu.Lock()
	lines, live := s.cfg.Dialect.Steer(id, text)
	if live {
		s.steers[id] = cause
		s.queue(lines)
	}
	s.mu.Unlock()
	if !live {
		return errors.New("the agent takes nothing into a running turn now")
	}
	return s.send()
}

// Release parks the process for another iteration. One that cannot be used again is asked to end,
// and Release waits for that as long as it takes; Kill ends the wait. same says that the next
// prompt continues the same context.
func (s *Session) Release(same bool, cause event.Seq) {
	able := s.cfg.Dialect.Abilities()
	reusable := able.Reset || same && able.Same
	if reusable && s.park(cause) {
		return
	}
	s.leave(cause)
	<-s.gone
}

// linger reports the wait for processes that the agent left, so that the silence is not the
// agent's.
func (s *Session) linger() time.Duration {
	if s.cfg.Linger == nil {
		return 0
	}
	patience := s.cfg.Linger()
	if patience > 0 {
		<-s.announced
		s.deliver(0, event.AgentNoticed{What: event.NoticeLingering, Text: "what the agent left running may go on for " + patience.String()})
	}
	return patience
}

// park ends what the turn left running, and keeps the process.
func (s *Session) park(cause event.Seq) bool {
	select {
	case <-s.gone:
		return true
	default:
	}
	strays, err := s.proc.EndOthers(context.Background(), s.cfg.Patience.Term)
	if err != nil {
		return false
	}
	s.deliver(cause, event.AgentParked{Strays: len(strays), Ended: commandLines(strays)})
	return true
}

// leave asks the process to end by itself.
func (s *Session) leave(cause event.Seq) {
	s.mu.Lock()
	s.queue(s.cfg.Dialect.Stop())
	s.endCause = cause
	s.mu.Unlock()
	// a process that is gone cannot be written to
	_ = s.send()
	s.proc.CloseStdin()
}

// Abort ends the running turn and then the process: the protocol's own way first,
// then the end of its input, then TERM, then KILL. It returns when agent.exited
// is delivered.
func (s *Session) Abort(cause event.Seq) {
	if s.announce != nil {
		s.announce()
	}
	s.mu.Lock()
	finished := s.finished
	var lines [][]byte
	if finished != nil {
		lines = s.cfg.Dialect.Abort()
		s.queue(lines)
	}
	s.mu.Unlock()
	if len(lines) > 0 && s.send() == nil {
		await(s, finished, s.cfg.Patience.Abort)
	}
	s.leave(cause)
	if finished == nil || len(lines) > 0 || s.cfg.Dialect.Abilities().Live {
		await[bool](s, nil, s.cfg.Patience.Stop)
	}
	// It also waits for an agent that is stuck in the kernel.
	_ = s.proc.Terminate(context.Background(), s.cfg.Patience.Term)
	<-s.gone
}

// await waits for a value, for the end of the process, or for the time, and returns the value.
func await[T any](s *Session, c <-chan T, patience time.Duration) (value T) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case value = <-c:
	case <-s.gone:
	case <-timeout.C:
	}
	return value
}

// Kill ends the process and all it started at once, and returns without waiting.
func (s *Session) Kill() { s.proc.Kill() }

// reap waits for the process and delivers its end.
func (s *Session) reap() {
	exit := s.proc.Wait()
	s.name.Do(func() { close(s.named) })
	// agent.started comes first, even if the process ended before its prompt
	<-s.announced
	s.mu.Lock()
	cause := s.endCause
	s.redactor.flush(func(fact event.Payload) { s.deliver(0, fact) })
	if d, ok := s.cfg.Dialect.(Ender); ok {
		s.decoded.Reset()
		d.End(exit.Code, &s.decoded)
		for _, fact := range s.decoded.Facts {
			s.deliver(0, fact)
		}
	}
	stderr := s.stderr.end()
	s.mu.Unlock()
	if s.cfg.Hides != "" && (exit.Code == 126 || exit.Code == 127) { // a shell's codes for that
		stderr = strings.TrimRight(stderr, "\n") + "\n" + s.cfg.Hides
	}
	s.deliver(cause, event.AgentExited{
		Code: exit.Code, Signal: exit.Signal, Took: exit.Took.Milliseconds(),
		Strays: len(exit.Strays), Stderr: stderr, Ended: commandLines(exit.Strays),
	})
	close(s.gone)
}

// endedMost is how many of the ended processes are named.
const endedMost = 8

// commandLines names the first of the ended processes.
func commandLines(strays []process.Stray) []string {
	var lines []string
	for _, stray := range strays[:min(len(strays), endedMost)] {
		lines = append(lines, strings.ToValidUTF8(stray.Command, "\uFFFD"))
	}
	return lines
}

func (s *Session) deliver(cause event.Seq, p event.Payload) {
	d := event.Encode(p, s.by)
	d.Cause = cause
	s.cfg.Deliver([]event.Draft{d}, func() {})
}

// queue takes lines for the agent in the order in which the dialect returns them, and send writes
// them in that order: a steer before the prompt would be lost. s.mu is held.
func (s *Session) queue(lines [][]byte) { s.queued = append(s.queued, lines...) }

// send writes what is queued. It does not block: the process has a queue of its own.
func (s *Session) send() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.queued
	s.queued = nil
	for _, line := range lines {
		if err := s.proc.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return fmt.Errorf("write to the agent: %w", err)
		}
	}
	return nil
}
