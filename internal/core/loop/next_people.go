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
	a := answers{State: s}
	for _, c := range s.Commands.Open {
		if a.to(c) {
			break
		}
	}
	return a.given
}

// answers are those that commands get in one step.
type answers struct {
	*State
	given            []Decision
	messages, length int // that wait for the agent
}

// to answers a command. last says that no later one is answered in this step: its answer depends on
// what this one changes.
func (a *answers) to(c policy.Message) (last bool) {
	switch {
	case c.Stale:
		return a.refuse(c, "the signal was meant for the runner before")
	case c.Unauthorized != "":
		return a.refuse(c, c.Unauthorized)
	case c.Kind == event.CommandFence:
		return a.refuse(c, fmt.Sprintf("this host has the loop under epoch %d: a fence needs a higher one", a.Ownership.Epoch()))
	case c.Epoch != 0 && !c.Kind.IsAgents() && c.Epoch != a.Ownership.Epoch(): // its own agent is of this epoch
		return a.refuse(c, fmt.Sprintf("it was given when the loop had epoch %d, and it has epoch %d", c.Epoch, a.Ownership.Epoch()))
	}
	switch c.Kind {
	case event.CommandAsk: // it takes the next number
		return a.add(true, ask(a.State, c))
	case event.CommandAnswer, event.CommandSteer, event.CommandFollowUp:
		return a.message(c)
	case event.CommandWithdraw:
		return a.withdraw(c)
	case event.CommandSet:
		rules, err := policy.SetRule(a.Rules, c.Key, c.Val)
		if err != nil {
			return a.refuse(c, err.Error())
		}
		return a.add(true, record(event.LoopConfigured{Key: c.Key, Value: c.Val, Rules: rules}, delivered(a.State, c.ID)))
	case event.CommandResume:
		return a.resume(c)
	case event.CommandPause:
		if lastProof(a.State) {
			return a.refuse(c, "the work is accepted as done, and no iteration follows that could wait: 'ralph stop' ends the proof of the guardrails")
		}
		if question, _ := awaited(a.State); a.NeedsResume() && (a.Paused || question == 0) {
			return a.refuse(c, "the loop is paused already")
		}
		return a.add(true, record(delivered(a.State, c.ID)))
	case event.CommandStop, event.CommandStopNow, event.CommandKill, event.CommandWait, event.CommandBlocked:
		return a.add(true, record(delivered(a.State, c.ID)))
	}
	return a.refuse(c, fmt.Sprintf("%q is not a command that this ralph knows", c.Kind))
}

func (a *answers) add(last bool, decisions []Decision) bool {
	a.given = append(a.given, decisions...)
	return last
}

func (a *answers) refuse(c policy.Message, why string) (last bool) {
	return a.add(false, refuse(c.ID, why))
}

// message binds an answer to its question, steers the agent where it can be steered, and reports
// what the prompt has delivered. Any other message waits.
func (a *answers) message(c policy.Message) (last bool) {
	if c.Kind == event.CommandAnswer && !c.Bound {
		return a.add(true, bind(a.State, c)) // it may close what the next one answers
	}
	if c.Kind != event.CommandAnswer && lastProof(a.State) {
		return a.refuse(c, "the work is accepted as done, and no iteration follows: resume the loop once it has ended, then send it again")
	}
	a.messages, a.length = a.messages+1, a.length+len(c.Text)
	switch {
	case a.messages > policy.MaxOpen || a.length > policy.MaxBytes:
		a.length -= len(c.Text)
		return a.refuse(c, tooMany)
	case c.Prompt != 0 && c.Prompt == a.Iteration && promptGiven(a.State):
		return a.add(false, record(event.CommandDelivered{ID: c.ID, How: "prompt", Iteration: c.Prompt}))
	case c.Kind != event.CommandFollowUp && !c.Sent && !c.Held && c.Prompt == 0 &&
		a.Phase == policy.Turning && a.Process.Live && !a.Commands.Stopping.EndsNow():
		return a.add(false, record(event.Decided{Do: event.DoSteer, Command: c.ID, Iteration: a.Iteration, Why: "a person steers"}))
	}
	return false
}

func (a *answers) withdraw(c policy.Message) (last bool) {
	target, why := a.Commands.Withdrawn(c)
	switch {
	case a.Phase == policy.Beginning: // the prompt that is being composed may have it
		return false
	case len(a.given) > 0: // which may send the message
		return true
	case why != "":
		return a.add(true, refuse(c.ID, why))
	}
	text := units.Cut(units.FirstLine(target.Text), withdrawnMost)
	return a.add(true, record(event.CommandWithdrawn{ID: target.ID, By: c.ID, Text: text}, delivered(a.State, c.ID)))
}

func (a *answers) resume(c policy.Message) (last bool) {
	switch {
	case a.Wait != nil && a.Wait.For == event.WaitPerson:
		return a.add(true, record(event.LoopWaited{For: event.WaitPerson}, delivered(a.State, c.ID)))
	case !a.Paused && (a.Hold != nil || a.Wait != nil && a.Wait.For == event.WaitHeld):
		return a.add(true, record(event.LoopReleased{Person: true}, delivered(a.State, c.ID)))
	case a.Paused || a.Commands.Pausing:
		return a.add(true, record(event.LoopUnpaused{}, delivered(a.State, c.ID)))
	}
	return a.refuse(c, "the loop is not paused")
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
	case s.Commands.Pausing && needsPerson(s) == "":
		return append(waited(s), record(event.LoopPaused{Why: "a person paused the loop"})...)
	}
	return nil
}
