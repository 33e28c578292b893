package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// What people ask for: the rules that follow from commands.

// answer answers every command that can be answered now. A message is answered when the agent has
// it.
func answer(s *State) []Decision {
	var decisions []Decision
	words, length := 0, 0
	for _, c := range s.Commands.Open {
		if c.Stale {
			decisions = append(decisions, refuse(c.ID, "the signal was meant for the runner before")...)
			continue
		}
		if c.Unauthorized != "" {
			decisions = append(decisions, refuse(c.ID, c.Unauthorized)...)
			continue
		}
		switch c.Kind {
		case event.CommandAsk:
			return append(decisions, ask(s, c)...) // one at a time: it takes the next number
		case event.CommandAnswer, event.CommandSteer, event.CommandFollowUp:
			if c.Kind == event.CommandAnswer && !c.Bound {
				return append(decisions, bind(s, c)...) // one at a time: it may close what the next one answers
			}
			words, length = words+1, length+len(c.Text)
			if words > policy.MaxOpen || length > policy.MaxBytes {
				decisions = append(decisions, refuse(c.ID, tooMany)...)
				length -= len(c.Text)
			} else if c.Prompt != 0 && c.Prompt == s.Iteration && promptGiven(s) {
				decisions = append(decisions, record(event.CommandDelivered{ID: c.ID, How: "prompt", Iteration: c.Prompt})...)
			} else if c.Kind != event.CommandFollowUp && !c.Sent && !c.Held && c.Prompt == 0 &&
				s.Phase == policy.Turning && s.Process.Live && !s.Commands.Stopping.EndsNow() {
				decisions = append(decisions, record(event.Decided{Do: event.DoSteer, Command: c.ID, Iteration: s.Iteration, Why: "a person steers"})...)
			}
		case event.CommandWithdraw:
			switch target, why := s.Commands.Withdrawn(c); {
			case s.Phase == policy.Beginning: // the prompt that is being composed may have it
				continue
			case len(decisions) > 0: // which may send the message
				return decisions
			case why != "":
				return refuse(c.ID, why)
			default:
				return record(event.CommandWithdrawn{ID: target.ID, By: c.ID, Text: units.Cut(units.FirstLine(target.Text), withdrawnMost)}, delivered(s, c.ID))
			}
		case event.CommandSet:
			rules, err := policy.SetRule(s.Rules, c.Key, c.Val)
			if err != nil {
				decisions = append(decisions, refuse(c.ID, err.Error())...)
				continue
			}
			// One at a time: the next one needs the rules that this one changes.
			return append(decisions, record(event.LoopConfigured{Key: c.Key, Value: c.Val, Rules: rules}, delivered(s, c.ID))...)
		case event.CommandResume:
			switch {
			case s.Wait != nil && s.Wait.For == event.WaitPerson:
				return append(decisions, record(event.LoopWaited{For: event.WaitPerson}, delivered(s, c.ID))...)
			case !s.Paused && (s.Hold != nil || s.Wait != nil && s.Wait.For == event.WaitHeld):
				return append(decisions, record(event.LoopReleased{Person: true}, delivered(s, c.ID))...)
			case s.Paused || s.Commands.Pausing:
				return append(decisions, record(event.LoopUnpaused{}, delivered(s, c.ID))...)
			}
			decisions = append(decisions, refuse(c.ID, "the loop is not paused")...)
		case event.CommandPause:
			if question, _ := awaited(s); s.NeedsResume() && (s.Paused || question == 0) {
				decisions = append(decisions, refuse(c.ID, "the loop is paused already")...)
				continue
			}
			return append(decisions, record(delivered(s, c.ID))...)
		case event.CommandStop, event.CommandStopNow, event.CommandKill, event.CommandWait, event.CommandBlocked:
			return append(decisions, record(delivered(s, c.ID))...)
		default:
			decisions = append(decisions, refuse(c.ID, fmt.Sprintf("%q is not a command that this ralph knows", c.Kind))...)
		}
	}
	return decisions
}

// withdrawnMost is how much of a withdrawn message its event repeats.
const withdrawnMost = 200

// promptGiven reports whether the agent of the open iteration has its prompt.
func promptGiven(s *State) bool {
	return s.Phase.Open() && s.Phase != policy.Opened && s.Phase != policy.Starting && (s.Process.PID != 0 || s.Exited != nil)
}

func delivered(s *State, id string) event.CommandDelivered {
	return event.CommandDelivered{ID: id, How: "loop", Iteration: s.Iteration}
}

func refuse(id, why string) []Decision { return record(event.CommandRefused{ID: id, Why: why}) }

func killed(s *State) []Decision {
	if s.Commands.Stopping != event.CommandKill {
		return nil
	}
	if decisions := cancel(s, "a person killed the loop"); decisions != nil {
		return decisions
	}
	if s.Process.Killing {
		return nil
	}
	if !s.Process.Alive && s.Phase != policy.Starting {
		return nil
	}
	return record(event.Decided{Do: event.DoKill, Iteration: s.Iteration, Outcome: event.OutcomeAborted, Why: "a person killed the loop"})
}

// cancel ends a running inspection, guardrails and tasks, if there are any.
func cancel(s *State, why string) []Decision {
	if s.Phase.Cancellable() && !s.Cancelled {
		return record(event.Decided{Do: event.DoCancel, Iteration: s.Iteration, Why: why})
	}
	return nil
}

func stoppedNow(s *State) []Decision {
	if !s.Commands.Stopping.EndsNow() {
		return nil
	}
	if s.Phase == policy.Opened {
		return record(notStarted(s))
	}
	if decisions := cancel(s, "a person stopped the loop now"); decisions != nil {
		return decisions
	}
	if s.Commands.Stopping == event.CommandKill {
		return nil
	}
	if decisions := abortTurn(s, "a person stopped the loop now"); decisions != nil {
		return decisions
	}
	if s.Phase == policy.Finished {
		return record(event.Decided{Do: event.DoAbort, Iteration: s.Iteration, Why: "a person stopped the loop now"})
	}
	return nil
}

func stopped(s *State) []Decision {
	switch s.Commands.Stopping {
	case "":
		return nil
	case event.CommandKill:
		return end(s, event.ReasonKill, "a person killed the loop", "")
	}
	if s.Commands.Signal {
		return end(s, event.ReasonInterrupt, "a signal asked the loop to stop", "")
	}
	return end(s, event.ReasonStop, "a person stopped the loop", "")
}

// paused: a wait for a person comes before a pause, because a resume ends both.
func paused(s *State) []Decision {
	switch {
	case s.Paused:
		return wait
	case s.Commands.Pausing && s.Escalation.Waits == "":
		return append(waited(s), record(event.LoopPaused{Why: "a person paused the loop"})...)
	}
	return nil
}
