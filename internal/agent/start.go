package agent

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// newSessionID returns a random UUID (version 4).
func newSessionID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// introduce delivers the first agent.started of the process: at once where the conversation's id is known or never will be, else once
// the first lines told it, or the agent is at work without. A start that does not get so far within the patience for it is told without.
func (s *Session) introduce(cause uint64) {
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
		timeout := time.NewTimer(s.cfg.Patience.Start)
		defer timeout.Stop()
		select {
		case <-s.named:
		case <-timeout.C:
		case <-s.announced:
		}
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

// works reports whether a batch tells of work: whoever tells that will not tell the conversation's id any more.
func (b *batch) works() bool {
	return slices.ContainsFunc(b.drafts, func(d event.Draft) bool {
		switch d.Type {
		case event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentUsed, event.TypeAgentLimited, event.TypeAgentRetried,
			event.TypeAgentAsked, event.TypeToolCalled:
			return true
		}
		return false
	})
}

// started delivers agent.started.
func (s *Session) started(reused bool, cause uint64) {
	able := s.cfg.Dialect.Abilities()
	fact := event.AgentStarted{
		PID: s.proc.PID(), Argv: s.argv, Reused: reused,
		Live: able.Live, Costs: able.Costs, Tools: able.Tools, Uncounted: !able.Tokens, ExitEnds: able.ExitEnds,
	}
	if n, ok := s.cfg.Dialect.(Namer); ok {
		s.mu.Lock()
		fact.Session = n.Session()
		s.mu.Unlock()
	}
	s.deliver(cause, fact)
	if s.notice != "" && !reused {
		s.deliver(cause, event.AgentNoticed{What: event.NoticeFallback, Text: s.notice})
	}
}

// after hands a batch on, after the first agent.started.
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
