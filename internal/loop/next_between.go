package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Between two iterations: whether the loop ends, waits or goes on.

func ended(s *State) []Decision {
	if s.Life.Started.IsZero() || s.Life.Ended != nil {
		return wait
	}
	return nil
}

func interrupted(s *State) []Decision {
	if !s.Life.Broken {
		return nil
	}
	return record(conclusion(s))
}

func completed(s *State) []Decision {
	how := s.Completion.Accepted
	if how == "" {
		return nil
	}
	hint := ""
	if s.Gate.Commit != "" {
		// Who reads of an end that all is done, looks no further.
		hint = "not all of it is in version control: 'ralph status' says why"
	}
	switch how {
	case policy.ByDoneFile:
		return end(s, event.ReasonDoneFile, "the file DONE is there, and nothing is missing", hint)
	case policy.ByChecklist:
		return end(s, event.ReasonChecklist, "all boxes of task.md are ticked, and nothing is missing", hint)
	}
	return end(s, event.Reason(how), fmt.Sprintf("the agent gave the %s, and nothing is missing", how), hint)
}

func hopeless(s *State) []Decision {
	if unfit := unfit(s); unfit.Reason != "" && !several(s) {
		return end(s, unfit.Reason, unfit.Why, unfit.Hint)
	}
	f := s.Life.Failed
	switch {
	case f == nil:
		return nil
	case f.Class == event.ClassDisk:
		return end(s, event.ReasonDisk, f.Error, f.Hint)
	case f.Do != event.DoBegin:
		return nil
	}
	switch f.Class {
	case event.ClassMissing, event.ClassPermission, event.ClassConfig:
		return end(s, event.ReasonConfig, f.Error, f.Hint)
	}
	return end(s, event.ReasonFault, f.Error, f.Hint)
}

func blocked(s *State) []Decision {
	why := orElse(s.Person.Blocked, s.Completion.Blocked())
	if why == "" {
		return nil
	}
	return end(s, event.ReasonBlocked, "the agent is blocked: "+why, "give it what it needs, then resume the loop")
}

func limited(s *State) []Decision {
	if several(s) {
		if decisions := exhausted(s); decisions != nil {
			return decisions
		}
	} else if standing := policy.Stand(&s.Limits, &s.Restart, s.Budget.Rules); standing.Reason != "" {
		return end(s, standing.Reason, standing.Why, nextStep(standing.Reason, standing.Hint, s.Life.Agent))
	}
	if reason, why := s.Budget.Over(); reason != "" {
		return end(s, reason, why, "")
	}
	return nil
}

// nextStep is what a person can do about an agent that is not tried again: how this very one is logged in, where that is known.
func nextStep(reason event.Reason, hint string, agent event.Agent) string {
	if reason == event.ReasonAuth && agent.Login != "" {
		return agent.Login + ", then resume the loop"
	}
	return hint
}

const hintStuck = "look at what the agent says with 'ralph logs', change the task, then resume the loop"

func stuck(s *State) []Decision {
	if s.Breaker.Stop != "" {
		return end(s, event.ReasonBreaker, s.Breaker.Stop, hintStuck)
	}
	if trip, ok := s.Breaker.Trip(s.Budget.Rules); ok {
		return record(trip)
	}
	return nil
}

func delayed(s *State) []Decision {
	if s.At.Before(s.Delay().At) {
		return wait
	}
	return nil
}

func begin(s *State) []Decision {
	var ids []string
	for _, message := range s.Mail.Words() {
		ids = append(ids, message.ID)
	}
	n := s.Life.Iteration + 1
	return do(event.Decided{
		Do: event.DoBegin, Iteration: n, Commands: ids, Agent: s.Failover.Agent, Reflect: s.Reflection.Due(n, s.Budget.Rules),
	})
}

// end ends the loop once its agent is gone. Words that nobody will read any more
// are given back to who sent them.
func end(s *State, reason event.Reason, why, hint string) []Decision {
	// First: what is asked of the agent waits for the hand that looks, checks or commits.
	if decisions := cancel(s, "the loop ends"); decisions != nil {
		return decisions
	}
	if s.Life.Process.Alive {
		if s.Life.Phase == policy.Leaving || s.Life.Process.Ending {
			return wait
		}
		return do(event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration, Why: "the loop ends"})
	}
	switch s.Life.Phase {
	case policy.Beginning, policy.Checking, policy.Committing, policy.Verifying, policy.Starting, policy.Leaving:
		// A hand is at work and will report.
		return wait
	case policy.Opened:
		return record(unbegun(s))
	case policy.Turning, policy.Finished, policy.Gone, policy.Checked, policy.Settled:
		return record(conclusion(s))
	}
	var decisions []Decision
	for _, c := range s.Mail.Open {
		decisions = append(decisions, refuse(c.ID, "the loop ended before the agent could read it")...)
	}
	return append(decisions, record(event.LoopEnded{
		Status: reason.Status(), Reason: reason, Result: reason.Result(), Why: why, Hint: hint, Edited: s.Seal.Unaccepted(),
	})...)
}
