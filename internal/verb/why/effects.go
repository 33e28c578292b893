package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
)

// effect explains a decided effect.
func (t *trace) effect(p event.Decided) reason {
	r := reason{question: "Why " + phrase.Of(p, phrase.Known{}).Text + "?", answer: sentence(p.Why), facts: []event.Event{t.trigger}}
	switch p.Do {
	case event.DoBegin:
		return t.begin(p)
	case event.DoStart:
		r.question, r.answer = "Why did the agent get a prompt?", fmt.Sprintf("Iteration %d has its prompt.", p.Iteration)
		r.facts = []event.Event{t.here(event.TypeIterationStarted)}
		if p.Same {
			r.answer += " The session continues with its context, because of the setting context."
			r.keys = []string{"context"}
		}
	case event.DoSteer:
		r.question = "Why was the agent steered?"
		r.answer = "A person sent a message while the agent was at its turn, and its protocol takes messages then."
		r.facts = []event.Event{t.command(p.Command), t.here(event.TypeAgentStarted)}
	case event.DoRelease:
		r.question, r.facts = "Why was the agent's process parked or ended?", []event.Event{t.here(event.TypeAgentFinished)}
	case event.DoAbort, event.DoKill:
		return t.cut(p)
	case event.DoCheck:
		r.question = "Why was the work checked?"
		r.answer = t.checkWhy(p)
	case event.DoCommit:
		r.question = "Why was the work committed?"
		r.answer = "The turn ended well, and " + t.nothingMissing() + ". There are tasks of version control."
		r.keys, r.facts = []string{"scm"}, append(t.checksOf(event.TypeGuardrailEnded), t.here(event.TypeAgentFinished), t.here(event.TypeIterationChecked))
	case event.DoHoldout:
		r.question = "Why did the held-out guardrails run?"
		r.answer = "The agent claims that the work is done, and the claim lacks nothing else."
		r.facts = append(t.checksOf(event.TypeGuardrailEnded), t.here(event.TypeIterationChecked))
	case event.DoObserve:
		r.keys = []string{"limits.window"}
	case event.DoCancel:
		r.question = "Why did the check or the composing of the prompt end early?"
		keys, facts := t.cutBy(p)
		r.keys, r.facts = keys, append(facts, t.trigger)
	}
	return r
}

func (t *trace) checkWhy(p event.Decided) string {
	switch {
	case p.Only != "" && t.state.Escalation.Waits != "":
		return "The agent waits for a person, so that its work is only inspected: no guardrail runs."
	case p.Only != "":
		return "The agent's turn did not end well, so that its work is only inspected: no guardrail runs."
	case !t.state.Phase.Open():
		return "The file DONE was there before an iteration began. If nothing is missing, none is needed."
	case t.state.Rules.Guardrails > 0:
		return "The agent's turn is over, and guardrails have to pass before a claim counts."
	}
	return "The agent's turn is over, and rules depend on what it left."
}

// begin explains why an iteration began: what came since the one before, and what is left of each
// limit.
func (t *trace) begin(p event.Decided) reason {
	r := reason{question: fmt.Sprintf("Why did iteration %d begin?", p.Iteration)}
	since := func(of event.Type) event.Event { return t.since(of, t.began) }
	var because []string
	if e := since(event.TypeLoopStarted); e.Seq != 0 {
		because = append(because, "the loop started")
	}
	if e := since(event.TypeLoopResumed); e.Seq != 0 {
		because = append(because, words(e))
	}
	if e, err := event.As[event.IterationEnded](since(event.TypeIterationEnded)); err == nil {
		because = append(because, t.endedBefore(e))
	}
	if e := since(event.TypeLoopWaited); e.Seq != 0 {
		because = append(because, words(e))
	}
	if e := since(event.TypeLoopUnpaused); e.Seq != 0 {
		because = append(because, words(e))
	}
	if e := since(event.TypeAgentReplaced); e.Seq != 0 {
		because = append(because, words(e))
	}
	if e := since(event.TypeEffectFailed); e.Seq != 0 {
		because = append(because, words(e))
	}
	r.answer = "No rule ends the loop or makes it wait"
	if len(because) > 0 {
		r.answer = sentence(strings.Join(because, ", then ")) + " No rule ends the loop or makes it wait"
	}
	var limits string
	r.keys, limits = t.left()
	r.answer += ": " + limits + "."
	if n := len(p.Commands); n > 0 {
		r.answer += fmt.Sprintf(" Its prompt has %s from people.", units.Quantity(n, "message"))
	}
	if p.Reflect {
		r.answer += " The agent is asked to look back, because of reflect.every."
		r.keys = append(r.keys, "reflect.every")
	}
	for _, of := range []event.Type{
		event.TypeLoopStarted, event.TypeLoopResumed, event.TypeIterationEnded, event.TypeCompletionRefused, event.TypeCompletionIgnored,
		event.TypeBreakerTripped, event.TypeLoopWaiting, event.TypeLoopWaited, event.TypeLoopUnpaused, event.TypeAgentReplaced, event.TypeEffectFailed,
	} {
		r.facts = append(r.facts, since(of))
	}
	for _, id := range p.Commands {
		r.facts = append(r.facts, t.command(id))
	}
	return r
}

// endedBefore says how the iteration before ended, and why it did not complete the loop.
func (t *trace) endedBefore(p event.IterationEnded) string {
	text := phrase.Of(p, phrase.Known{}).Line()
	refused, ignored := t.since(event.TypeCompletionRefused, t.began), t.since(event.TypeCompletionIgnored, t.began)
	switch {
	case refused.Seq != 0:
		text += "; " + words(refused)
	case ignored.Seq != 0:
		text += "; " + words(ignored)
	case p.Outcome == event.OutcomeDone:
		text += "; the agent did not claim that the work is done"
	}
	return text
}

// left says how much of each limit is used, with the settings.
func (t *trace) left() (keys []string, text string) {
	s := &t.state
	limits, used := s.Rules.Limits, s.Budget.Used()
	keys = []string{"maximumIterations"}
	parts := []string{fmt.Sprintf("%d of %d iterations are used", s.Budget.Counted, s.Rules.MaximumIterations)}
	if limits.Cost > 0 {
		keys = append(keys, "limits.cost")
		parts = append(parts, t.spent()+" of "+units.Cost(&limits.Cost))
	}
	if limits.Tokens > 0 {
		keys = append(keys, "limits.tokens")
		parts = append(parts, fmt.Sprintf("%s of %s tokens", units.Tokens(used.Tokens()), units.Tokens(limits.Tokens)))
	}
	if d := limits.Duration.Std(); d > 0 {
		keys = append(keys, "limits.duration")
		parts = append(parts, fmt.Sprintf("%s of %s", units.Span(s.Budget.Ran()), units.Plain(d)))
	}
	return keys, strings.Join(parts, ", ")
}

// spent says what the loop has cost. What is known of a partly unknown cost is a lower bound.
func (t *trace) spent() string {
	b := &t.state.Budget
	if used := b.Used(); used.USD != nil {
		return units.Cost(used.USD)
	}
	known := 0.0
	for _, part := range []*float64{b.Total.Usage.USD, b.Current.Usage.USD} {
		if part != nil {
			known += *part
		}
	}
	if known == 0 {
		return "an unknown amount"
	}
	return "at least " + units.Cost(&known)
}

// cut explains why a turn, or what runs after it, was ended.
func (t *trace) cut(p event.Decided) reason {
	r := reason{question: "Why was the agent's turn ended?", answer: sentence(p.Why)}
	if p.Do == event.DoKill {
		r.question = "Why were the agent's processes killed?"
	}
	if p.Outcome == "" && !t.state.Phase.Working() {
		r.question = "Why was the agent's process ended?"
	}
	r.keys, r.facts = t.cutBy(p)
	return r
}

// cutBy returns the settings and events that the end of a turn depends on.
func (t *trace) cutBy(p event.Decided) (keys []string, facts []event.Event) {
	s := &t.state
	switch {
	case s.Commands.Stopping != "":
		facts = t.commandsOf(event.CommandStop, event.CommandStopNow, event.CommandKill)
		return nil, slices.Concat(facts, t.answersTo(facts))
	case p.Outcome == event.OutcomeOverspent:
		keys = []string{"limits.iterationCost"}
		if used := s.Budget.Current.Usage; s.Rules.Limits.IterationCost == 0 || used.USD == nil || *used.USD < s.Rules.Limits.IterationCost {
			keys = []string{"limits.iterationTokens"}
		}
		return keys, t.used
	case s.Budget.Late(s.Rules) != "":
		return []string{"limits.duration"}, []event.Event{t.last[event.TypeLoopStarted], t.last[event.TypeLoopResumed], t.last[event.TypeTimerFired]}
	case s.Completion.Accepted != "":
		return nil, []event.Event{t.last[event.TypeCompletionAccepted], t.last[event.TypeIterationEnded]}
	}
	if deadline, ok := s.Idle.Next(&s.Lifecycle); ok && !s.At.Before(deadline.At) {
		return []string{deadlineKeys[deadline.Name]},
			[]event.Event{t.heard, t.here(event.TypeIterationStarted), t.here(event.TypeAgentFinished), t.here(event.TypeTimerFired)}
	}
	return nil, []event.Event{t.last[event.TypeIterationEnded], t.trigger}
}

// deadlineKeys are the settings of deadlines.
var deadlineKeys = map[string]string{
	policy.TimerIdle: "limits.idle", policy.TimerTool: "limits.tool", policy.TimerBackground: "limits.tool",
	policy.TimerIteration: "limits.iteration", policy.TimerExitGrace: "limits.exitGrace",
}

// iterationEnd explains the outcome of an iteration.
func (t *trace) iterationEnd(p event.IterationEnded) reason {
	r := reason{question: fmt.Sprintf("Why did iteration %d end with the outcome %q?", p.N, p.Outcome)}
	r.answer = sentence(outcomes[p.Outcome])
	if p.Error != "" {
		r.answer += " " + sentence(p.Error)
	}
	switch p.Progress {
	case event.ProgressYes:
		r.answer += " The files show progress."
	case event.ProgressNo:
		r.answer += " There was no progress."
		if p.Refusal != "" {
			r.answer += " It was refused again for the same reason: " + sentence(p.Refusal)
		}
	}
	if p.Refunded {
		r.answer += " It is refunded: it does not count against maximumIterations."
	}
	r.facts = append(t.checksOf(event.TypeRepoInspected, event.TypeRepoUnreadable, event.TypeFolderInspected),
		t.here(event.TypeAgentFinished), t.here(event.TypeAgentExited), t.here(event.TypeEffectFailed), t.here(event.TypeIterationChecked),
		t.here(event.TypeCompletionRefused), t.here(event.TypeCompletionAccepted), t.here(event.TypeCompletionIgnored))
	switch p.Outcome {
	case event.OutcomeLimited, event.OutcomeUnauthorized:
		r.facts = append(r.facts, t.here(event.TypeAgentLimited))
	case event.OutcomeInterrupted:
		r.facts = append(r.facts, t.here(event.TypeLoopResumed))
	case event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeAborted, event.OutcomeOverspent:
		for _, d := range t.made {
			if cut, err := event.As[event.Decided](d.event); err == nil && cut.Iteration == p.N && (cut.Outcome != "" || cut.Do == event.DoCancel) {
				r.facts = append(r.facts, d.event)
			}
		}
	case event.OutcomeEmpty:
		r.keys = []string{"breaker.environment"}
	}
	return r
}

// outcomes say what each outcome means.
var outcomes = map[event.Outcome]string{
	event.OutcomeDone:         "the agent finished its turn",
	event.OutcomeFailed:       "the agent reported an error, could not be started, or its process ended badly",
	event.OutcomeIdle:         "the agent, a tool or work in the background was silent for too long, and ralph ended the turn",
	event.OutcomeOverlong:     "the iteration took too long, and ralph ended the turn",
	event.OutcomeAborted:      "a person stopped it, or the loop's time was used up",
	event.OutcomeInterrupted:  "the runner of this iteration died, and another one closed it",
	event.OutcomeOverspent:    "the iteration used more money or tokens than one may, and ralph ended the turn",
	event.OutcomeEmpty:        "the turn ended without an error, and the agent said no word and used no tool",
	event.OutcomeLimited:      "what the agent needs was out of reach",
	event.OutcomeUnauthorized: "the agent is not logged in",
}

// people explains what follows from commands, and the end of a wait.
func (t *trace) people(p event.Payload) reason {
	switch p := p.(type) {
	case event.CommandDelivered:
		answer := map[event.Delivery]string{
			event.DeliveredLoop:   "The loop carries it out by itself, and no agent has to read it.",
			event.DeliveredPrompt: fmt.Sprintf("The agent has the prompt of iteration %d, which contains it.", p.Iteration),
			event.DeliveredLive:   "The agent confirmed that it has it.",
		}[p.How]
		return reason{question: "Why did the command take effect?", answer: answer, facts: []event.Event{t.command(p.ID), t.here(event.TypeIterationStarted)}}
	case event.CommandRefused:
		return reason{question: "Why was the command refused?", answer: sentence(p.Why), facts: []event.Event{t.command(p.ID)}}
	case event.CommandWithdrawn:
		return reason{question: "Why was the message withdrawn?",
			answer: "A person took it back before the agent had it.", facts: []event.Event{t.command(p.ID), t.command(p.By)}}
	case event.LoopConfigured:
		r := reason{question: "Why was " + p.Key + " changed?",
			answer: fmt.Sprintf("A command asked for %s=%s. It is in force from this event on.", p.Key, p.Value), keys: []string{p.Key}}
		for _, c := range t.state.Commands.Open {
			if c.Kind == event.CommandSet && c.Key == p.Key {
				r.facts = append(r.facts, t.command(c.ID))
			}
		}
		return r
	case event.LoopPaused:
		facts := t.commandsOf(event.CommandPause)
		return reason{question: "Why is the loop paused?", answer: sentence(p.Why) +
			" No iteration is open, and none begins before a resume.", facts: append(facts, t.answersTo(facts)...), hint: "'ralph resume' continues it"}
	case event.LoopUnpaused:
		return reason{question: "Why did the pause end?", answer: "A person resumed the loop.",
			facts: append(t.commandsOf(event.CommandResume), t.last[event.TypeLoopPaused])}
	case event.LoopWaited:
		return t.waited(p)
	}
	return reason{}
}

func (t *trace) waited(p event.LoopWaited) reason {
	r := reason{question: "Why did the wait end?", facts: []event.Event{t.last[event.TypeLoopWaiting], t.trigger}}
	switch {
	case p.For == event.WaitPerson:
		r.answer, r.facts = "A person resumed the loop.", append(r.facts, t.commandsOf(event.CommandResume)...)
	case t.state.Wait != nil && !t.state.At.Before(t.state.Wait.Until):
		r.answer = "Its time has come."
	default:
		r.answer = "What it waited for no longer keeps the next iteration from beginning."
	}
	return r
}
