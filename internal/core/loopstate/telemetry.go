package loopstate

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Telemetry is the result of one iteration: iterations/NNN.json. projector.Iteration has the same
// fields for other programs.
type Telemetry struct {
	N           int           `json:"n"`
	Agent       string        `json:"agent,omitempty"` // its name, if the loop has several
	Outcome     event.Outcome `json:"outcome"`
	Error       string        `json:"error,omitempty"`
	Started     time.Time     `json:"started"`
	Ended       time.Time     `json:"ended"`
	Took        int64         `json:"took"` // milliseconds
	Usage       event.Usage   `json:"usage"`
	Tools       int           `json:"tools"`
	ToolsFailed int           `json:"toolsFailed"`
	// answers of the model, if the agent shows them
	Turns    int `json:"turns"`
	Messages int `json:"messages"` // blocks of text the agent said
	// the beginning of the agent's final message
	Summary  string      `json:"summary,omitempty"`
	Retries  int         `json:"retries"`
	Refunded bool        `json:"refunded,omitempty"`
	Claimed  event.Claim `json:"claimed,omitempty"`
	Refused  []string    `json:"refused,omitempty"`
	// What ralph itself found after the turn.
	Guardrails int      `json:"guardrails,omitempty"` // that ran
	Failed     []string `json:"failed,omitempty"`     // of these, by their commands
	// whether the files show progress; empty if that is unknown
	Progress event.Progress `json:"progress,omitempty"`
	// the commit of the iteration's work, if there is one
	Commit  *Commit   `json:"commit,omitempty"`
	Unkept  string    `json:"unkept,omitempty"` // why there is no commit
	LastSeq event.Seq `json:"lastSeq"`          // of its iteration.ended
}

// Commit is a commit that the loop made.
type Commit = struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"` // the first line of its message
}

// Bounds, in characters.
const (
	subjectMost = 200  // of a commit's subject
	summaryMost = 1000 // of an agent's final message
)

// beginning returns the first characters of a text.
func beginning(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// iterations notes the commit of an iteration's work, and makes the telemetry of an iteration that
// ends, before the policies reset their counts.
func (s *State) iterations(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.IterationStarted:
		s.Commit = nil
	case event.RepoCommitted:
		subject, _, _ := strings.Cut(p.Message, "\n")
		s.Commit = &Commit{SHA: p.SHA, Subject: beginning(subject, subjectMost)}
	case event.IterationEnded:
		s.summarise(e, p)
	}
}

func (s *State) summarise(e event.Event, p event.IterationEnded) {
	meter := s.Budget.Current
	s.Last = &Telemetry{
		N: p.N, Agent: s.Worker.Name, Outcome: p.Outcome, Error: p.Error, Started: s.Lifecycle.Since, Ended: e.At, Took: p.Took,
		Usage: p.Usage, Tools: p.Tools, ToolsFailed: meter.Failed, Turns: meter.Turns, Messages: meter.Said, Retries: meter.Retries,
		Summary:  beginning(strings.TrimSpace(strings.ToValidUTF8(s.Completion.Text.String(), "\ufffd")), summaryMost),
		Refunded: p.Refunded, Claimed: s.Completion.Claimed, Refused: s.Completion.Refused, LastSeq: e.Seq,
		Guardrails: s.Verification.Ran, Progress: p.Progress, Commit: s.Commit, Unkept: s.Verification.Commit,
	}
	for _, failure := range s.Verification.Failures {
		s.Last.Failed = append(s.Last.Failed, failure.Name)
	}
}
