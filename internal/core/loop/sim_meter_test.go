package loop_test

import (
	"github.com/ralph-loop/ralph/journal/event"
)

// meter counts what a runner records of its open turn.
type meter struct {
	rules  event.Rules
	usd    float64
	tokens int64
	turn   bool // the agent has its prompt, and neither said that it is done nor is it being ended
	busy   map[string]bool
	aside  bool // work goes on in the background
	ending bool // it is being ended, perhaps before it has its prompt
	worker int  // whose turn it is
}

func (m *meter) read(events []event.Event) {
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopStarted:
			m.rules = as[event.LoopStarted](e).Rules
		case event.TypeLoopResumed:
			if p := as[event.LoopResumed](e); p.Rules != nil {
				m.rules = *p.Rules
			}
		case event.TypeLoopConfigured:
			m.rules = as[event.LoopConfigured](e).Rules
		case event.TypeIterationStarted:
			m.usd, m.tokens, m.busy, m.aside, m.ending = 0, 0, map[string]bool{}, false, false
		case event.TypeAgentStarted:
			m.turn = !m.ending
		case event.TypeAgentFinished:
			m.turn, m.aside = false, false
			clear(m.busy)
		case event.TypeAgentNoticed:
			if p := as[event.AgentNoticed](e); p.What == event.NoticeBackground {
				m.aside = p.Text != ""
			}
		case event.TypeAgentExited, event.TypeIterationEnded:
			m.turn = false
		case event.TypeDecided:
			switch d := as[event.Decided](e); d.Do {
			case event.DoAbort, event.DoKill:
				m.turn, m.ending = false, true
			case event.DoBegin:
				m.worker = d.Agent
			}
		case event.TypeToolCalled:
			m.busy[as[event.ToolCalled](e).ID] = true
		case event.TypeToolReturned:
			delete(m.busy, as[event.ToolReturned](e).ID)
		case event.TypeAgentUsed:
			p := as[event.AgentUsed](e)
			if len(m.rules.Agents) > 1 && e.By() != "agent:"+m.rules.Agents[m.worker].Name {
				continue // of an iteration before
			}
			m.tokens += p.In + p.Out + p.CacheRead + p.CacheWrite
			if p.USD != nil {
				m.usd += *p.USD
			}
		}
	}
}

// checkMeter checks that a turn that has used more than its limit does not go on.
func (r *runner) checkMeter() {
	m, w := &r.meter, r.w
	switch {
	case !m.turn || w.disk.Crashed():
	case m.rules.Limits.IterationCost > 0 && m.usd >= m.rules.Limits.IterationCost+1e-9:
		w.violate(turnOverspends, "an iteration may spend $%.3f, has spent $%.3f, and goes on", m.rules.Limits.IterationCost, m.usd)
	case m.rules.Limits.IterationTokens > 0 && m.tokens >= m.rules.Limits.IterationTokens:
		w.violate(turnOverspends, "an iteration may use %d tokens, has used %d, and goes on", m.rules.Limits.IterationTokens, m.tokens)
	}
}
