package transcript

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// ofPeople takes in what people ask for and what becomes of it.
func (b *Builder) ofPeople(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.CommandReceived:
		if p.Kind == event.CommandAsk { // shown when it has a number, or is refused
			b.remember(p.ID, &item{Entry: Entry{Body: messageOf(p)}})
			return true
		}
		b.remember(p.ID, b.begin(e, messageOf(p)))
	case event.QuestionAsked:
		b.rememberQuestion(p.Number, b.begin(e, questionOf(p)))
	case event.QuestionAnswered:
		b.questionAnswered(e, p)
	case event.CommandDelivered:
		if it := b.messages[p.ID]; it != nil && it.Seq == 0 && isAsk(it) {
			delete(b.messages, p.ID)
			return true
		}
		b.answer(e, p.ID, func(m *Message) {
			m.State, m.How, m.Iteration, m.Running = MessageDelivered, word(p.How), p.Iteration, b.iteration
			if p.How == event.DeliveredLive {
				m.Iteration, m.Turn = e.Iter, b.turn
			}
		})
	case event.CommandRefused:
		b.reopen(e, p.ID)
		b.answer(e, p.ID, func(m *Message) { m.State, m.Why = MessageRefused, clean(p.Why) })
	case event.CommandWithdrawn:
		b.answer(e, p.ID, func(m *Message) {
			if m.State = MessageWithdrawn; m.Text == "" {
				m.Text = clean(p.Text)
			}
		})
	default:
		return false
	}
	return true
}

func messageOf(c event.CommandReceived) Message {
	return Message{
		ID: c.ID, Command: word(c.Kind), From: render.Clean(c.From), Text: clean(c.Text),
		Key: render.Clean(c.Key), Value: render.Clean(c.Val), Question: c.Question, State: MessageQueued,
		Doubt: clean(phrase.Doubt(c)),
	}
}

func isAsk(it *item) bool {
	m, ok := it.Body.(Message)
	return ok && m.Command == event.CommandAsk
}

func (b *Builder) remember(id string, it *item) {
	if len(b.messages) >= messagesKept {
		clear(b.messages)
	}
	b.messages[id] = it
}

// answer changes a message that was queued.
func (b *Builder) answer(e event.Event, id string, change func(*Message)) {
	it := b.messages[id]
	if it == nil { // it was received before the first event
		it = &item{Entry: Entry{Body: Message{ID: id}}}
	}
	m, _ := it.Body.(Message)
	change(&m)
	it.Body = m
	delete(b.messages, id)
	b.touch(it, e)
}

// ofVerification takes in guardrails, claims and commits.
func (b *Builder) ofVerification(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.GuardrailStarted:
		b.guardrails[p.Name] = b.begin(e, Guardrail{Name: clean(p.Name), State: StateRunning, Began: e.At})
	case event.GuardrailEnded:
		b.guardrailEnded(e, p)
	case event.CompletionClaimed:
		b.claim = b.begin(e, Claim{How: word(p.How), State: ClaimMade})
	case event.CompletionAccepted:
		b.judge(e, func(c *Claim) { c.State, c.How, c.Warning = ClaimAccepted, word(p.How), clean(p.Warning) })
	case event.CompletionRefused:
		b.judge(e, func(c *Claim) {
			c.State = ClaimRefused
			for _, missing := range p.Missing {
				c.Missing = append(c.Missing, clean(missing))
			}
		})
	case event.CompletionIgnored:
		b.begin(e, Claim{How: word(p.How), State: ClaimIgnored, Text: clean(p.Text), Why: clean(p.Why)})
	case event.RepoCommitted:
		subject := units.FirstLine(p.Message)
		b.begin(e, Commit{
			SHA: render.Clean(p.SHA), Subject: render.Clean(subject), Message: clean(p.Message),
			Files: p.Files, Insertions: p.Insertions, Deletions: p.Deletions,
		})
	default:
		return false
	}
	return true
}

// judge changes the open claim.
func (b *Builder) judge(e event.Event, change func(*Claim)) {
	it := b.claim
	if b.claim = nil; it == nil {
		it = b.begin(e, Claim{})
	}
	c, _ := it.Body.(Claim)
	change(&c)
	it.Body = c
	b.touch(it, e)
}

func (b *Builder) guardrailEnded(e event.Event, p event.GuardrailEnded) {
	it := b.guardrails[p.Name]
	if it == nil {
		it = b.begin(e, Guardrail{Name: clean(p.Name)})
	}
	delete(b.guardrails, p.Name)
	g, _ := it.Body.(Guardrail)
	if g.State = StateOK; !p.OK {
		g.State = StateFailed
	}
	g.Code, g.TimedOut, g.Took = p.Code, p.TimedOut, units.Milliseconds(p.Took)
	g.Action, g.Log, g.Warning = render.Clean(p.Action), render.Clean(p.Log), clean(p.Warning)
	if p.Message != nil {
		g.Output = strings.Trim(clean(phrase.GuardrailOutput(p.Message.Text)), "\n")
	}
	it.Body = g
	b.touch(it, e)
}
