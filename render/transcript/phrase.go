package transcript

import (
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Phrase says in words what the entry is about, as it is now: the phrase of the event that it
// shows. Of k it uses the location and the day. It is empty for tools, which have several calls.
func (e Entry) Phrase(k phrase.Known) phrase.Phrase {
	k.At = e.At
	switch b := e.Body.(type) {
	case Loop:
		if k.Loop = b.Name; b.Resumed {
			return phrase.Resumed(b.Notes, k)
		}
		return phrase.Started(b.Name, b.Project, b.Agents, b.Reviewers, b.Maximum)
	case Iteration:
		k.Refunded, k.Maximum, k.Agent, k.Story, k.Title = b.Refunded, b.Maximum, b.Agent, b.Story, b.Title
		return phrase.Of(event.IterationStarted{N: b.N, Unkept: b.Unkept}, k)
	case IterationEnd:
		k.ToolsFailed = b.ToolsFailed
		return phrase.Of(event.IterationEnded{
			N: b.N, Outcome: b.Outcome, Error: b.Error, Usage: b.Usage, Tools: b.Tools, Took: b.Took,
			Refunded: b.Refunded, Progress: b.Progress, Refusal: b.Refusal, GuardrailsSkipped: b.GuardrailsSkipped,
		}, k)
	case Words:
		return phrase.Of(event.AgentSaid{Text: event.Plain(b.Text)}, k)
	case Thinking:
		return phrase.Of(event.AgentThought{Text: event.Plain(b.Text)}, k)
	case Plan:
		return phrase.Of(event.AgentPlanned{Todos: b.Todos}, k)
	case Guardrail:
		if b.State == StateRunning || b.State == StateLost {
			return phrase.Of(event.GuardrailStarted{Name: b.Name}, k)
		}
		return phrase.Of(b.ended(), k)
	case Message:
		return phrase.Of(event.CommandReceived{ID: render.Clean(b.ID), Kind: b.Command, From: b.From, Text: b.Text,
			Key: b.Key, Val: b.Value, Question: b.Question}, k)
	case Question:
		return phrase.Of(event.QuestionAsked{Number: b.Number, Text: b.Text, Choices: b.Choices, Blocks: b.Blocks}, k)
	case Claim:
		return b.phrase(k)
	case Commit:
		return phrase.Of(event.RepoCommitted{SHA: b.SHA, Message: b.Message, Files: b.Files, Insertions: b.Insertions, Deletions: b.Deletions}, k)
	case Wait:
		if b.Over {
			return phrase.Of(event.LoopWaited{For: b.For}, k)
		}
		return phrase.Of(event.LoopWaiting{For: b.For, Until: b.Until, Why: b.Why}, k)
	case Pause:
		if b.Over {
			return phrase.Of(event.LoopUnpaused{}, k)
		}
		return phrase.Of(event.LoopPaused{Why: b.Why}, k)
	case End:
		k.Loop = b.Name
		return phrase.Of(event.LoopEnded{Status: b.Status, Reason: b.Reason, Why: b.Why, Changed: b.Changed}, k)
	case Note:
		return phrase.Phrase{Tone: b.Tone, Text: b.Text}
	case Detail:
		return phrase.Phrase{Text: b.Text}
	}
	return phrase.Phrase{}
}

// Verdict says how the guardrail went: passed, or failed with exit code 2. It is empty for one that
// has not ended.
func (g Guardrail) Verdict() string {
	if g.State == StateRunning || g.State == StateLost {
		return ""
	}
	return phrase.Verdict(g.ended())
}

func (g Guardrail) ended() event.GuardrailEnded {
	return event.GuardrailEnded{Name: g.Name, OK: g.State == StateOK, Code: g.Code, TimedOut: g.TimedOut, Action: g.Action, Took: g.Took.Milliseconds()}
}

// Became says what became of the message.
func (m Message) Became() phrase.Phrase {
	k := phrase.Known{Command: m.Command, Turn: m.Turn, Running: m.Running}
	switch m.State {
	case MessageRefused:
		return phrase.Of(event.CommandRefused{Why: m.Why}, k)
	case MessageWithdrawn:
		return phrase.Of(event.CommandWithdrawn{}, k)
	case MessageDelivered:
		return phrase.Of(event.CommandDelivered{How: m.How, Iteration: m.Iteration}, k)
	}
	return phrase.Queued(m.Command)
}

// Reply is the answer to the question, if it has one.
func (q Question) Reply() phrase.Phrase {
	if !q.Answered {
		return phrase.Phrase{}
	}
	return phrase.Of(event.QuestionAnswered{Number: q.Number, Text: q.Answer, From: q.By}, phrase.Known{})
}

func (c Claim) phrase(k phrase.Known) phrase.Phrase {
	switch c.State {
	case ClaimAccepted:
		return phrase.Of(event.CompletionAccepted{How: c.How, Warning: c.Warning}, k)
	case ClaimRefused:
		return phrase.Of(event.CompletionRefused{Missing: c.Missing}, k)
	case ClaimIgnored:
		return phrase.Of(event.CompletionIgnored{How: c.How, Text: c.Text, Why: c.Why}, k)
	}
	return phrase.Of(event.CompletionClaimed{How: c.How}, k)
}
