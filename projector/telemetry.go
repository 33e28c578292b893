package projector

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Telemetry is what one iteration came to: iterations/NNN.json.
type Telemetry struct {
	N           int           `json:"n"`
	Outcome     event.Outcome `json:"outcome"`
	Error       string        `json:"error,omitempty"`
	Started     time.Time     `json:"started"`
	Ended       time.Time     `json:"ended"`
	Took        int64         `json:"took"` // milliseconds
	Usage       event.Usage   `json:"usage"`
	Tools       int           `json:"tools"`
	ToolsFailed int           `json:"toolsFailed"`
	Messages    int           `json:"messages"` // blocks of text the agent said
	Retries     int           `json:"retries"`
	Refunded    bool          `json:"refunded,omitempty"`
	Claimed     string        `json:"claimed,omitempty"`
	Refused     []string      `json:"refused,omitempty"`
	LastSeq     uint64        `json:"lastSeq"` // of its iteration.ended
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
		N: p.N, Outcome: p.Outcome, Error: p.Error, Started: s.Life.Since, Ended: e.At, Took: p.Took,
		Usage: p.Usage, Tools: p.Tools, ToolsFailed: meter.Failed, Messages: meter.Said, Retries: meter.Retries,
		Refunded: p.Refunded, Claimed: s.Completion.Claimed, Refused: s.Completion.Refused, LastSeq: e.Seq,
	}
	return nil
}
