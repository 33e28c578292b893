package projector

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Telemetry is what one iteration came to: iterations/NNN.json.
type Telemetry struct {
	N           int           `json:"n"`
	Agent       string        `json:"agent,omitempty"` // its name, where the loop has several
	Outcome     event.Outcome `json:"outcome"`
	Error       string        `json:"error,omitempty"`
	Started     time.Time     `json:"started"`
	Ended       time.Time     `json:"ended"`
	Took        int64         `json:"took"` // milliseconds
	Usage       event.Usage   `json:"usage"`
	Tools       int           `json:"tools"`
	ToolsFailed int           `json:"toolsFailed"`
	Turns       int           `json:"turns"`             // answers of the model, as far as the agent shows them
	Messages    int           `json:"messages"`          // blocks of text the agent said
	Summary     string        `json:"summary,omitempty"` // the beginning of the agent's final message
	Retries     int           `json:"retries"`
	Refunded    bool          `json:"refunded,omitempty"`
	Claimed     string        `json:"claimed,omitempty"`
	Refused     []string      `json:"refused,omitempty"`
	// What ralph itself found out behind the turn.
	Guardrails int      `json:"guardrails,omitempty"` // that ran
	Failed     []string `json:"failed,omitempty"`     // of these, by their commands
	Progress   string   `json:"progress,omitempty"`   // yes or no by what the files show; empty where nothing shows it
	Commit     *Commit  `json:"commit,omitempty"`     // the work of the iteration, where version control took it
	Unkept     string   `json:"unkept,omitempty"`     // why version control did not
	LastSeq    uint64   `json:"lastSeq"`              // of its iteration.ended
}

// Commit is a commit that the loop made.
type Commit struct {
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

// commit notes what became of the open iteration's work in version control.
func (s *State) commit(e event.Event) error {
	switch e.Type {
	case event.TypeIterationStarted:
		s.Commit = nil
	case event.TypeRepoCommitted:
		p, err := event.As[event.RepoCommitted](e)
		if err != nil {
			return err
		}
		subject, _, _ := strings.Cut(p.Message, "\n")
		s.Commit = &Commit{SHA: p.SHA, Subject: beginning(subject, subjectMost)}
	}
	return nil
}

// summarise makes the telemetry of the iteration that e ends, before the policies
// begin to count anew.
func (s *State) summarise(e event.Event) error {
	p, err := event.As[event.IterationEnded](e)
	if err != nil {
		return err
	}
	meter := s.Budget.Current
	s.Last = &Telemetry{
		N: p.N, Agent: s.Life.Worker.Name, Outcome: p.Outcome, Error: p.Error, Started: s.Life.Since, Ended: e.At, Took: p.Took,
		Usage: p.Usage, Tools: p.Tools, ToolsFailed: meter.Failed, Turns: meter.Turns, Messages: meter.Said, Retries: meter.Retries,
		Summary:  beginning(strings.TrimSpace(strings.ToValidUTF8(s.Completion.Text.String(), "\ufffd")), summaryMost),
		Refunded: p.Refunded, Claimed: s.Completion.Claimed, Refused: s.Completion.Refused, LastSeq: e.Seq,
		Guardrails: s.Gate.Ran, Progress: p.Progress, Commit: s.Commit, Unkept: s.Gate.Commit,
	}
	for _, failure := range s.Gate.Failures {
		s.Last.Failed = append(s.Last.Failed, failure.Name)
	}
	return nil
}
