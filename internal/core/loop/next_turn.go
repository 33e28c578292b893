package loop

import (
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The open turn: from the prompt until the agent has exited or is parked.

// warned warns that a limit is near. Before the agent has started, it is unknown whether it reports
// cost and tokens.
func warned(s *State) []Decision {
	if s.Phase == policy.Beginning || s.Phase == policy.Opened || s.Phase == policy.Starting {
		return nil
	}
	running := s.Phase == policy.Turning
	if w, ok := s.Budget.Warning(running, &s.Lifecycle); ok {
		return record(w)
	}
	return nil
}

func overspent(s *State) []Decision {
	if s.Phase != policy.Turning || s.Process.Ending {
		return nil
	}
	if why := s.Budget.Overspent(s.Rules); why != "" {
		return record(event.Decided{Do: event.DoAbort, Iteration: s.Iteration, Outcome: event.OutcomeOverspent, Why: why})
	}
	return nil
}

func overdue(s *State) []Decision {
	deadline, ok := s.Idle.Next(&s.Lifecycle)
	if !ok || s.At.Before(deadline.At) || s.Process.Killing {
		return nil
	}
	d := event.Decided{Do: event.DoAbort, Iteration: s.Iteration}
	switch deadline.Name {
	case policy.TimerIdle:
		d.Outcome, d.Why = event.OutcomeIdle, "the agent was silent for too long"
	case policy.TimerTool:
		d.Outcome, d.Why = event.OutcomeIdle, "a tool was silent for too long"
	case policy.TimerBackground:
		d.Outcome, d.Why = event.OutcomeIdle, "work in the background was silent for too long"
	case policy.TimerIteration:
		d.Outcome, d.Why = event.OutcomeOverlong, "the iteration took too long"
		if s.Idle.Lingering {
			// The agent is gone, and its result counts.
			d.Do, d.Outcome, d.Why = event.DoKill, "", "what the agent left running took too long"
		}
	case policy.TimerExitGrace:
		d.Do, d.Why = event.DoKill, "the process lived on after its final result"
	}
	return record(d)
}

// timeUp cuts short what goes on when limits.duration is used up. It does not cut short a commit:
// each command of it has its own time limit, and an interrupted hook may leave half-written files.
func timeUp(s *State) []Decision {
	why := s.Budget.Late(s.Rules)
	switch {
	case why == "":
		return nil
	case s.Phase == policy.Opened:
		return record(notStarted(s))
	case !s.Timed():
		return nil
	case s.Looking() && s.At.Before(s.TimeUp()):
		return nil
	case s.Phase.Cancellable():
		return cancel(s, why)
	}
	return abortTurn(s, why)
}

// abortTurn ends the present turn, whose iteration is refunded; nil if there is none.
func abortTurn(s *State, why string) []Decision {
	if s.Idle.Lingering && !s.Process.Killing {
		// The agent is gone, and its result counts; only what it left running is ended.
		return record(event.Decided{Do: event.DoKill, Iteration: s.Iteration, Why: why + ", and the agent is gone"})
	}
	if s.Phase.Working() {
		return record(event.Decided{Do: event.DoAbort, Iteration: s.Iteration, Outcome: event.OutcomeAborted, Why: why})
	}
	return nil
}

func faulty(s *State) []Decision {
	if s.Fault == nil {
		return nil
	}
	reason, hint := event.ReasonFault, ""
	switch s.Fault.Class {
	case event.ClassDisk:
		reason = event.ReasonDisk
	case event.ClassConfig:
		// A file is of a kind that it must not be.
		reason, hint = event.ReasonConfig, "repair or remove what it names, then resume the loop"
	}
	return end(s, reason, s.Fault.Where+": "+s.Fault.Error, hint)
}

func release(s *State) []Decision {
	if s.Phase != policy.Finished {
		return nil
	}
	return record(event.Decided{Do: event.DoRelease, Iteration: s.Iteration, Why: "the turn is over", Same: sameSession(s)})
}

func sameSession(s *State) bool { return s.Rules.Context == "same" }

func working(s *State) []Decision {
	switch s.Phase {
	case policy.Between:
		return nil
	case policy.Opened:
		return record(event.Decided{
			Do: event.DoStart, Iteration: s.Iteration, Why: "the prompt is ready",
			Same: s.SessionGoesOn(), Agent: s.Worker.Agent,
		})
	}
	return wait
}
