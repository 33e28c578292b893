package loop

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// After the turn: the agent's work is checked, committed and judged, and the iteration ends.

// examined has the files looked at that the agent left, and after a turn that came to its end the
// guardrails run. Where it did not, or the agent waits for a person, it is only looked. A person
// who does not want to wait is not kept waiting, and what was cut off by a person, a crash or a
// limit says nothing. Guardrails do not begin when the loop's time is over: they may take long.
func checked(s *State) []Decision {
	if s.Phase != policy.Gone || !checksWork(s.Rules) || s.Commands.Stopping.EndsNow() {
		return nil
	}
	if s.Rules.Guardrails > 0 && s.Budget.Late(s.Rules) != "" {
		return nil
	}
	d := event.Decided{Do: event.DoCheck, Iteration: s.Iteration, Why: "the agent is gone"}
	switch outcome, _ := outcomeOf(s); outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited:
		return nil
	case event.OutcomeDone, event.OutcomeEmpty: // what is found may be work
		if s.Escalation.Waits != "" {
			d.Only = "look"
		}
	default:
		d.Only = "look"
	}
	return record(d)
}

// looks reports whether any rule depends on what the agent left.
func checksWork(r event.Rules) bool {
	return r.Guardrails > 0 || r.SCM || r.Completion.DoneFile || r.Completion.Checklist || r.Breaker.NoProgress > 0
}

func committed(s *State) []Decision {
	if s.Phase != policy.Checked || !s.Rules.SCM || s.Commands.Stopping.EndsNow() {
		return nil
	}
	if outcome, _ := outcomeOf(s); outcome != event.OutcomeDone || len(s.Verification.Missing(s.Rules)) > 0 {
		return nil
	}
	return record(event.Decided{Do: event.DoCommit, Iteration: s.Iteration, Why: "nothing speaks against the work", Agent: s.Worker.Agent})
}

// concluded ends the iteration, after it has judged what was claimed. A file DONE claims
// whatever the agent's process came to.
func concluded(s *State) []Decision {
	switch s.Phase {
	case policy.Gone, policy.Checked, policy.Settled:
	default:
		return nil
	}
	conclusion := conclusion(s)
	claim := s.Completion.Claim(s.Rules)
	switch conclusion.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeEmpty:
		return record(conclusion) // the iteration is tried again, and says nothing
	case event.OutcomeDone:
	default:
		if claim != "" && claim != event.ClaimDoneFile {
			why := "the turn did not end well: " + cmp.Or(conclusion.Error, string(conclusion.Outcome))
			return record(event.CompletionIgnored{How: claim, Why: why}, conclusion)
		}
	}
	if claim != "" {
		return append(judged(s, claim), record(conclusion)...)
	}
	if miss := s.Completion.NearMiss(s.Rules); miss != nil {
		return record(*miss, conclusion)
	}
	return record(conclusion)
}

// judged holds a claim against what is known.
func judged(s *State, claim event.Claim) []Decision {
	rules := s.Rules
	evidence := policy.Evidence{
		ShowsTools: s.Process.Tools, Files: s.Breaker.Shown && s.Breaker.Blind == "",
		Moved: s.Breaker.Moved || progress(s) == event.ProgressYes, Commands: &s.Commands, Verification: &s.Verification,
	}
	if missing := s.Completion.Missing(claim, rules, evidence); len(missing) > 0 {
		return record(event.CompletionClaimed{How: claim}, event.CompletionRefused{Missing: missing})
	}
	return record(event.CompletionClaimed{How: claim}, event.CompletionAccepted{How: claim, Warning: s.Completion.Warning(claim, rules, evidence)})
}

func progress(s *State) event.Progress {
	if !s.Verification.Checked {
		return "" // nothing was checked
	}
	return s.Breaker.Progress(s.Budget.Current.Tools, s.Process.Tools)
}

// outcomeOf says what the open iteration came to. An exit code by which the agent asks for a
// person is no failure, and a limit is none of the agent's, be it that the agent gave up or that it
// waited in silence.
func outcomeOf(s *State) (event.Outcome, string) {
	outcome, problem := s.Lifecycle.Outcome()
	if outcome == event.OutcomeDone && empty(s) {
		outcome, problem = event.OutcomeEmpty, s.Lifecycle.EmptyTurn()
	}
	switch outcome {
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeEmpty:
	default:
		return outcome, problem
	}
	switch {
	case s.Failover.Limits.StopsTurn():
		if outcome == event.OutcomeFailed {
			return event.OutcomeLimited, cmp.Or(problem, s.Failover.Limits.Text)
		}
		return event.OutcomeLimited, cmp.Or(s.Failover.Limits.Text, problem)
	case outcome == event.OutcomeFailed && s.Escalation.Waits != "" && s.Finished == nil && s.Failed == nil:
		return event.OutcomeDone, ""
	}
	return outcome, problem
}

// empty says of a turn that ended well that the agent did not reach its model: nothing was heard of
// it, it claims nothing and asks for no person, and the files show no progress. Of an agent whose
// protocol does not show tools, silence alone says nothing: a script may work without a word. The
// rule breaker.environment, which bounds how many such iterations are given back, turns it off.
func empty(s *State) bool {
	switch {
	case s.Process.Heard, s.Rules.Breaker.Environment == 0:
		return false
	case s.Escalation.Waits != "", s.Escalation.Blocked != "", s.Completion.Claim(s.Rules) != "":
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
	case event.OutcomeInterrupted, event.OutcomeAborted, event.OutcomeLimited:
		ended.Refunded = true
	default:
		ended.Progress = progress(s)
		ended.GuardrailsSkipped = s.Rules.Guardrails > 0 && s.Verification.Ran == 0
		// An agent that cannot even be started costs none of the iterations that another could
		// have.
		ended.Refunded = outcome == event.OutcomeEmpty || several(s) && unusable(s).Reason != ""
	}
	return ended
}

// unbegun ends an iteration whose agent was never asked to start.
func notStarted(s *State) event.IterationEnded {
	return event.IterationEnded{N: s.Iteration, Outcome: event.OutcomeAborted, Took: took(s), Refunded: true}
}

// took is never negative, though the clock may be set back within an iteration.
func took(s *State) int64 { return max(0, s.At.Sub(s.Since).Milliseconds()) }

// early takes a file DONE for a claim that was there before an iteration began: none
// is needed where nothing is missing.
func doneAlready(s *State) []Decision {
	switch {
	case !s.Completion.Early || s.Completion.Accepted != "":
		return nil
	case s.Commands.Stopping.EndsNow():
		return nil // a check would be waited for
	case s.Budget.Late(s.Rules) != "" && len(s.Verification.Missing(s.Rules)) > 0:
		return nil // there is no time for one, and none is no verdict
	case s.Rules.Guardrails > 0 && !s.Verification.Checked:
		return record(event.Decided{Do: event.DoCheck, Iteration: s.Iteration, Why: "the file DONE is there"})
	}
	return judged(s, event.ClaimDoneFile)
}
