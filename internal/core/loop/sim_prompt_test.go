package loop_test

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// What an agent has not read is in the next prompt: why a claim was refused, until an agent ends
// its turn without a claim; messages, until an agent that has them works.
const promptsRepeat = "a prompt repeats what no agent has read"

// repeats is the part of the table with what prompts repeated, and after which iteration.
const repeats = "prompts repeat"

func repeatCases() []string {
	return []string{
		"a refusal after done", "a refusal after failed", "a refusal after idle", "a refusal after a resume",
		"a message after failed", "a message after idle", "a message after interrupted",
	}
}

// promptModel notes what the next prompt has to say.
type promptModel struct {
	texts         map[string]string // of messages, by id
	refused       []string
	told, again   []string // messages that the open iteration's agent has, and those of the next prompt
	claimed       bool
	started       bool // a process was given the prompt
	worked, tools bool
	after         string
}

func (m *promptModel) read(e event.Event) {
	switch e.Type {
	case event.TypeLoopStarted:
		*m = promptModel{texts: map[string]string{}}
	case event.TypeLoopResumed:
		m.after = "a resume"
	case event.TypeCommandReceived:
		if p := as[event.CommandReceived](e); p.Kind == event.CommandSteer || p.Kind == event.CommandFollowUp {
			m.texts[p.ID] = p.Text
		}
	case event.TypeCommandDelivered:
		if text := m.texts[as[event.CommandDelivered](e).ID]; text != "" {
			m.told = append(m.told, text)
		}
	case event.TypeIterationStarted:
		m.told, m.again = m.again, nil
		m.claimed, m.started, m.worked = false, false, false
	case event.TypeAgentStarted:
		m.started, m.worked, m.tools = true, false, as[event.AgentStarted](e).Tools
	case event.TypeAgentSaid:
		m.worked = m.worked || !m.tools && strings.TrimSpace(as[event.AgentSaid](e).Text.String()) != ""
	case event.TypeToolCalled:
		m.worked = true
	case event.TypeCompletionClaimed:
		m.claimed, m.refused = true, nil
	case event.TypeCompletionRefused:
		m.refused = as[event.CompletionRefused](e).Missing
	case event.TypeCompletionIgnored:
		m.refused = nil
	case event.TypeIterationEnded:
		p := as[event.IterationEnded](e)
		m.after = string(p.Outcome)
		if p.Outcome == event.OutcomeDone && !m.claimed {
			m.refused = nil
		}
		if m.unread(p) {
			m.again = m.told
		}
		m.told = nil
	}
}

// unread reports whether the agent of an iteration did nothing with its prompt.
func (m *promptModel) unread(p event.IterationEnded) bool {
	worked := m.started && m.worked || p.Tools > 0 || p.Progress == event.ProgressYes
	return p.Refunded || p.Outcome != event.OutcomeDone && !worked
}

// checkPrompt checks that the prompt of an iteration has all that it has to say.
func (w *world) checkPrompt(t *counts, e event.Event) {
	prompt := as[event.IterationStarted](e).Prompt
	if prompt.SHA256 != "" {
		return // only a part of it is in the event
	}
	for _, text := range slices.Concat(t.prompt.refused, t.prompt.again) {
		if !strings.Contains(prompt.Text, text) {
			w.violate(promptsRepeat, "event %d: after %s the prompt lacks %q: %q", e.Seq, t.prompt.after, text, prompt.Text)
		}
	}
}

// readPrompts counts what the prompts of a run repeated.
func (s seen) readPrompts(events []event.Event) {
	m := promptModel{texts: map[string]string{}}
	for _, e := range events {
		if e.Type == event.TypeIterationStarted {
			for what, texts := range map[string][]string{"a refusal": m.refused, "a message": m.again} {
				if name := what + " after " + m.after; len(texts) > 0 && slices.Contains(repeatCases(), name) {
					s.saw(repeats, name)
				}
			}
		}
		m.read(e)
	}
}

// wrongPrompts are noticed by promptsRepeat.
var wrongPrompts = []wrong{
	{"a refusal is forgotten", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) {
		if s.Last.Outcome != event.OutcomeDone {
			s.Completion.Refused = nil
		}
	}), unfolded: true, stage: claiming}, promptsRepeat},
	{"a message is forgotten", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) { s.Commands.Again = nil }), unfolded: true}, promptsRepeat},
	{"a resume forgets a refusal", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.Completion = policy.Completion{} }), unfolded: true, stage: claiming}, promptsRepeat},
}
