package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Which of several agents works. If there is only one, its troubles are the loop's.

// several reports whether the loop has more than one agent.
func several(s *State) bool { return len(s.Rules.Agents) > 1 }

// availability says whether the current agent can have another iteration.
func availability(s *State) policy.Availability {
	if unfit := unusable(s); unfit.Reason != "" {
		return unfit
	}
	a := s.Failover.AgentRecord.Availability(s.Rules)
	if evidence := s.Breaker.SameError(s.Rules); evidence != "" && a.Reason == "" {
		return policy.Availability{Reason: event.ReasonBreaker, Why: evidence, Hint: s.Breaker.Advice(s.Rules)}
	}
	return a
}

// unusable says why an agent can never start; no reason if it can.
func unusable(s *State) policy.Availability {
	if flag := s.Lifecycle.Refused(); flag != "" && progress(s) != event.ProgressYes {
		return policy.Availability{Reason: event.ReasonConfig, Why: "the agent refused its arguments: " + flag, Hint: "correct the flags of the agent"}
	}
	if f := s.Failed; f != nil && f.Do == event.DoStart {
		switch f.Class {
		case event.ClassMissing, event.ClassPermission, event.ClassConfig:
			return policy.Availability{Reason: event.ReasonAgent, Why: f.Error, Hint: f.Hint}
		}
	}
	return policy.Availability{}
}

// exhausted ends a loop none of whose agents is to be tried again.
func exhausted(s *State) []Decision {
	rules, current := s.Rules, availability(s)
	among := s.Failover.Candidates(&s.Stories, &s.Votes, current, rules)
	if _, ok := s.Failover.Choose(among, current, s.At, rules); ok {
		return nil
	}
	preferred := s.Failover.Of(among[0], current, rules)
	var whys []string
	for _, i := range among {
		whys = append(whys, rules.Agents[i].Name+": "+s.Failover.Of(i, current, rules).Why)
	}
	return end(s, preferred.Reason, strings.Join(whys, "; "), loginHint(preferred.Reason, preferred.Hint, rules.Agents[among[0]]))
}

// replaced lets another agent work: an iteration is for the first that can work, of those that
// review or of all others, and if none can, the loop waits for the one that can be tried earliest.
func replaced(s *State) []Decision {
	if !several(s) {
		return nil
	}
	rules, current := s.Rules, availability(s)
	among := s.Failover.Candidates(&s.Stories, &s.Votes, current, rules)
	to, ok := s.Failover.Choose(among, current, s.At, rules)
	if !ok || to == s.Failover.Agent {
		return nil
	}
	r := event.AgentReplaced{
		From: s.Failover.Agent, To: to, Was: s.Agent.Name, Name: rules.Agents[to].Name, Why: current.Why,
		Until: moment(s, current.Until), NotBefore: moment(s, s.Failover.Of(to, current, rules).Until),
	}
	switch {
	case current.Gone():
		r.Reason, r.Hint, r.Until = current.Reason, loginHint(current.Reason, current.Hint, s.Agent), ""
	case !policy.Fits(rules, r.From, s.Stories.Next), s.Votes.Has(s.Agent.Name) && s.Stories.Next == event.ModeReview:
		r.Turn, r.Why, r.Until = true, turnWords(s, r.Name), ""
	case r.Until == "":
		r.Why = fmt.Sprintf("%s can work again, and is preferred", r.Name)
	case current.Passes:
		r.Why = s.Failover.Limits.Trouble() // only the end of the loop says that it lasted too long
	}
	return record(r)
}

// turnWords says why it is the turn of an agent that neither failed nor is preferred.
func turnWords(s *State, name string) string {
	switch {
	case s.Stories.Next == event.ModeReviewFix:
		return name + " corrects what the review found"
	case s.Stories.Next != event.ModeReview:
		return name + " implements the stories"
	case len(s.Votes.Given) > 0 && !s.Votes.Decided:
		return fmt.Sprintf("%s reviews %s too", name, s.Votes.Story)
	}
	return name + " reviews what is implemented"
}

// moment formats a future moment.
func moment(s *State, at time.Time) string {
	if !at.After(s.At) {
		return ""
	}
	return at.Format(time.RFC3339)
}
