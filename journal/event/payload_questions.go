package event

import "fmt"

// The events of questions that the agent asks a person while it works on.

// QuestionAsked: the agent asked a question, and works on.
type QuestionAsked struct {
	Number int    `json:"number"` // from 1 in the loop; never used again
	Text   string `json:"text"`
	// Choices are answers that the agent expects. A person may answer otherwise.
	Choices []string `json:"choices,omitempty"`
	// Blocks says that the work is not done while the question is open.
	Blocks  bool   `json:"blocks,omitempty"`
	Command string `json:"command"` // id of the command that asked
}

// QuestionAnswered: the question is closed. command.delivered says when the agent has the answer;
// if command.refused follows, it never had it, and the question is open again.
type QuestionAnswered struct {
	Number   int    `json:"number"`
	Question string `json:"question"`       // the beginning of the question's text, on one line
	Text     string `json:"text"`           // the answer
	From     string `json:"from,omitempty"` // interface and sender, such as cli:ada@mill
	Command  string `json:"command"`        // id of the command that answered
}

// Message is what the agent is given.
func (p QuestionAnswered) Message() string {
	return fmt.Sprintf("Answer to question %d (%s): %s", p.Number, p.Question, p.Text)
}

// OpenQuestion is a question that has no answer at the end of a loop.
type OpenQuestion struct {
	Number int    `json:"number"`
	Text   string `json:"text"` // of a long one the beginning
	Blocks bool   `json:"blocks,omitempty"`
}

// String says it in a sentence for a person.
func (q OpenQuestion) String() string {
	return fmt.Sprintf("question %d has no answer: %s", q.Number, q.Text)
}
