package loop

import (
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Questions of the agent, and the answers of people.

// ask opens a question or refuses it.
func ask(s *State, c policy.Message) []Decision {
	asked, refused := s.Questions.Ask(c)
	if refused != "" {
		return refuse(c.ID, refused)
	}
	return record(asked, delivered(s, c.ID))
}

// bind closes the question of an answer, which is a message to the agent from then on, or refuses
// the answer. There may be as many unread messages as [policy.Commands] allows.
func bind(s *State, c policy.Message) []Decision {
	waiting, length := 0, len(c.Text)
	for _, message := range s.Commands.Messages() {
		waiting, length = waiting+1, length+len(message.Text)
	}
	if waiting >= policy.MaxOpen || length > policy.MaxBytes {
		return refuse(c.ID, tooMany)
	}
	answered, refused := s.Questions.Answer(c)
	if refused != "" {
		return refuse(c.ID, refused)
	}
	return record(answered)
}

// awaited returns the question whose answer the loop waits for, and says so; 0 if there is other
// work.
func awaited(s *State) (question int, why string) {
	if len(s.Verification.Missing(s.Rules)) > 0 {
		return 0, ""
	}
	return s.Questions.Awaited()
}

const tooMany = "too many messages wait already"
