package agent

import (
	"crypto/rand"
	"slices"
	"sync"

	"github.com/ralph-loop/ralph/journal/event"
)

// newSessionID returns a random UUID (version 4).
func newSessionID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return UUID(id, 4)
}

// introduce delivers the first agent.started of the process: at once if the conversation's id is
// known or never will be, else once the first lines report it, the agent works without it, or the
// time for the start is over.
func (s *Session) introduce(cause event.Seq) {
	s.announce = sync.OnceFunc(func() {
		s.order.Lock()
		defer s.order.Unlock()
		s.started(false, cause)
		for _, b := range s.early {
			s.pass(b)
		}
		s.early = nil
		close(s.announced)
	})
	close(s.opened)
	if s.knows() {
		s.announce()
		return
	}
	go func() {
		await(s, s.named, s.cfg.Patience.Start)
		s.announce()
	}()
}

// knows reports whether the conversation's id is known, or will not be.
func (s *Session) knows() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.cfg.Dialect.(Namer)
	return !ok || n.Session() != "" || s.finished == nil
}

// works reports whether a batch shows work: an agent at work no longer reports the conversation's
// id.
func (b *batch) works() bool {
	return slices.ContainsFunc(b.drafts, func(d event.Draft) bool { return slices.Contains(work, d.Type) })
}

var work = []event.Type{
	event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentUsed, event.TypeAgentLimited, event.TypeAgentRetried,
	event.TypeAgentAsked, event.TypeToolCalled,
}

// started delivers agent.started.
func (s *Session) started(reused bool, cause event.Seq) {
	able := s.cfg.Dialect.Abilities()
	fact := event.AgentStarted{
		PID: s.proc.PID(), Argv: s.command.Argv, Reused: reused,
		Live: able.Live, Costs: able.Costs, Tools: able.Tools, Uncounted: !able.Tokens, ExitEnds: able.ExitEnds,
	}
	if n, ok := s.cfg.Dialect.(Namer); ok {
		s.mu.Lock()
		fact.Session = n.Session()
		s.mu.Unlock()
	}
	s.deliver(cause, fact)
	if s.command.Notice != "" && !s.cfg.Quiet && !reused {
		s.deliver(cause, event.AgentNoticed{What: event.NoticeFallback, Text: s.command.Notice})
	}
}

// after delivers a batch after the first agent.started.
func (s *Session) after(b *batch) {
	s.order.Lock()
	defer s.order.Unlock()
	select {
	case <-s.announced:
		s.pass(b)
	default:
		s.early = append(s.early, b)
	}
}

// pass delivers a batch, if there is something in it.
func (s *Session) pass(b *batch) {
	if len(b.drafts) == 0 {
		b.release()
		return
	}
	s.cfg.Deliver(b.drafts, b.release)
}
