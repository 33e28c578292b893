package policy

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Restart says whether and when the next iteration may begin after one that failed. Each failure in
// a row doubles the delay, up to five minutes; one more than restart.max in a row ends the loop. An
// agent that cannot be found or may not be run is not tried again. breaker.environment failures in
// a row that are over within two seconds and differ only in ids, numbers and times mean that
// something around the agent is broken; a model's refusal to answer is not among them, nor a lock
// that another program holds. As many empty iterations in a row, in which the agent did not reach
// its model, mean the same. An iteration that went well, or that failed with progress in the files,
// clears the counts. An agent whose process ends with each turn is started again after
// restart.delay, also if the iteration went well.
type Restart struct {
	Failures int `json:"failures,omitempty"` // in a row
	// the last of these that were over at once with the same error
	Instant  int       `json:"instant,omitempty"`
	Empty    int       `json:"empty,omitempty"` // the last of these that were empty
	Error    string    `json:"error,omitempty"`
	Alike    string    `json:"alike,omitempty"` // hash of the last ones' error: see alike
	NotUntil time.Time `json:"notUntil,omitzero"`
	// Refused says that the model refused to answer in the open iteration.
	Refused bool `json:"refused,omitempty"`
}

const (
	instantTook  = 2000 // milliseconds
	restartLimit = 5 * time.Minute
)

// Apply folds one event. was is the loop before it.
func (s *Restart) Apply(at time.Time, p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.LoopResumed:
		*s = Restart{}
	case event.AgentFinished:
		s.Refused = p.Kind == event.KindRefusal
	case event.IterationEnded:
		switch p.Outcome {
		case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeOverspent, event.OutcomeEmpty:
			s.fail(p, at, was.Rules)
		case event.OutcomeDone:
			*s = Restart{}
			if was.Process.ExitEnds {
				s.NotUntil = at.Add(was.Rules.Restart.Delay.Std())
			}
		}
	}
}

func (s *Restart) fail(p event.IterationEnded, at time.Time, r event.Rules) {
	same := alike(p.Error)
	if p.Progress == event.ProgressYes {
		s.Failures = 0
	}
	s.Failures++
	s.Empty++
	if p.Outcome != event.OutcomeEmpty {
		s.Empty = 0
	}
	switch {
	case p.Outcome != event.OutcomeFailed || p.Took >= instantTook || s.Refused || p.Progress == event.ProgressYes || held(p.Error):
		s.Instant = 0
	case s.Alike == same:
		s.Instant++
	default:
		s.Instant = 1
	}
	s.Error, s.Alike, s.Refused = lastBytes(p.Error, 1024), same, false
	delay := r.Restart.Delay.Std()
	s.NotUntil = at.Add(doubled(delay, s.Failures-1, max(delay, restartLimit)))
}

// doubled doubles a delay n times, up to a limit.
func doubled(delay time.Duration, n int, limit time.Duration) time.Duration {
	for range min(n, 20) {
		delay = min(delay*2, limit)
	}
	return delay
}

// Fatal says why no further iteration makes sense; an empty reason if one does.
func (s *Restart) Fatal(r event.Rules) (event.Reason, string) {
	most := r.Breaker.Environment
	switch {
	case most > 0 && s.Instant >= most:
		return event.ReasonEnvironment, fmt.Sprintf("the agent failed at once %d times in the same way: %s", s.Instant, s.Error)
	case most > 0 && s.Empty >= most:
		return event.ReasonEnvironment, fmt.Sprintf("%s came to nothing: %s", iterations(s.Empty), s.Error)
	case r.Restart.Max > 0 && s.Failures > r.Restart.Max:
		return event.ReasonRestarts, fmt.Sprintf("%d iterations failed in a row: %s", s.Failures, s.Error)
	}
	return "", ""
}
