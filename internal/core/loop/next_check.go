package loop

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// After the turn: the agent's work is checked, committed and judged, and the iteration ends.

// checked inspects the agent's work, and runs the guardrails after a complete turn. After an
// incomplete turn, or if the agent waits for a person, it only inspects. After a person's stop now
// or kill, and after a turn that a person, a crash or a limit cut off, there is no check.
// Guardrails do not begin when the loop's time is over: they may take long.
func checked(s *State) []Decision {
	if s.Phase != policy.Gone || !checksWork(s.Rules) || s.Commands.Stopping.EndsNow() {
		return nil
	}
	if s.Rules.Guardrails > 0 && s.Budget.Late(s.Rules) != "" {
		return nil
	}
	d := event.Decided{Do: event.DoCheck, Iteration: s.Iteration, Why: "the agent is gone"}
	switch outcome, _ := outcomeOf(s); outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeUnauthorized:
		return nil
	case event.OutcomeDone, event.OutcomeEmpty: // the agent may have worked
		if s.Escalation.Waits != "" {
			d.Only = "look"
		}
	default:
		d.Only = "look"
	}
	return record(d)
}

// checksWork reports whether any rule depends on a check.
func checksWork(r event.Rules) bool {
	return r.Guardrails > 0 || r.HeldOut > 0 || r.SCM || r.Completion.DoneFile || r.Completion.Checklist || r.Breaker.NoProgress > 0 || r.Stories ||
		r.Limits.Diff > 0
}

func committed(s *State) []Decision {
	if s.Phase != policy.Checked || !s.Rules.SCM || s.Commands.Stopping.EndsNow() {
		return nil
	}
	if outcome, _ := outcomeOf(s); outcome != event.OutcomeDone || len(s.Verification.Missing(s.Rules)) > 0 {
		return nil
	}
	if s.Rules.PullRequests && s.Changes.Oversized(s.Rules) != "" {
		return nil // the agent has to commit it in steps
	}
	return record(event.Decided{Do: event.DoCommit, Iteration: s.Iteration, Why: "nothing speaks against the work", Agent: s.Worker.Agent})
}

// heldOut runs the held-out guardrails when only they can refuse a claim.
func heldOut(s *State) []Decision {
	if s.Phase != policy.Checked && s.Phase != policy.Settled || !mayHoldOut(s) {
		return nil
	}
	outcome, _ := outcomeOf(s)
	claim := claimOf(s)
	if claim == "" || !judges(claim, outcome) || len(lacks(s, claim)) > 0 {
		return nil
	}
	return holdOut(s)
}

// mayHoldOut reports whether held-out guardrails have to run, and there is time for them.
func mayHoldOut(s *State) bool {
	return s.Holdout.Due(s.Rules) && !s.Commands.Stopping.EndsNow() && s.Budget.Late(s.Rules) == ""
}

// holdOut runs the held-out guardrails, after the process of an agent that is parked has ended: it
// could watch what they do.
func holdOut(s *State) []Decision {
	switch {
	case s.Process.Ending:
		return wait
	case s.Process.Alive:
		return record(event.Decided{Do: event.DoAbort, Iteration: s.Iteration, Why: "no agent may watch the held-out guardrails"})
	}
	return record(event.Decided{Do: event.DoHoldout, Iteration: s.Iteration, Why: "the claim lacks nothing else"})
}

// claimOf returns how completion is claimed after the turn; empty if it is not.
func claimOf(s *State) event.Claim {
	return cmp.Or(s.Completion.Claim(s.Rules), s.Stories.Claim(s.Rules))
}

// concluded ends the iteration, after it has judged a claim. A file DONE and stories that are done
// are claims whatever the outcome of the turn.
func concluded(s *State) []Decision {
	switch s.Phase {
	case policy.Gone, policy.Checked, policy.Settled:
	default:
		return nil
	}
	conclusion := conclusion(s)
	claim := claimOf(s)
	switch {
	case repeats(conclusion.Outcome):
		return record(conclusion) // its claim does not count
	case claim != "" && judges(claim, conclusion.Outcome):
		return append(judged(s, claim), record(conclusion)...)
	case claim != "":
		why := "the turn did not end well: " + cmp.Or(conclusion.Error, string(conclusion.Outcome))
		return record(event.CompletionIgnored{How: claim, Why: why}, conclusion)
	}
	if miss := s.Completion.NearMiss(s.Rules); miss != nil {
		return record(*miss, conclusion)
	}
	return record(conclusion)
}

// repeats reports whether an iteration with that outcome is repeated.
func repeats(outcome event.Outcome) bool {
	switch outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeUnauthorized, event.OutcomeEmpty:
		return true
	}
	return false
}

// judges reports whether a claim counts after a turn with that outcome.
func judges(claim event.Claim, outcome event.Outcome) bool {
	return outcome == event.OutcomeDone || !repeats(outcome) && (claim == event.ClaimDoneFile || claim == event.ClaimStories)
}

// evidenceOf returns what the policies know about a claim.
func evidenceOf(s *State) policy.Evidence {
	return policy.Evidence{
		ShowsTools: s.Process.Tools, Files: s.Breaker.Shown && s.Breaker.Blind == "",
		// Held-out guardrails try only a claim that lacks nothing else.
		Moved:    s.Breaker.Moved || s.Holdout.Refuses() || progress(s) == event.ProgressYes,
		Commands: &s.Commands, Verification: &s.Verification, Stories: &s.Stories,
		Oversized: s.Changes.Oversized(s.Rules), Unsized: s.Changes.Unsized(s.Rules),
	}
}

// lacks returns what a claim lacks, whatever the held-out guardrails say.
func lacks(s *State, claim event.Claim) []string {
	open, _ := s.Questions.Missing()
	return append(s.Completion.Missing(claim, s.Rules, evidenceOf(s)), open...)
}

// judged accepts or refuses a claim, or lets it wait for the proof of the guardrails.
func judged(s *State, claim event.Claim) []Decision {
	missing := lacks(s, claim)
	if s.Holdout.Ran || len(missing) == 0 { // else they did not have to run
		missing = append(missing, s.Holdout.Missing(s.Rules)...)
	}
	if len(missing) == 0 && proofDue(s, "claim") {
		return record(event.CompletionClaimed{How: claim, Unproved: true})
	}
	_, questions := s.Questions.Missing()
	return record(event.CompletionClaimed{How: claim}, verdict(s, claim, append(missing, unsupported(s)...), questions))
}

func verdict(s *State, claim event.Claim, missing []string, questions []int) Decision {
	if len(missing) > 0 {
		return event.CompletionRefused{Missing: missing, Questions: questions}
	}
	return event.CompletionAccepted{How: claim, Warning: s.Completion.Warning(claim, s.Rules, evidenceOf(s))}
}

func progress(s *State) event.Progress {
	if !s.Verification.Checked {
		return "" // nothing was checked
	}
	// A claim that held-out guardrails refuse is none, or an agent could search for what they check
	// for ever.
	if s.Stories.Repeated() != "" || s.Holdout.Refuses() {
		return event.ProgressNo
	}
	return s.Breaker.Progress(s.Budget.Current.Tools, s.Process.Tools)
}

// outcomeOf returns the outcome of the open iteration. An exit code by which the agent asks for a
// person is no failure. Neither is a limit, whether the agent gave up or waited in silence.
func outcomeOf(s *State) (event.Outcome, string) {
	outcome, problem := s.Lifecycle.Outcome()
	if (outcome == event.OutcomeDone || outcome == event.OutcomeFailed && s.Process.Silent && s.Failed == nil) && empty(s) {
		outcome, problem = event.OutcomeEmpty, s.Lifecycle.EmptyTurn()
	}
	switch outcome {
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeEmpty:
	default:
		return outcome, problem
	}
	switch {
	case s.Failover.Limits.StopsTurn():
		limits := &s.Failover.Limits
		if outcome == event.OutcomeFailed && (s.Finished != nil || s.Failed != nil) {
			return limits.Outcome(), cmp.Or(problem, limits.Text)
		}
		return limits.Outcome(), cmp.Or(limits.Text, problem)
	case outcome == event.OutcomeFailed && s.Escalation.Waits != "" && s.Finished == nil && s.Failed == nil && unusable(s).Reason == "":
		return event.OutcomeDone, ""
	}
	return outcome, problem
}

// empty reports whether a turn that ended well came to nothing: the agent said no word and used no
// tool, whatever its model thought or cost, it claims nothing and asks for no person, and the files
// show no progress. For an agent whose protocol does not show tools, silence alone is no sign: a
// script may work without a word. breaker.environment limits how many such iterations are refunded;
// 0 turns this rule off.
func empty(s *State) bool {
	switch {
	case s.Process.Answered, s.Process.Heard && !s.Process.Tools, s.Rules.Breaker.Environment == 0:
		return false
	case s.Escalation.Waits != "", s.Escalation.Blocked != "", claimOf(s) != "":
		return false
	}
	seen := progress(s)
	return seen == event.ProgressNo || seen == "" && s.Process.Tools
}

func conclusion(s *State) event.IterationEnded {
	outcome, problem := outcomeOf(s)
	usage := s.Budget.Current.Spent()
	if !s.Process.Costs {
		usage.USD = nil
	}
	ended := event.IterationEnded{
		N: s.Iteration, Outcome: outcome, Error: problem,
		Usage: usage, Tools: s.Budget.Current.Tools, Took: took(s),
	}
	switch outcome {
	case event.OutcomeInterrupted, event.OutcomeAborted, event.OutcomeLimited, event.OutcomeUnauthorized:
		ended.Refunded = true
	default:
		ended.Progress = progress(s)
		if s.Verification.Checked {
			ended.Refusal = cmp.Or(s.Stories.Repeated(), s.Holdout.Repeated())
		}
		ended.GuardrailsSkipped = s.Rules.Guardrails > 0 && s.Verification.Ran == 0
		// An agent that cannot be started uses up no iteration that another agent could have.
		ended.Refunded = outcome == event.OutcomeEmpty || several(s) && unusable(s).Reason != ""
	}
	return ended
}

// notStarted ends an iteration whose agent was never started.
func notStarted(s *State) event.IterationEnded {
	return event.IterationEnded{N: s.Iteration, Outcome: event.OutcomeAborted, Took: took(s), Refunded: true}
}

// took is never negative, even if the clock was set back during the iteration.
func took(s *State) int64 { return max(0, s.At.Sub(s.Since).Milliseconds()) }

// doneAlready treats a file DONE from before an iteration, and stories that were done before it, as
// a claim: if nothing is missing, no iteration is needed.
func doneAlready(s *State) []Decision {
	switch {
	case !s.Completion.Early || s.Completion.Accepted != "":
		return nil
	case s.Commands.Stopping.EndsNow():
		return nil // a person would have to wait for the check
	case s.Budget.Late(s.Rules) != "" && (len(s.Verification.Missing(s.Rules)) > 0 || s.Holdout.Due(s.Rules)):
		return nil // there is no time for a check, and without one there is no verdict
	}
	claim, why := event.ClaimDoneFile, "the file DONE is there"
	if s.Rules.Stories {
		claim, why = event.ClaimStories, "all stories are done"
	}
	if s.Rules.Guardrails > 0 && !s.Verification.Checked {
		return record(event.Decided{Do: event.DoCheck, Iteration: s.Iteration, Why: why})
	}
	if mayHoldOut(s) && len(lacks(s, claim)) == 0 {
		return holdOut(s)
	}
	return judged(s, claim)
}
