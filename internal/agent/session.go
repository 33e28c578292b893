package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config is what a Session needs.
type Config struct {
	Name     string // of the agent, for "by": agent:<Name>
	Dialect  Dialect
	Spec     Spec
	Env      []string // the whole environment before the dialect's own additions
	Own      []string // what the settings put into it, which wins over those
	Mark     string   // finds the process tree again after a crash: see process.Sweep
	Patience Patience // zero means DefaultPatience
	KeepRaw  bool     // keep the agent's own lines beside the facts
	Quiet    bool     // what Command.Notice says was told before
	// Blob stores a text that is too long for a line. It may be called at any time
	// from the goroutine that reads the agent.
	Blob func(text []byte) (event.Blob, error)
	// Linger is how long what the agent left running may go on; see process.Spec. nil gives no time.
	Linger func() time.Duration
	// Now says when a line is read, in the machine's zone: some agents state a time of day. nil states none.
	Now func() time.Time
	// Secrets masks texts that come in pieces, before these become events that are masked one by one. nil
	// hides nothing.
	Secrets *secret.Masker
	// Deliver takes drafts in order; release is to be called when their memory may
	// be used again. It may block, which holds the agent back.
	Deliver func(drafts []event.Draft, release func())
}

// Session is one agent's process and its conversation. Begin, Steer, Release and
// Abort are called by one goroutine at a time; Kill and Done at any time.
type Session struct {
	cfg        Config
	by         string
	proc       *process.Process
	argv       []string
	closeStdin bool // stdin ends with the prompt
	text       bool // output is free text
	notice     string

	opened    chan struct{} // closed once the dialect was given its first prompt
	named     chan struct{} // closed once the conversation's id is known, or will not be
	name      sync.Once
	announced chan struct{} // closed once the first agent.started is delivered
	announce  func()        // delivers it, once; made by the first Begin
	early     []*batch      // what was told before; guarded by order
	order     sync.Mutex    // of what is delivered around it
	gone      chan struct{} // closed once agent.exited is delivered

	mu         sync.Mutex // guards the dialect and what follows
	decoded    Decoded
	hold       holder
	whole      []byte            // a line of text with its newline
	complained ending            // the end of standard error
	told       time.Time         // when a line last came to something
	finished   chan struct{}     // closed when the running turn is over; nil while none runs
	reset      chan bool         // receives whether a reset was confirmed; nil while none is asked for
	endCause   uint64            // the decision that ends the process
	steers     map[string]uint64 // the decisions that put commands into the running turn
	queued     [][]byte          // lines for the agent's stdin
}

// Start starts the process. The agent has no prompt yet. The error says which program or
// folder it is about, and satisfies errors.Is as process.Start's does.
func Start(cfg Config) (*Session, error) {
	if cfg.Patience == (Patience{}) {
		cfg.Patience = DefaultPatience
	}
	if cfg.Patience.Reset == 0 {
		cfg.Patience.Reset = DefaultPatience.Reset
	}
	if cfg.Patience.Start == 0 {
		cfg.Patience.Start = DefaultPatience.Start
	}
	if cfg.Spec.Session == "" {
		cfg.Spec.Session = newSessionID()
	}
	command, err := cfg.Dialect.Command(cfg.Spec)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, by: "agent:" + cfg.Name, argv: command.Argv, closeStdin: command.CloseStdin, text: command.Text,
		hold:   holder{secrets: cfg.Secrets},
		opened: make(chan struct{}), named: make(chan struct{}), announced: make(chan struct{}), gone: make(chan struct{}),
	}
	spec := process.Spec{
		Argv: command.Argv, Dir: cfg.Spec.Dir, Mark: cfg.Mark,
		Env:       process.Environment(cfg.Env, command.Drop, slices.Concat(command.Env, cfg.Own)),
		KeepStdin: true, Raw: command.Text, Output: s.output, Linger: s.linger,
	}
	if !cfg.Quiet {
		s.notice = command.Notice
	}
	if command.ParentDeath {
		spec.ParentDeath = syscall.SIGTERM
	}
	if s.proc, err = process.Start(spec); err != nil {
		return nil, err
	}
	go s.bury()
	return s, nil
}

// PID returns the process's id.
func (s *Session) PID() int { return s.proc.PID() }

// Done is closed when the process is gone and agent.exited is delivered.
func (s *Session) Done() <-chan struct{} { return s.gone }

// Begin gives the agent its prompt and delivers agent.started. reused says that the
// process served an earlier iteration.
func (s *Session) Begin(p Prompt, reused bool, cause uint64) {
	s.mu.Lock()
	s.finished, s.steers = make(chan struct{}), map[string]uint64{}
	s.queue(s.cfg.Dialect.Open(p))
	s.mu.Unlock()
	if reused {
		s.started(true, cause)
	} else {
		s.introduce(cause)
	}
	// An agent that cannot be written to is about to exit, which is told by itself.
	_ = s.send()
	if s.closeStdin {
		s.proc.CloseStdin()
	}
}

// Refresh asks the process for a fresh context and reports whether it has one
// now. Where it has not, the process has to be replaced.
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
	_ = s.send() // one that is gone is seen below
	timeout := time.NewTimer(s.cfg.Patience.Reset)
	defer timeout.Stop()
	select {
	case fresh := <-answer:
		return fresh
	case <-s.gone:
	case <-timeout.C:
	}
	return false
}

// Steer puts text into the running turn. It returns an error where that cannot be
// done now: the text then goes into the next prompt.
func (s *Session) Steer(id, text string, cause uint64) error {
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

// Release lets the process rest for another iteration, or asks it to go where it
// cannot be used again, and waits until it is gone. It waits for as long as the process
// takes; Kill ends the waiting.
// same says that the next prompt goes on in the same context.
func (s *Session) Release(same bool, cause uint64) {
	able := s.cfg.Dialect.Abilities()
	reusable := able.Reset || same && able.Same
	if reusable && s.rest(cause) {
		return
	}
	s.leave(cause)
	<-s.gone
}

// linger tells that something is waited for, so that nobody takes the silence for the agent's.
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

// rest ends what the turn left running, and keeps the process.
func (s *Session) rest(cause uint64) bool {
	select {
	case <-s.gone:
		return true // agent.exited has told it
	default:
	}
	strays, err := s.proc.EndOthers(context.Background(), s.cfg.Patience.Term)
	if err != nil {
		return false
	}
	s.deliver(cause, event.AgentRested{Strays: len(strays), Ended: commandLines(strays)})
	return true
}

// leave asks the process to end by itself.
func (s *Session) leave(cause uint64) {
	s.mu.Lock()
	s.queue(s.cfg.Dialect.Stop())
	s.endCause = cause
	s.mu.Unlock()
	// A process that is gone already cannot be written to, and needs no asking.
	_ = s.send()
	s.proc.CloseStdin()
}

// Abort ends the running turn and then the process: the protocol's own way first,
// then the end of its input, then TERM, then KILL. It returns when agent.exited
// is delivered.
func (s *Session) Abort(cause uint64) {
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
		s.await(finished, s.cfg.Patience.Abort)
	}
	s.leave(cause)
	if finished == nil || len(lines) > 0 || s.cfg.Dialect.Abilities().Live {
		s.await(nil, s.cfg.Patience.Stop)
	}
	s.proc.Terminate(context.Background(), s.cfg.Patience.Term)
	<-s.gone
}

// await waits for a channel, for the end of the process, or for the time.
func (s *Session) await(c <-chan struct{}, patience time.Duration) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-c:
	case <-s.gone:
	case <-timeout.C:
	}
}

// Kill ends the process and all it started at once, and returns without waiting.
func (s *Session) Kill() { s.proc.Kill() }

// bury waits for the process and delivers its end.
func (s *Session) bury() {
	exit := s.proc.Wait()
	s.name.Do(func() { close(s.named) })
	// A process that ended before its prompt was given: agent.started comes first all the same.
	<-s.announced
	s.mu.Lock()
	cause := s.endCause
	s.hold.flush(func(fact event.Payload) { s.deliver(0, fact) })
	if d, ok := s.cfg.Dialect.(Ender); ok {
		s.decoded.Reset()
		d.End(&s.decoded)
		for _, fact := range s.decoded.Facts {
			s.deliver(0, fact)
		}
	}
	complained := s.complained.end()
	s.mu.Unlock()
	s.deliver(cause, event.AgentExited{
		Code: exit.Code, Signal: exit.Signal, Took: exit.Took.Milliseconds(),
		Strays: len(exit.Strays), Stderr: complained, Ended: commandLines(exit.Strays),
	})
	close(s.gone)
}

// endedMost is how many of the processes that were ended are named.
const endedMost = 8

// commandLines names the first of the processes that were ended.
func commandLines(strays []process.Stray) []string {
	var lines []string
	for _, stray := range strays[:min(len(strays), endedMost)] {
		lines = append(lines, strings.ToValidUTF8(stray.Command, "\uFFFD"))
	}
	return lines
}

func (s *Session) deliver(cause uint64, p event.Payload) {
	d := event.Encode(p, s.by)
	d.Cause = cause
	s.cfg.Deliver([]event.Draft{d}, func() {})
}

// queue takes lines for the agent in the order in which the dialect has them, and send writes them in that order, whoever calls it: a steer that
// went before the prompt would be lost. s.mu is held.
func (s *Session) queue(lines [][]byte) { s.queued = append(s.queued, lines...) }

// send writes what is queued. It waits for nobody: the process has a queue of its own.
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
