package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// What people ask for: each rule of the table that begins with a command.

// answer gives every command its answer that has one now. Words for the agent
// are answered when the agent has them.
func answer(s *State) []Decision {
	var decisions []Decision
	words, length := 0, 0
	for _, c := range s.Mail.Open {
		if c.Stale {
			decisions = append(decisions, refuse(c.ID, "the signal was meant for the runner before")...)
			continue
		}
		switch c.Kind {
		case policy.Steer, policy.FollowUp:
			words, length = words+1, length+len(c.Text)
			if words > policy.MaxOpen || length > policy.MaxBytes {
				decisions = append(decisions, refuse(c.ID, "too many messages wait already")...)
				length -= len(c.Text)
			} else if c.Prompt != 0 && c.Prompt == s.Life.Iteration && promptGiven(s) {
				decisions = append(decisions, record(event.CommandDelivered{ID: c.ID, How: "prompt", Iteration: c.Prompt})...)
			} else if c.Kind == policy.Steer && !c.Sent && !c.Held && c.Prompt == 0 &&
				s.Life.Phase == policy.Turning && s.Life.Process.Live && s.Mail.Stopping != policy.StopNow && s.Mail.Stopping != policy.Kill {
				decisions = append(decisions, do(event.Decided{Do: event.DoSteer, Command: c.ID, Iteration: s.Life.Iteration, Why: "a person steers"})...)
			}
		case policy.Set:
			rules, err := policy.SetRule(s.Budget.Rules, c.Key, c.Val)
			if err != nil {
				decisions = append(decisions, refuse(c.ID, err.Error())...)
				continue
			}
			// One at a time: the next one starts from what this one made of the state.
			return append(decisions, record(event.LoopConfigured{Key: c.Key, Value: c.Val, Rules: rules}, delivered(s, c.ID))...)
		case policy.Resume:
			if !s.Life.Paused && !s.Mail.Pausing {
				decisions = append(decisions, refuse(c.ID, "the loop is not paused")...)
				continue
			}
			return append(decisions, record(event.LoopUnpaused{}, delivered(s, c.ID))...)
		case policy.Pause:
			if s.Life.Paused {
				decisions = append(decisions, refuse(c.ID, "the loop is paused already")...)
				continue
			}
			return append(decisions, record(delivered(s, c.ID))...)
		case policy.Stop, policy.StopNow, policy.Kill, policy.Wait, policy.Blocked:
			return append(decisions, record(delivered(s, c.ID))...)
		default:
			decisions = append(decisions, refuse(c.ID, fmt.Sprintf("%q is not a command that this ralph knows", c.Kind))...)
		}
	}
	return decisions
}

// promptGiven reports whether the agent of the open iteration has its prompt.
func promptGiven(s *State) bool {
	switch s.Life.Phase {
	case policy.Turning, policy.Finished, policy.Leaving, policy.Gone, policy.Checking, policy.Checked, policy.Committing, policy.Settled:
		return s.Life.Process.PID != 0 || s.Life.Exited != nil
	}
	return false
}

func delivered(s *State, id string) event.CommandDelivered {
	return event.CommandDelivered{ID: id, How: "loop", Iteration: s.Life.Iteration}
}

func refuse(id, why string) []Decision { return record(event.CommandRefused{ID: id, Why: why}) }

func killed(s *State) []Decision {
	if s.Mail.Stopping != policy.Kill {
		return nil
	}
	if decisions := cancel(s, "a person killed the loop"); decisions != nil {
		return decisions
	}
	if s.Life.Process.Killing {
		return nil
	}
	if !s.Life.Process.Alive && s.Life.Phase != policy.Starting {
		return nil
	}
	return do(event.Decided{Do: event.DoKill, Iteration: s.Life.Iteration, Outcome: string(event.OutcomeAborted), Why: "a person killed the loop"})
}

// cancel ends the look, the guardrails and the tasks that run, if there are any.
func cancel(s *State, why string) []Decision {
	switch s.Life.Phase {
	case policy.Beginning, policy.Checking, policy.Committing, policy.Verifying:
		if !s.Life.Cancelled {
			return do(event.Decided{Do: event.DoCancel, Iteration: s.Life.Iteration, Why: why})
		}
	}
	return nil
}

func cutShort(s *State) []Decision {
	if s.Mail.Stopping != policy.StopNow && s.Mail.Stopping != policy.Kill {
		return nil
	}
	if s.Life.Phase == policy.Opened {
		return record(unbegun(s))
	}
	if decisions := cancel(s, "a person stopped the loop now"); decisions != nil {
		return decisions
	}
	if s.Mail.Stopping == policy.Kill {
		return nil
	}
	if decisions := breakOff(s, "a person stopped the loop now"); decisions != nil {
		return decisions
	}
	if s.Life.Phase == policy.Finished {
		return do(event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration, Why: "a person stopped the loop now"})
	}
	return nil
}

func stopped(s *State) []Decision {
	switch s.Mail.Stopping {
	case "":
		return nil
	case policy.Kill:
		return end(s, event.ReasonKill, "a person killed the loop", "")
	}
	if s.Mail.Signal {
		return end(s, event.ReasonInterrupt, "a signal asked the loop to stop", "")
	}
	return end(s, event.ReasonStop, "a person stopped the loop", "")
}

func waiting(s *State) []Decision {
	switch {
	case s.Person.Waits == "" || s.Life.Paused:
		return nil
	case s.Budget.Rules.WaitEnds:
		return end(s, event.ReasonWait, s.Person.Waits, "do what it waits for, then resume the loop")
	}
	return record(event.LoopPaused{Why: s.Person.Waits, For: "person"})
}

func paused(s *State) []Decision {
	switch {
	case s.Life.Paused:
		return wait
	case s.Mail.Pausing:
		return record(event.LoopPaused{Why: "a person paused the loop"})
	}
	return nil
}
