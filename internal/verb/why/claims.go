package why

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// claim explains what became of a claim that the work is done.
func (t *trace) claim(p event.Payload) reason {
	switch p := p.(type) {
	case event.CompletionClaimed:
		return reason{
			question: "Why does this count as a claim?",
			answer:   sentence(claims[p.How]) + " Whether it is accepted is the next decision.",
			keys:     t.claimKeys(p.How)[:1], facts: t.claimFacts(p.How),
		}
	case event.CompletionAccepted:
		answer := sentence(claims[p.How]) + " Nothing was missing: " + t.nothingMissing() + "."
		if p.Warning != "" {
			answer += " With a warning: " + sentence(p.Warning)
		}
		return reason{question: "Why was the claim accepted?", answer: answer, keys: t.claimKeys(p.How),
			facts: append(t.claimFacts(p.How), t.here(event.TypeCompletionClaimed))}
	case event.CompletionIgnored:
		r := reason{question: "Why did the claim not count?", keys: t.claimKeys(p.How), facts: []event.Event{t.finalWords(), t.here(event.TypeAgentFinished)}}
		r.answer = sentence(p.Why)
		if p.Text != "" {
			r.answer = fmt.Sprintf("The agent said %q, which resembles a claim. %s", units.Cut(p.Text, 120), r.answer)
		}
		r.answer += " The next prompt says so."
		return r
	case event.CompletionRefused:
		return t.refused(p)
	}
	return reason{}
}

// claims say what each claim consists of.
var claims = map[event.Claim]string{
	event.ClaimPromise:   "the agent said the promise",
	event.ClaimResponse:  "the agent said the response",
	event.ClaimChecklist: "all boxes of task.md are ticked",
	event.ClaimDoneFile:  "the file DONE is in the loop's folder",
	event.ClaimStories:   "all stories of ralph/tasks.json are done",
}

// refused explains a refused claim by what was missing. policy.Completion and policy.Verification
// have these sentences.
func (t *trace) refused(p event.CompletionRefused) reason {
	claimed, _ := event.As[event.CompletionClaimed](t.last[event.TypeCompletionClaimed])
	r := reason{
		question: "Why was the claim refused?",
		answer:   sentence(claims[claimed.How]) + " It lacks something: " + strings.Join(p.Missing, "; ") + ". The next prompt says so.",
		facts:    []event.Event{t.last[event.TypeCompletionClaimed], t.here(event.TypeIterationChecked)},
	}
	if claimed.Unproved {
		r.keys, r.facts = append(r.keys, "completion.require"), append(r.facts, t.last[event.TypeProofEnded])
	}
	for _, missing := range p.Missing {
		switch {
		case strings.HasPrefix(missing, "a claim needs"):
			r.keys = append(r.keys, "completion.require")
		case strings.HasPrefix(missing, "no work was done"), strings.HasPrefix(missing, "too little work"):
			r.keys = append(r.keys, "completion.minToolCalls", "completion.onPromiseNoWork")
			r.facts = append(r.facts, t.finalWords())
			r.facts = append(r.facts, t.checksOf(event.TypeRepoInspected)...)
		case strings.Contains(missing, "ralph/tasks.json"):
			r.keys = append(r.keys, "review.skip")
			r.facts = append(r.facts, t.last[event.TypeStoriesRead], t.here(event.TypeStoriesJudged))
		case strings.Contains(missing, "boxes in task.md"):
			r.keys = append(r.keys, "completion.checklist")
			r.facts = append(r.facts, t.checksOf(event.TypeFolderInspected)...)
		case strings.Contains(missing, "guardrail"):
			r.keys = append(r.keys, "guardrails")
			r.facts = append(r.facts, t.failedChecks()...)
		case strings.HasPrefix(missing, "a message has not been read"):
			r.facts = append(r.facts, t.openMessages()...)
		}
	}
	r.keys = unique(r.keys)
	return r
}

// openMessages are the messages that the agent has not read.
func (t *trace) openMessages() []event.Event {
	var open []event.Event
	for _, c := range t.state.Commands.Open {
		if c.Kind.IsMessage() {
			open = append(open, t.command(c.ID))
		}
	}
	return open
}

// nothingMissing lists what an accepted claim did not lack.
func (t *trace) nothingMissing() string {
	var found []string
	if n := t.state.Rules.Guardrails; n > 0 {
		found = append(found, fmt.Sprintf("%s passed", units.Quantity(n, "guardrail")))
	}
	if c := &t.state.Completion; c.Boxes > 0 {
		found = append(found, fmt.Sprintf("%d of %s are ticked", c.Ticked, units.Quantity(c.Boxes, "box")))
	}
	if t.state.Process.Tools {
		found = append(found, "the agent used "+units.Quantity(t.state.Completion.Tools, "tool"))
	}
	return strings.Join(append(found, "no message is unread"), ", ")
}

// claimKeys are the settings that a claim depends on, the one that allows it first.
func (t *trace) claimKeys(how event.Claim) []string {
	var keys []string
	switch how {
	case event.ClaimPromise:
		keys = []string{"completion.promise", "completion.match", "completion.minToolCalls", "completion.onPromiseNoWork"}
	case event.ClaimResponse:
		keys = []string{"completionResponse", "completion.match", "completion.minToolCalls", "completion.onPromiseNoWork"}
	case event.ClaimChecklist:
		keys = []string{"completion.checklist"}
	case event.ClaimStories:
		keys = []string{"review.skip", "review.cap"}
	default:
		return t.withGuardrails([]string{"completion.doneFile"})
	}
	return t.withGuardrails(keys)
}

func (t *trace) withGuardrails(keys []string) []string {
	if t.state.Rules.Guardrails > 0 {
		return append(keys, "guardrails")
	}
	return keys
}

// claimFacts are the events that a claim consists of, and the check of the work.
func (t *trace) claimFacts(how event.Claim) []event.Event {
	facts := t.checksOf(event.TypeGuardrailEnded)
	switch how {
	case event.ClaimPromise, event.ClaimResponse:
		return append(facts, t.finalWords(), t.here(event.TypeIterationChecked))
	case event.ClaimStories:
		return append(facts, t.last[event.TypeStoriesRead], t.here(event.TypeStoriesJudged), t.here(event.TypeIterationChecked))
	}
	return append(facts, append(t.checksOf(event.TypeFolderInspected), t.here(event.TypeFolderInspected), t.here(event.TypeIterationChecked))...)
}

func unique(texts []string) []string {
	var different []string
	seen := map[string]bool{}
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			different = append(different, text)
		}
	}
	return different
}
