package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// A reason is what an explanation says about an event.
type reason struct {
	question, answer string
	keys             []string      // the settings that the rule depends on
	facts            []event.Event // in any order; the zero event is none
	hint             string
}

// explain answers why an event happened, from what came before it. It is called before the event
// is folded.
func (t *trace) explain(e event.Event, d decision) (*Answer, error) {
	t.settle()
	p, err := event.Decode(e)
	if err != nil {
		return nil, fmt.Errorf("decode event %d: %w", e.Seq, err)
	}
	made := d.event.Seq != 0
	r := t.reason(e, p, made)
	a := &Answer{Loop: t.state.Name, Question: r.question, Answer: r.answer, Hint: r.hint, Rule: d.rule, Differs: made && d.rule == ""}
	note := t.note(e)
	note.Rule = d.rule
	a.Event = &note
	for _, key := range r.keys {
		a.Settings = append(a.Settings, t.setting(key))
	}
	t.addFacts(a, r.facts)
	a.Chain = t.chain(e, d)
	return a, nil
}

// reason finds the words for an event. made says that the rules decided it.
func (t *trace) reason(e event.Event, p event.Payload, made bool) reason {
	switch p := p.(type) {
	case event.LoopStarted:
		// The name is known only with this event.
		return reason{question: "Why did the loop start?",
			answer: "A person or a program ran 'ralph start' or 'ralph run': loop " + p.Name + " begins with this event."}
	case event.LoopResumed:
		return t.resumed(p)
	}
	if !made {
		return t.reported(e, p)
	}
	switch p := p.(type) {
	case event.LoopEnded:
		return t.end(p)
	case event.LoopWaiting:
		return t.wait(p)
	case event.CompletionClaimed, event.CompletionRefused, event.CompletionAccepted, event.CompletionIgnored:
		return t.claim(p)
	case event.IterationEnded:
		return t.iterationEnd(p)
	case event.Decided:
		return t.effect(p)
	case event.CommandDelivered, event.CommandRefused, event.CommandWithdrawn, event.LoopConfigured, event.LoopPaused, event.LoopUnpaused, event.LoopWaited:
		return t.people(p)
	case event.BreakerTripped:
		return t.tripped(p)
	case event.AgentReplaced:
		return t.replaced(p)
	case event.BudgetWarned:
		return t.warned(p)
	case event.LoopFenced:
		answer := sentence("host " + p.Host + " of the pool took it over")
		return reason{question: "Why was the loop fenced?", answer: answer, facts: t.commandsOf(event.CommandFence)}
	case event.LoopHeld, event.LoopReleased, event.AgentHeld:
		return t.held(p)
	}
	return reason{question: question(e), answer: "A rule decided it."}
}

func question(e event.Event) string {
	return fmt.Sprintf("Why did event %d, %s, happen?", e.Seq, e.Type)
}

// addFacts adds the last factsMost facts, oldest first.
func (t *trace) addFacts(a *Answer, facts []event.Event) {
	facts = slices.DeleteFunc(facts, func(e event.Event) bool { return e.Seq == 0 })
	slices.SortFunc(facts, func(x, y event.Event) int { return int(int64(x.Seq) - int64(y.Seq)) })
	facts = slices.CompactFunc(facts, func(x, y event.Event) bool { return x.Seq == y.Seq })
	if a.Left = max(0, len(facts)-factsMost); a.Left > 0 {
		facts = facts[a.Left:]
	}
	for _, fact := range facts {
		a.Facts = append(a.Facts, t.note(fact))
	}
}

// chain leads from an event to its causes: from an outcome to the decision that it belongs to, from
// a decision to the event that it was made at, from what an agent says to the start of its turn. It
// ends where an iteration or the loop begins.
func (t *trace) chain(e event.Event, d decision) []Note {
	var chain []Note
	for range chainMost {
		next := t.cause(e, d)
		if next.Seq == 0 || next.Seq >= e.Seq {
			break
		}
		chain = append(chain, t.note(next))
		e, d = next, t.made[next.Seq]
		if next.Seq == t.began.Seq {
			break
		}
	}
	return chain
}

// cause is the event that led to an event, as far as it is remembered.
func (t *trace) cause(e event.Event, d decision) event.Event {
	switch {
	case e.Cause != 0:
		return t.made[e.Cause].event
	case d.event.Seq != 0:
		return d.trigger
	case strings.HasPrefix(e.By(), "agent:"):
		for _, made := range t.made {
			if p, err := event.As[event.Decided](made.event); err == nil && p.Do == event.DoStart && p.Iteration == e.Iter {
				return made.event
			}
		}
	}
	return event.Event{}
}

// reported explains an event that no rule decided.
func (t *trace) reported(e event.Event, p event.Payload) reason {
	r := reason{question: question(e)}
	by := e.By()
	decided := t.made[e.Cause]
	switch {
	case decided.event.Seq != 0:
		r.answer = fmt.Sprintf("It is an outcome of event %d, a decision: %s.", e.Cause, words(decided.event))
		r.facts = []event.Event{decided.event}
	case e.Cause != 0:
		r.answer = fmt.Sprintf("It is an outcome of event %d.", e.Cause)
	case strings.HasPrefix(by, "agent:"):
		r.answer = fmt.Sprintf("No rule decided it: %s reported it, in iteration %d.", by[len("agent:"):], e.Iter)
	case strings.HasPrefix(by, "inbox"):
		r.answer = "No rule decided it: the command came through the loop's inbox."
	case e.Type == event.TypeTimerFired:
		r.answer = "No rule decided it: a deadline passed. The decision after it says what followed."
	case e.Type == event.TypeSegmentOpened:
		r.answer = "No rule decided it: the journal began another file, because an iteration began, the last file was full, or a runner resumed the loop."
	case e.Type == event.TypeSegmentSealed:
		r.answer = "No rule decided it: the journal completed a file."
	default:
		r.answer = "No rule decided it: " + by + " recorded it."
	}
	switch p := p.(type) {
	case event.CommandReceived:
		r.question = fmt.Sprintf("Why is there a command %s?", p.Kind)
		r.answer = fmt.Sprintf("It came from %s. Its answer names it by the id %s.", orUnknown(p.From), p.ID)
	case event.StoriesRead:
		t.storiesRead(&r, p)
	case event.StoriesJudged:
		t.storiesJudged(&r, p)
	}
	return r
}

func (t *trace) resumed(p event.LoopResumed) reason {
	r := reason{question: "Why was the loop resumed?", facts: []event.Event{t.last[event.TypeLoopEnded]}}
	r.answer = "A person or a program started it again, after its end."
	if p.Died {
		r.answer = "A person or a program started it again: the runner before had ended without recording an end, because it was killed or crashed."
		r.facts = []event.Event{t.trigger}
		if t.state.Phase.Open() {
			r.answer += fmt.Sprintf(" Iteration %d was open, so it is closed as interrupted and refunded.", t.state.Iteration)
		}
	}
	if p.Swept > 0 {
		r.answer += " " + units.Quantity(p.Swept, "process") + " that its agent had left running were ended."
	}
	return r
}

func orUnknown(from string) string {
	if from == "" {
		return "an unknown sender"
	}
	return from
}

// lastEnds returns the last n ends of iterations that are of a kind.
func (t *trace) lastEnds(n int, of func(event.IterationEnded) bool) []event.Event {
	var found []event.Event
	for _, e := range slices.Backward(t.ends) {
		if len(found) >= n {
			break
		}
		if p, err := event.As[event.IterationEnded](e); err == nil && of(p) {
			found = append(found, e)
		}
	}
	return found
}

func anyEnd(event.IterationEnded) bool { return true }

func failed(p event.IterationEnded) bool {
	switch p.Outcome {
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeOverspent, event.OutcomeEmpty:
		return true
	}
	return false
}

// command returns the receipt of a command.
func (t *trace) command(id string) event.Event { return t.commands[id] }

// commandsOf returns the last received command of each of these kinds.
func (t *trace) commandsOf(kinds ...event.CommandKind) []event.Event {
	last := map[event.CommandKind]event.Event{}
	for _, e := range t.commands {
		p, err := event.As[event.CommandReceived](e)
		if err == nil && slices.Contains(kinds, p.Kind) && e.Seq > last[p.Kind].Seq {
			last[p.Kind] = e
		}
	}
	var found []event.Event
	for _, e := range last {
		found = append(found, e)
	}
	return found
}

// failedChecks are the events of the last check that speak against a claim.
func (t *trace) failedChecks() []event.Event {
	return slices.DeleteFunc(slices.Clone(t.checks), func(e event.Event) bool {
		switch e.Type {
		case event.TypeGuardrailEdited:
			return false
		case event.TypeGuardrailEnded:
			return string(e.Field("ok")) == "true"
		}
		return true
	})
}

// checksOf are the events of the last check of these types.
func (t *trace) checksOf(types ...event.Type) []event.Event {
	return slices.DeleteFunc(slices.Clone(t.checks), func(e event.Event) bool { return !slices.Contains(types, e.Type) })
}

// finalWords is the last thing that the agent said in this iteration.
func (t *trace) finalWords() event.Event { return t.here(event.TypeAgentSaid) }

// sentence makes a recorded text a sentence.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first := []rune(text)
	text = strings.ToUpper(string(first[0])) + string(first[1:])
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
