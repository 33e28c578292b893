package loop_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// The questions of the eighth edition: agents ask while they work, and people answer, also the
// wrong ones, twice, too late, or not at all.

const (
	// Questions are numbered from 1 without a gap, and no number is used again.
	questionsNumbered = "questions are numbered"
	// An answer is bound to a question that has none, and comes from a person. If the agent never
	// gets it, the question is open again.
	questionsAnswered = "a question has one answer"
	// The end of the loop lists the questions whose answer the agent does not have.
	questionsListed = "the end lists what is open"
)

// eighth draws a scenario of the eighth edition: half of the runs have questions.
func eighth(seed uint64) scenario {
	s := seventh(seed)
	r := rand.New(rand.NewPCG(seed, 10))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 8
	if r.IntN(2) == 0 {
		return s
	}
	s.questions, s.blocking, s.replies = pick(10, 40), pick(0, 50, 100), pick(10, 50, 90)
	return s
}

// wonder has the agent ask now and then, which does not end its turn.
func (a *agent) wonder() {
	if a.w.scenario.questions > 0 && a.w.chance(a.w.scenario.questions) {
		a.w.users.drop(event.CommandReceived{
			Kind: event.CommandAsk, From: event.FromAgent + ":sim", Text: a.w.long(fmt.Sprintf("which way, %d?", a.w.rng.IntN(8))),
			Blocks: a.w.chance(a.w.scenario.blocking),
		})
	}
}

// reply is an answer of a person, or of the agent itself, which may not answer.
func (p *users) reply() event.CommandReceived {
	asked := 0
	for _, c := range p.commands {
		if c.Kind == event.CommandAsk {
			asked++
		}
	}
	c := event.CommandReceived{Kind: event.CommandAnswer, Question: 1 + p.w.rng.IntN(asked+2), Text: fmt.Sprintf("left %d", len(p.commands))}
	if p.w.rng.IntN(10) == 0 {
		c.From = event.FromAgent + ":sim"
	}
	return c
}

// questionModel notes which questions are open.
type questionModel struct {
	asked  int
	blocks map[int]bool   // of all, by number
	open   map[int]bool   // by number
	given  map[string]int // answers that the agent does not have, by command
	from   map[string]string
}

func (q *questionModel) read(e event.Event) {
	if q.blocks == nil {
		q.blocks, q.open, q.given, q.from = map[int]bool{}, map[int]bool{}, map[string]int{}, map[string]string{}
	}
	switch e.Type {
	case event.TypeCommandReceived:
		p := as[event.CommandReceived](e)
		q.from[p.ID] = p.From
	case event.TypeQuestionAsked:
		p := as[event.QuestionAsked](e)
		q.asked = p.Number
		q.blocks[p.Number], q.open[p.Number] = p.Blocks, true
	case event.TypeQuestionAnswered:
		p := as[event.QuestionAnswered](e)
		delete(q.open, p.Number)
		q.given[p.Command] = p.Number
	case event.TypeCommandDelivered:
		delete(q.given, as[event.CommandDelivered](e).ID)
	case event.TypeCommandRefused:
		id := as[event.CommandRefused](e).ID
		if number, ok := q.given[id]; ok {
			q.open[number] = true
			delete(q.given, id)
		}
	}
}

// blocking reports whether a question is open without whose answer the work is not done.
func (q *questionModel) blocking() bool {
	for number := range q.open {
		if q.blocks[number] {
			return true
		}
	}
	return false
}

// checkQuestions follows each question from its number to its answer.
func (w *world) checkQuestions(events []event.Event) {
	var q questionModel
	for _, e := range events {
		switch e.Type {
		case event.TypeQuestionAsked:
			if p := as[event.QuestionAsked](e); p.Number != q.asked+1 {
				w.violate(questionsNumbered, "event %d: question %d comes after question %d", e.Seq, p.Number, q.asked)
			}
		case event.TypeQuestionAnswered:
			p := as[event.QuestionAnswered](e)
			if !q.open[p.Number] {
				w.violate(questionsAnswered, "event %d: question %d is answered, and is not open", e.Seq, p.Number)
			}
			if q.from[p.Command] == event.FromAgent+":sim" {
				w.violate(questionsAnswered, "event %d: the agent answers its question %d", e.Seq, p.Number)
			}
		case event.TypeCompletionAccepted:
			if q.blocking() {
				w.violate(claimsHold, "event %d: a claim is accepted, and a question that blocks is open", e.Seq)
			}
		case event.TypeLoopEnded:
			w.checkListed(&q, e)
		}
		q.read(e)
	}
}

func (w *world) checkListed(q *questionModel, e event.Event) {
	want := append(slices.Collect(maps.Keys(q.open)), slices.Collect(maps.Values(q.given))...)
	slices.Sort(want)
	var listed []int
	for _, question := range as[event.LoopEnded](e).Questions {
		listed = append(listed, question.Number)
	}
	if !slices.Equal(want, listed) {
		w.violate(questionsListed, "event %d: the end lists the questions %v, and %v have no answer that the agent has", e.Seq, listed, want)
	}
}

// curious is a scenario of many questions that block, and of claims.
func curious(s *scenario) {
	s.questions, s.blocking, s.replies, s.claims, s.trouble, s.commands = 60, 100, 60, 80, 0, 30
	s.stories, s.rules.Stories, s.rules.Guardrails, s.asks, s.hopeless = 0, false, 0, 0, false
}

var wrongQuestions = []wrong{
	{"a question that blocks is overlooked", mutation{folded: always(func(s *loopstate.State) {
		for i := range s.Questions.List {
			s.Questions.List[i].Blocks = false
		}
	}), unfolded: true, stage: curious}, claimsHold},
	{"a number is used again", mutation{folded: always(func(s *loopstate.State) { s.Questions.Asked = min(s.Questions.Asked, 1) }), unfolded: true, stage: curious}, questionsNumbered},
	{"an answer is forgotten", mutation{folded: always(func(s *loopstate.State) {
		for i := range s.Questions.List {
			s.Questions.List[i].AnsweredAt = time.Time{}
		}
	}), unfolded: true, stage: curious}, questionsAnswered},
}
