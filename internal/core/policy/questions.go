package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Questions are what the agent asks a person while it works on. Each has a number, and one answer,
// which is a message to the agent: see [Commands]. An answer that the agent never had reopens its
// question. A question that blocks makes a claim of completion lack something; if a claim lacks
// nothing else, or an iteration changes no file, the loop waits for an answer.
type Questions struct {
	Asked int `json:"asked,omitempty"` // how many there were; the last one's number
	// List has those that are open, those whose answer the agent does not have yet, and the last of
	// the others, by number.
	List []Question `json:"list,omitempty"`
	// Waits are the open questions that the loop waits for.
	Waits []int `json:"waits,omitempty"`
	// More says that the last claim of the iteration lacked more than answers.
	More bool `json:"more,omitempty"`
}

// Question is one question with its answer.
type Question struct {
	Number  int       `json:"number"`
	Text    string    `json:"text"`
	Choices []string  `json:"choices,omitempty"` // answers that the agent expects
	Blocks  bool      `json:"blocks,omitempty"`  // the work is not done while it is open
	AskedAt time.Time `json:"askedAt"`
	// Answer is the beginning of the answer; empty while the question is open.
	Answer     string    `json:"answer,omitempty"`
	AnsweredAt time.Time `json:"answeredAt,omitzero"`
	By         string    `json:"by,omitempty"`      // who answered
	Command    string    `json:"command,omitempty"` // id of the command that answered
	Read       bool      `json:"read,omitempty"`    // the agent has the answer
}

const (
	// answeredKept is how many questions stay in the state after the agent has their answer.
	answeredKept = 32
	answerMost   = 1000
	// questionMost bounds a question in a sentence about it.
	questionMost = 200
)

// Open reports whether the question has no answer.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() }

// Brief is the question's text on one line; of a long one the beginning.
func (q Question) Brief() string {
	return units.Cut(strings.Join(strings.Fields(q.Text), " "), questionMost)
}

// Apply folds one event.
func (q *Questions) Apply(at time.Time, p event.Payload) {
	switch p := p.(type) {
	case event.QuestionAsked:
		q.Asked = max(q.Asked, p.Number)
		q.List = append(q.List, Question{Number: p.Number, Text: p.Text, Choices: p.Choices, Blocks: p.Blocks, AskedAt: at})
	case event.QuestionAnswered:
		q.edit(func(x *Question) bool { return x.Number == p.Number }, func(x *Question) {
			x.Answer, x.AnsweredAt, x.By, x.Command = firstBytes(p.Text, answerMost), at, p.From, p.Command
		})
		q.Waits = nil
	case event.CommandDelivered:
		q.edit(answeredBy(p.ID), func(x *Question) { x.Read = true })
		q.forget()
	case event.CommandRefused:
		q.edit(answeredBy(p.ID), func(x *Question) {
			x.Answer, x.AnsweredAt, x.By, x.Command = "", time.Time{}, "", ""
		})
	case event.CompletionRefused:
		if q.More = len(p.Questions) < len(p.Missing); !q.More {
			q.Waits = p.Questions
		}
	case event.IterationEnded:
		if p.Outcome == event.OutcomeDone && p.Progress == event.ProgressNo && !q.More {
			q.Waits = q.Blocking()
		}
	case event.IterationStarted, event.LoopResumed:
		q.Waits, q.More = nil, false
	case event.LoopUnpaused, event.LoopWaited:
		if resumedByPerson(p) {
			q.Waits = nil
		}
	}
}

// answeredBy selects the question whose answer is a command that has no outcome yet.
func answeredBy(id string) func(*Question) bool {
	return func(x *Question) bool { return x.Command == id && !x.Open() && !x.Read }
}

func (q *Questions) edit(which func(*Question) bool, change func(*Question)) {
	for i := range q.List {
		if which(&q.List[i]) {
			change(&q.List[i])
		}
	}
}

// forget drops the oldest questions whose answer the agent has.
func (q *Questions) forget() {
	read := 0
	for _, x := range q.List {
		if x.Read {
			read++
		}
	}
	q.List = slices.DeleteFunc(q.List, func(x Question) bool {
		if !x.Read || read <= answeredKept {
			return false
		}
		read--
		return true
	})
}

// Open returns the questions without an answer, oldest first.
func (q *Questions) Open() []Question {
	var open []Question
	for _, x := range q.List {
		if x.Open() {
			open = append(open, x)
		}
	}
	return open
}

// Blocking returns the numbers of the open questions that block.
func (q *Questions) Blocking() []int {
	var numbers []int
	for _, x := range q.Open() {
		if x.Blocks {
			numbers = append(numbers, x.Number)
		}
	}
	return numbers
}

// Ask returns the event of a new question, or why it is refused.
func (q *Questions) Ask(m Message) (asked event.QuestionAsked, refused string) {
	open := q.Open()
	if len(open) >= event.MaxQuestions {
		return asked, fmt.Sprintf("%d questions are open already", len(open))
	}
	for _, x := range open {
		if x.Text == m.Text {
			return asked, fmt.Sprintf("question %d asks the same, and is open", x.Number)
		}
	}
	return event.QuestionAsked{Number: q.Asked + 1, Text: m.Text, Choices: m.Choices, Blocks: m.Blocks, Command: m.ID}, ""
}

// Answer returns the event of an answer, or why it is refused.
func (q *Questions) Answer(m Message) (answered event.QuestionAnswered, refused string) {
	if m.From == event.FromAgent || strings.HasPrefix(m.From, event.FromAgent+":") {
		return answered, "an agent cannot answer its own questions"
	}
	at := slices.IndexFunc(q.List, func(x Question) bool { return x.Number == m.Question })
	switch {
	case m.Question < 1 || m.Question > q.Asked:
		return answered, fmt.Sprintf("there is no question %d", m.Question)
	case at < 0 || !q.List[at].Open():
		return answered, fmt.Sprintf("question %d has an answer already", m.Question)
	}
	return event.QuestionAnswered{Number: m.Question, Question: q.List[at].Brief(), Text: m.Text, From: m.From, Command: m.ID}, ""
}

// Missing returns what a claim of completion lacks because of open questions, one sentence for each
// number.
func (q *Questions) Missing() (sentences []string, numbers []int) {
	for _, x := range q.Open() {
		if x.Blocks {
			sentences = append(sentences, fmt.Sprintf("question %d has no answer yet: %s", x.Number, x.Brief()))
			numbers = append(numbers, x.Number)
		}
	}
	return sentences, numbers
}

// Awaited returns the question whose answer the loop waits for, and says so; 0 if there is none.
func (q *Questions) Awaited() (number int, why string) {
	open := slices.DeleteFunc(q.Open(), func(x Question) bool { return !slices.Contains(q.Waits, x.Number) })
	if len(open) == 0 {
		return 0, ""
	}
	why = fmt.Sprintf("an answer to question %d: %s", open[0].Number, open[0].Brief())
	if more := len(open) - 1; more > 0 {
		why += fmt.Sprintf(" (and to %d more)", more)
	}
	return open[0].Number, why
}

// Unread returns the questions that have no answer, or one that the agent does not have.
func (q *Questions) Unread() []event.OpenQuestion {
	var left []event.OpenQuestion
	for _, x := range q.List {
		if !x.Read {
			left = append(left, event.OpenQuestion{Number: x.Number, Text: x.Brief(), Blocks: x.Blocks})
		}
	}
	return left
}
