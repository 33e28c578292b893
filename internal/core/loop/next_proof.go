package loop

import (
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The proof of the guardrails: whether they can fail. It happens while no iteration is open, so
// that none is repeated for it.

// proofDue reports whether the guardrails are to be tried at that moment, and there is time for it.
func proofDue(s *State, moment string) bool {
	return s.Commands.Stopping == "" && s.Budget.Late(s.Rules) == "" && s.Proof.Due(moment, s.Rules)
}

// lastProof reports whether the guardrails are tried for a done that is accepted: the loop ends
// after that, whatever a person sends.
func lastProof(s *State) bool { return s.Phase == policy.Proving && s.Completion.Accepted != "" }

// proofStopped: nothing but the proof keeps the loop from its end.
func proofStopped(s *State) []Decision {
	if s.Phase != policy.Proving || s.Commands.Stopping == "" {
		return nil
	}
	return cancel(s, "a person stopped the loop")
}

// proved judges a claim that waits for the proof of the guardrails, by what that found out before
// it ended or was cut short.
func proved(s *State) []Decision {
	if !s.Completion.Unproved {
		return nil
	}
	if proofDue(s, "claim") {
		return record(event.Decided{Do: event.DoProve, Iteration: s.Iteration, Why: "nothing else is missing"})
	}
	missing, questions := s.Questions.Missing()
	missing = append(append(s.Commands.Unread(), missing...), unsupported(s)...)
	return record(verdict(s, s.Completion.Claimed, missing, questions))
}

// unsupported returns what a claim lacks for completion.require.
func unsupported(s *State) []string {
	require := s.Rules.Completion.Require
	if require == "" || require == "any" {
		return nil
	}
	return policy.Require(require, s.Proof.Strength(&s.Verification, s.Rules))
}
