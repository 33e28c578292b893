package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

var asking = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// questioned folds events into the questions of a loop.
func questioned(q *policy.Questions, events ...event.Payload) *policy.Questions {
	for i, p := range events {
		q.Apply(asking.Add(time.Duration(i)*time.Second), p)
	}
	return q
}

var (
	askedOne    = event.QuestionAsked{Number: 1, Text: "Postgres\nor SQLite?", Choices: []string{"postgres", "sqlite"}, Blocks: true, Command: "a"}
	askedTwo    = event.QuestionAsked{Number: 2, Text: "Tabs?", Command: "b"}
	answeredOne = event.QuestionAnswered{Number: 1, Question: "Postgres or SQLite?", Text: "postgres", From: "cli:ada", Command: "c"}
)

func TestQuestionsAreAnsweredOnce(t *testing.T) {
	answer := policy.Message{ID: "c", Question: 1, Text: "postgres", From: "cli:ada"}
	for name, row := range map[string]struct {
		story  []event.Payload
		answer policy.Message
		want   event.QuestionAnswered
		why    string
	}{
		"an open question":                     {[]event.Payload{askedOne, askedTwo}, answer, answeredOne, ""},
		"a question that does not exist":       {[]event.Payload{askedOne}, policy.Message{Question: 2}, event.QuestionAnswered{}, "there is no question 2"},
		"no number":                            {[]event.Payload{askedOne}, policy.Message{}, event.QuestionAnswered{}, "there is no question 0"},
		"a question with an answer":            {[]event.Payload{askedOne, answeredOne}, answer, event.QuestionAnswered{}, "question 1 has an answer already"},
		"... that the agent has":               {[]event.Payload{askedOne, answeredOne, event.CommandDelivered{ID: "c"}}, answer, event.QuestionAnswered{}, "question 1 has an answer already"},
		"a question whose answer was not read": {[]event.Payload{askedOne, answeredOne, event.CommandRefused{ID: "c"}}, answer, answeredOne, ""},
		"the agent's own answer":               {[]event.Payload{askedOne}, policy.Message{Question: 1, From: "agent"}, event.QuestionAnswered{}, "an agent cannot answer its own questions"},
		"what is read stays answered":          {[]event.Payload{askedOne, answeredOne, event.CommandDelivered{ID: "c"}, event.CommandRefused{ID: "c"}}, answer, event.QuestionAnswered{}, "question 1 has an answer already"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := questioned(&policy.Questions{}, row.story...).Answer(row.answer)
			if diff := cmp.Diff(row.want, got); diff != "" || why != row.why {
				t.Errorf("%q, want %q\n%s", why, row.why, diff)
			}
		})
	}
}

func TestAskedQuestionsAreLimited(t *testing.T) {
	q := &policy.Questions{}
	for n := range event.MaxQuestions {
		asked, why := q.Ask(policy.Message{Text: fmt.Sprint("which ", n)})
		if why != "" || asked.Number != n+1 {
			t.Fatalf("question %d: number %d, %q", n+1, asked.Number, why)
		}
		questioned(q, asked)
	}
	if _, why := q.Ask(policy.Message{Text: "one more"}); why != "32 questions are open already" {
		t.Errorf("%q", why)
	}
	questioned(q, event.QuestionAnswered{Number: 7, Text: "so", Command: "x"})
	if _, why := q.Ask(policy.Message{Text: "which 3"}); why != "question 4 asks the same, and is open" {
		t.Errorf("%q", why)
	}
	if asked, why := q.Ask(policy.Message{Text: "which 6"}); why != "" || asked.Number != 33 {
		t.Errorf("number %d, %q: a number is never used again", asked.Number, why)
	}
}

func TestAnsweredQuestionsAreForgotten(t *testing.T) {
	q := questioned(&policy.Questions{}, askedOne)
	for n := 2; n <= 1000; n++ {
		id := fmt.Sprint(n)
		questioned(q, event.QuestionAsked{Number: n, Text: strings.Repeat("é", 900) + id}, event.QuestionAnswered{Number: n, Text: strings.Repeat("é", 4000), Command: id}, event.CommandDelivered{ID: id})
	}
	if len(q.List) != 33 || q.List[0].Number != 1 || q.List[1].Number != 969 || q.Asked != 1000 {
		t.Errorf("%d questions, %d asked", len(q.List), q.Asked)
	}
	data, err := json.Marshal(q)
	if err != nil || len(data) > 100_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	var back policy.Questions
	if err := json.Unmarshal(data, &back); err != nil || cmp.Diff(*q, back) != "" {
		t.Errorf("it reads back otherwise: %v", err)
	}
	if _, why := q.Answer(policy.Message{Question: 2}); why != "question 2 has an answer already" {
		t.Errorf("%q", why)
	}
}

func TestLoopWaitsForAnswers(t *testing.T) {
	refused := event.CompletionRefused{Missing: []string{"question 1 has no answer yet: Postgres or SQLite?"}, Questions: []int{1}}
	more := event.CompletionRefused{Missing: []string{"the guardrail failed", refused.Missing[0]}, Questions: []int{1}}
	idle := event.IterationEnded{Outcome: event.OutcomeDone, Progress: event.ProgressNo}
	const awaited = "an answer to question 1: Postgres or SQLite?"
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"a claim lacks only an answer":            {[]event.Payload{askedOne, askedTwo, refused}, awaited},
		"a claim lacks more":                      {[]event.Payload{askedOne, more}, ""},
		"... and nothing was done":                {[]event.Payload{askedOne, more, idle}, ""},
		"an iteration that changes nothing":       {[]event.Payload{askedOne, idle}, awaited},
		"... while no question blocks":            {[]event.Payload{askedTwo, idle}, ""},
		"an iteration that works":                 {[]event.Payload{askedOne, event.IterationEnded{Outcome: event.OutcomeDone, Progress: event.ProgressYes}}, ""},
		"an iteration that failed":                {[]event.Payload{askedOne, event.IterationEnded{Outcome: event.OutcomeFailed, Progress: event.ProgressNo}}, ""},
		"an answer":                               {[]event.Payload{askedOne, refused, answeredOne}, ""},
		"a person resumes":                        {[]event.Payload{askedOne, refused, event.LoopWaited{For: event.WaitPerson}}, ""},
		"the end of another wait changes nothing": {[]event.Payload{askedOne, refused, event.LoopWaited{For: event.WaitRate}}, awaited},
		"another runner":                          {[]event.Payload{askedOne, refused, event.LoopResumed{}}, ""},
		"several": {[]event.Payload{askedOne, event.QuestionAsked{Number: 2, Text: "which port?", Blocks: true}, idle},
			awaited + " (and to 1 more)"},
	} {
		t.Run(name, func(t *testing.T) {
			number, got := questioned(&policy.Questions{}, row.story...).Awaited()
			if got != row.want || number > 0 != (got != "") || number > 1 {
				t.Errorf("question %d: %q, want %q", number, got, row.want)
			}
		})
	}
}

func TestUnreadQuestionsAreLeft(t *testing.T) {
	q := questioned(&policy.Questions{}, askedOne, askedTwo)
	want := []event.OpenQuestion{{Number: 1, Text: "Postgres or SQLite?", Blocks: true}, {Number: 2, Text: "Tabs?"}}
	if diff := cmp.Diff(want, questioned(q, answeredOne).Unread()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], questioned(q, event.CommandDelivered{ID: "c"}).Unread()); diff != "" {
		t.Error(diff)
	}
}

// A bound answer is a message to the agent, in words that name its question.
func TestAnswersAreMessages(t *testing.T) {
	m := &policy.Commands{}
	m.Apply("inbox", event.CommandReceived{ID: "c", Kind: event.CommandAnswer, Text: "postgres", Question: 1, From: "cli:ada"}, &policy.Lifecycle{})
	if got := m.Messages(); len(got) != 0 {
		t.Errorf("before it is bound: %+v", got)
	}
	m.Apply("loop", answeredOne, &policy.Lifecycle{})
	got := m.Messages()
	if len(got) != 1 || got[0].Text != "Answer to question 1 (Postgres or SQLite?): postgres" || got[0].ID != "c" {
		t.Errorf("%+v", got)
	}
}
