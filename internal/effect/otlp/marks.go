package otlp

import (
	"strconv"

	"github.com/ralph-loop/ralph/journal/event"
)

// marks adds events to the open iteration, or to the run: what went wrong, what people asked for,
// and what was decided about the work.
func (f *Fold) marks(e event.Event, p event.Payload) {
	s := f.Iteration
	if s == nil {
		s = f.Run
	}
	if s == nil {
		return
	}
	add := func(texts ...string) { s.mark(marked(e.At, "ralph."+string(e.Type), texts...)) }
	switch p := p.(type) {
	case event.AgentLimited:
		add("error.type", string(p.Kind), "ralph.until", p.Until, "ralph.text", f.content(p.Text))
	case event.AgentRetried:
		add("error.type", string(p.Kind), "ralph.attempt", strconv.Itoa(p.Attempt), "ralph.text", f.content(p.Text))
	case event.AgentCompacted:
		add("ralph.trigger", f.short(p.Trigger))
	case event.AgentReplaced:
		add("ralph.agent.was", f.short(p.Was), "gen_ai.agent.name", f.short(p.Name), "ralph.why", f.content(p.Why))
	case event.CommandReceived:
		add("ralph.command", string(p.Kind), "ralph.from", f.short(p.From), "ralph.text", f.content(p.Text))
	case event.CompletionClaimed:
		add("ralph.claim", string(p.How))
	case event.CompletionRefused, event.CompletionIgnored:
		add()
	case event.CompletionAccepted:
		add("ralph.claim", string(p.How))
	case event.GuardrailEdited:
		add("ralph.edit", string(p.How), "ralph.path", f.content(p.Path))
	case event.RepoCommitted:
		add("vcs.ref.head.revision", f.short(p.SHA), "ralph.text", f.content(p.Message))
	case event.BudgetWarned:
		add("ralph.limit", p.Limit)
	case event.BreakerTripped:
		add("ralph.rule", p.Rule, "ralph.step", p.Step, "ralph.text", f.content(p.Evidence))
	case event.FaultRaised, event.EffectFailed, event.LoopPaused, event.LoopUnpaused:
		add()
	}
}
