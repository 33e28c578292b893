package loop

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Between two iterations: whether the loop ends, waits or goes on.

func ended(s *State) []Decision {
	if s.Started.IsZero() || s.Ended != nil {
		return wait
	}
	return nil
}

func interrupted(s *State) []Decision {
	if !s.Broken {
		return nil
	}
	return record(conclusion(s))
}

func completed(s *State) []Decision {
	how := s.Completion.Accepted
	if how == "" {
		return nil
	}
	hint := "" // after "completed" a person looks no further
	switch {
	case s.Verification.Commit != "":
		hint = "not all of it is in version control: 'ralph status' says why"
	case len(s.Verification.New) > 0:
		hint = "new files are in no commit: " + strings.Join(s.Verification.New, ", ") + "; scm.addUntracked commits such files, or 'git add' them"
	}
	switch how {
	case event.ClaimDoneFile:
		return end(s, event.ReasonDoneFile, "the file DONE is there, and nothing is missing", hint)
	case event.ClaimStories:
		return end(s, event.ReasonStories, "all stories of ralph/tasks.json are done, and nothing is missing"+reviews(s), hint)
	case event.ClaimChecklist:
		return end(s, event.ReasonChecklist, "all boxes of task.md are ticked, and nothing is missing", hint)
	}
	return end(s, event.Reason(how), fmt.Sprintf("the agent gave the %s, and nothing is missing%s", how, reviews(s)), hint)
}

// reviews says at the end of a loop over stories what the reviews came to.
func reviews(s *State) string {
	if summary := s.Stories.Summary(); s.Rules.Stories && summary != "" {
		return "; " + summary
	}
	return ""
}

// diskless ends a loop whose files cannot be written, or whose folder is gone.
func diskless(s *State) []Decision {
	if f := s.Failed; f != nil && f.Class == event.ClassDisk {
		return end(s, event.ReasonDisk, f.Error, f.Hint)
	}
	return nil
}

func unstartable(s *State) []Decision {
	if unfit := unusable(s); unfit.Reason != "" && !several(s) {
		return end(s, unfit.Reason, unfit.Why, unfit.Hint)
	}
	f := s.Failed
	if f == nil || f.Do != event.DoBegin {
		return nil
	}
	switch f.Class {
	case event.ClassMissing, event.ClassPermission, event.ClassConfig:
		return end(s, event.ReasonConfig, f.Error, f.Hint)
	}
	return end(s, event.ReasonFault, f.Error, f.Hint)
}

func blocked(s *State) []Decision {
	why := cmp.Or(s.Escalation.Blocked, s.Completion.Blocked())
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
	} else if a := s.Failover.AgentRecord.Availability(s.Rules); a.Reason != "" {
		return end(s, a.Reason, a.Why, loginHint(a.Reason, a.Hint, s.Agent))
	}
	if reason, why := s.Budget.Over(s.Rules); reason != "" {
		return end(s, reason, why, "")
	}
	return nil
}

// loginHint returns what a person can do about an agent that is not tried again: if known, how to
// log this agent in.
func loginHint(reason event.Reason, hint string, agent event.Agent) string {
	if reason == event.ReasonAuth && agent.Login != "" {
		return agent.Login + ", then resume the loop"
	}
	return hint
}

// hintStuck is the next step where neither a guardrail nor the agent has failed all the time.
const hintStuck = "look at what the agent says with 'ralph logs', change the task, then resume the loop"

func stuck(s *State) []Decision {
	culprit, found := s.Verification.Culprit()
	switch {
	case s.Breaker.Stop != "" && found:
		return end(s, event.ReasonBreaker, s.Breaker.Stop, culprit.Advice())
	case s.Breaker.Stop != "":
		return end(s, event.ReasonBreaker, s.Breaker.Stop, cmp.Or(s.Breaker.Advice(s.Rules), hintStuck))
	}
	if trip, ok := s.Breaker.Trip(s.Rules, culprit); ok {
		return record(trip)
	}
	return nil
}

// waiting records what the loop waits for, and the end of a wait.
func waiting(s *State) []Decision {
	if s.Rules.WaitEnds {
		if why := needsPerson(s); why != "" {
			return end(s, event.ReasonWait, why, "do what it waits for, then resume the loop")
		}
		if question, why := awaited(s); question > 0 {
			return end(s, event.ReasonWait, "the loop waits for "+why, "resume the loop, then answer with 'ralph answer'")
		}
	}
	next, needed := nextWait(s)
	switch {
	case !needed:
		return waited(s)
	case s.Wait != nil && s.Wait.For == next.For && s.Wait.Until.Equal(next.Until) && s.Wait.Why == next.Why:
		return wait
	}
	return record(next)
}

// needsPerson says why only a person's resume lets the loop go on; empty if it does not wait for
// one.
func needsPerson(s *State) string { return cmp.Or(s.Escalation.Waits, s.Holdout.Asks) }

// nextWait returns what the next iteration has to wait for: a person, or the last of the moments
// before which it may not begin.
func nextWait(s *State) (next event.LoopWaiting, needed bool) {
	if why := needsPerson(s); why != "" {
		return event.LoopWaiting{For: event.WaitPerson, Why: why}, true
	}
	if question, why := awaited(s); question > 0 {
		return event.LoopWaiting{For: event.WaitPerson, Why: why, Question: question}, true
	}
	if s.Hold != nil && (s.Hold.Until.IsZero() || s.Hold.Until.After(s.At)) {
		return event.LoopWaiting{For: event.WaitHeld, Until: s.Hold.Until, Why: s.Hold.Why}, true
	}
	limits := &s.Failover.Limits
	for _, w := range []event.LoopWaiting{
		{For: event.WaitRestart, Until: s.Failover.Restart.NotUntil},
		{For: event.Wait(limits.Waiting), Until: limits.NotUntil},
		{For: event.WaitBreaker, Until: s.Breaker.NotUntil},
		{For: event.WaitHeld, Until: s.Failover.Held, Why: s.Failover.HeldWhy},
	} {
		if w.Until.After(next.Until) {
			next = w
		}
	}
	return next, next.Until.After(s.At)
}

// waited ends the present wait; nil if there is none.
func waited(s *State) []Decision {
	if s.Wait == nil {
		return nil
	}
	return record(event.LoopWaited{For: s.Wait.For})
}

func begin(s *State) []Decision {
	var ids []string
	for _, message := range s.Commands.Messages() {
		ids = append(ids, message.ID)
	}
	n := s.Iteration + 1
	return record(event.Decided{
		Do: event.DoBegin, Iteration: n, Commands: ids, Agent: s.Failover.Agent, Reflect: s.Reflection.Due(n, s.Rules),
	})
}

// end ends the loop after its agent has exited. Messages that no agent will read are refused.
func end(s *State, reason event.Reason, why, hint string) []Decision {
	// This comes first, because the loop waits for an executor that checks or commits.
	if decisions := cancel(s, "the loop ends"); decisions != nil {
		return decisions
	}
	if s.Process.Alive {
		if s.Phase == policy.Leaving || s.Process.Ending {
			return wait
		}
		return record(event.Decided{Do: event.DoAbort, Iteration: s.Iteration, Why: "the loop ends"})
	}
	switch {
	case s.Phase.Cancellable(), s.Phase == policy.Starting, s.Phase == policy.Leaving:
		return wait // an executor is at work and will report
	case s.Phase == policy.Opened:
		return record(notStarted(s))
	case s.Phase.Open():
		return record(conclusion(s))
	case reason.Status() == event.StatusCompleted && proofDue(s, "end"):
		return record(event.Decided{Do: event.DoProve, Iteration: s.Iteration, Why: "the claim is accepted"})
	}
	var decisions []Decision
	for _, c := range s.Commands.Open {
		decisions = append(decisions, refuse(c.ID, "the loop ended before the agent could read it")...)
	}
	ended := event.LoopEnded{
		Status: reason.Status(), Reason: reason, Result: reason.Result(), Why: why, Hint: hint,
		Changed: s.Changes.Whole(), Edited: s.FileChanges.Unaccepted(), Questions: s.Questions.Unread(),
	}
	// Journals of older versions have no strength. A fleet has that of each of its tasks.
	if ended.Status == event.StatusCompleted && s.Rules.Prove.Auto != "" && len(s.Fleet.Tasks) == 0 {
		strength := s.Proof.Strength(&s.Verification, s.Rules)
		ended.Strength = &strength
	}
	return append(decisions, ended)
}
