package policy

import (
	"github.com/ralph-loop/ralph/journal/event"
)

// Seal says what the guardrails consisted of before an agent was let at it, and whose doing it is
// when that is otherwise now. From the moment when an agent is to be started until a check has
// looked, it is the agent's, however many iterations, runners and crashes lie between. Once a check has
// looked, what changes before the next agent starts was changed by a person, and is sealed anew.
// A person who changes a file while the agent's doing is not looked at yet has to say so when
// the loop is resumed.
type Seal struct {
	Files []event.SealedFile `json:"files,omitempty"`
	// Held says that an agent may have been at work since a check looked last.
	Held bool `json:"held,omitempty"`
}

// sealedMost bounds what a checkpoint holds: far more than guardrails that a person has written down
// consist of.
const sealedMost = 256

// Apply folds one event.
func (s *Seal) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted:
		*s = Seal{}
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		if !s.Held || p.Resealed {
			*s = Seal{}
		}
	case event.TypeGuardrailSealed:
		p, err := event.As[event.GuardrailSealed](e)
		if err != nil {
			return err
		}
		s.Files = p.Files[:min(len(p.Files), sealedMost)]
	case event.TypeDecided:
		if string(e.Field("do")) == `"`+event.DoStart+`"` {
			s.Held = len(s.Files) > 0
		}
	case event.TypeIterationChecked:
		s.Held = false
	}
	return nil
}
