package transcript

import (
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// question is the entry of a question, which has to be known until the agent has its answer.
type question struct {
	*item

	command string // that answered; empty while the question is open
}

func questionOf(p event.QuestionAsked) Question {
	q := Question{Number: p.Number, Text: clean(p.Text), Blocks: p.Blocks}
	for _, choice := range p.Choices {
		q.Choices = append(q.Choices, render.Clean(choice))
	}
	return q
}

func (b *Builder) rememberQuestion(number int, it *item) {
	if len(b.questions) >= questionsKept {
		clear(b.questions)
	}
	b.questions[number] = &question{item: it}
}

// questionAnswered notes the answer in the entry of the question. The answer itself is a message.
func (b *Builder) questionAnswered(e event.Event, p event.QuestionAnswered) {
	if b.questions[p.Number] == nil { // it was asked before the first event
		b.rememberQuestion(p.Number, &item{Entry: Entry{Body: Question{Number: p.Number, Text: clean(p.Question)}}})
	}
	it := b.questions[p.Number]
	it.command = p.Command
	q, _ := it.Body.(Question)
	q.Answered, q.Answer, q.By = true, clean(p.Text), render.Clean(p.From)
	it.Body = q
	b.touch(it.item, e)
}

// reopen takes an answer back that the agent never had.
func (b *Builder) reopen(e event.Event, command string) {
	for _, it := range b.questions {
		if it.command != command || command == "" {
			continue
		}
		it.command = ""
		q, _ := it.Body.(Question)
		q.Answered, q.Answer, q.By = false, "", ""
		it.Body = q
		b.touch(it.item, e)
	}
}
