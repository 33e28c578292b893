package policy

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Restart says whether and when the next iteration may begin after one that
// failed. Each failure in a row doubles the delay, up to five minutes; one more
// than restart.max in a row is the end. An agent that cannot be found or may not be
// run will not be there next time either. As many failures as breaker.environment in a row that are over
// within two seconds and say the same (but for ids, numbers and times) mean that something around the agent is
// broken; a model that refused to answer is no such thing. As many empty iterations in a row, in which the agent did not reach its model,
// mean the same. An iteration that went well, or that failed with progress in the files, clears
// the counts. An agent whose process ends with each
// turn is started again after restart.delay also when it went well.
type Restart struct {
	Failures int       `json:"failures,omitempty"` // in a row
	Instant  int       `json:"instant,omitempty"`  // of these, the last ones that were over at once and said the same
	Empty    int       `json:"empty,omitempty"`    // of these, the last ones that were empty
	Error    string    `json:"error,omitempty"`
	Alike    string    `json:"alike,omitempty"` // what the last ones said: see alike
	NotUntil time.Time `json:"notUntil,omitzero"`
	// Refused says that the model refused to answer in the open iteration.
	Refused bool `json:"refused,omitempty"`
}

const (
	instantTook = 2000 // milliseconds
	// instantMax is the rule Environment where a journal has none.
	instantMax   = 3
	restartLimit = 5 * time.Minute
)

// Apply folds one event. The rules are those in force when it happened.
// exitEnds says that the agent's process ends with each turn.
func (s *Restart) Apply(e event.Event, r event.Rules, exitEnds bool) error {
	if e.Type == event.TypeLoopResumed {
		*s = Restart{}
	}
	if e.Type == event.TypeAgentFinished {
		s.Refused = string(e.Field("kind")) == `"`+KindRefusal+`"`
	}
	if e.Type != event.TypeIterationEnded {
		return nil
	}
	p, err := event.As[event.IterationEnded](e)
	if err != nil {
		return err
	}
	switch p.Outcome {
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeOverspent, event.OutcomeEmpty:
		s.fail(p, e.At, r)
	case event.OutcomeDone:
		*s = Restart{}
		if exitEnds {
			s.NotUntil = e.At.Add(milliseconds(r.RestartDelay))
		}
	}
	return nil
}

func (s *Restart) fail(p event.IterationEnded, at time.Time, r event.Rules) {
	same := alike(p.Error)
	if p.Progress == "yes" {
		s.Failures = 0
	}
	s.Failures++
	s.Empty++
	if p.Outcome != event.OutcomeEmpty {
		s.Empty = 0
	}
	switch {
	case p.Outcome != event.OutcomeFailed || p.Took >= instantTook || s.Refused || p.Progress == "yes":
		s.Instant = 0
	case s.Alike == same:
		s.Instant++
	default:
		s.Instant = 1
	}
	s.Error, s.Alike, s.Refused = lastBytes(p.Error, 1024), same, false
	delay := milliseconds(r.RestartDelay)
	limit := max(delay, restartLimit)
	for range min(s.Failures-1, 20) {
		delay = min(delay*2, limit)
	}
	s.NotUntil = at.Add(delay)
}

// Fatal says why no further iteration makes sense; an empty reason where one does.
func (s *Restart) Fatal(r event.Rules) (event.Reason, string) {
	most := r.Environment
	if most == 0 {
		most = instantMax
	}
	switch {
	case most > 0 && s.Instant >= most:
		return event.ReasonEnvironment, fmt.Sprintf("the agent failed at once %d times in the same way: %s", s.Instant, s.Error)
	case most > 0 && s.Empty >= most:
		return event.ReasonEnvironment, fmt.Sprintf("%s came to nothing: %s", iterations(s.Empty), s.Error)
	case r.RestartMax > 0 && s.Failures > r.RestartMax:
		return event.ReasonRestarts, fmt.Sprintf("%d iterations failed in a row: %s", s.Failures, s.Error)
	}
	return "", ""
}
