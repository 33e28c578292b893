package loop

import (
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Behind the turn: what the agent left is looked at, committed and judged, and the
// iteration ends.

// examined has the files looked at that the agent left, and after a turn that came to its end
// the guardrails run. Where it did not, or the agent waits for a person, it is only looked. A person who
// does not want to wait is not kept waiting, and what was cut off by a person, a crash
// or a limit says nothing. Guardrails do not begin when the loop's time is over: they may take long.
func examined(s *State) []Decision {
	if s.Life.Phase != policy.Gone || !looks(s.Budget.Rules) || s.Mail.Stopping == policy.StopNow || s.Mail.Stopping == policy.Kill {
		return nil
	}
	if s.Budget.Rules.Guardrails > 0 && s.Budget.Late() != "" {
		return nil
	}
	d := event.Decided{Do: event.DoCheck, Iteration: s.Life.Iteration, Why: "the agent is gone"}
	switch outcome, _ := outcomeOf(s); outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited:
		return nil
	case event.OutcomeDone, event.OutcomeEmpty: // what is found may be work
		if s.Person.Waits != "" {
			d.Only = "look"
		}
	default:
		d.Only = "look"
	}
	return do(d)
}

// looks reports whether any rule depends on what the agent left.
func looks(r event.Rules) bool {
	return r.Guardrails > 0 || r.SCM || r.DoneFile || r.Checklist || r.NoProgress > 0
}

func committed(s *State) []Decision {
	if s.Life.Phase != policy.Checked || !s.Budget.Rules.SCM || s.Mail.Stopping == policy.StopNow || s.Mail.Stopping == policy.Kill {
		return nil
	}
	if outcome, _ := outcomeOf(s); outcome != event.OutcomeDone || len(s.Gate.Missing(s.Budget.Rules)) > 0 {
		return nil
	}
	return do(event.Decided{Do: event.DoCommit, Iteration: s.Life.Iteration, Why: "nothing speaks against the work", Agent: s.Life.Worker.Agent})
}

// concluded ends the iteration, after it has judged what was claimed. A file DONE claims
// whatever the agent's process came to.
func concluded(s *State) []Decision {
	switch s.Life.Phase {
	case policy.Gone, policy.Checked, policy.Settled:
	default:
		return nil
	}
	conclusion := conclusion(s)
	claim := s.Completion.Claim(s.Budget.Rules)
	switch conclusion.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeEmpty:
		return record(conclusion) // the iteration is tried again, and says nothing
	case event.OutcomeDone:
	default:
		if claim != "" && claim != policy.ByDoneFile {
			why := "the turn did not end well: " + orElse(conclusion.Error, string(conclusion.Outcome))
			return record(event.CompletionIgnored{How: claim, Why: why}, conclusion)
		}
	}
	if claim != "" {
		return append(judged(s, claim), record(conclusion)...)
	}
	if miss := s.Completion.NearMiss(s.Budget.Rules); miss != nil {
		return record(event.CompletionIgnored{How: miss.How, Text: miss.Text, Why: miss.Why}, conclusion)
	}
	return record(conclusion)
}

// judged holds a claim against what is known.
func judged(s *State, claim string) []Decision {
	rules := s.Budget.Rules
	evidence := policy.Evidence{
		ShowsTools: s.Life.Process.Tools, Files: s.Breaker.Shown && s.Breaker.Blind == "",
		Moved: s.Breaker.Moved || progress(s) == "yes", Mail: &s.Mail, Gate: &s.Gate,
	}
	if missing := s.Completion.Missing(claim, rules, evidence); len(missing) > 0 {
		return record(event.CompletionClaimed{How: claim}, event.CompletionRefused{Missing: missing})
	}
	return record(event.CompletionClaimed{How: claim}, event.CompletionAccepted{How: claim, Warning: s.Completion.Warning(claim, rules, evidence)})
}

func progress(s *State) string {
	if !s.Gate.Checked {
		return "" // nobody has looked
	}
	return s.Breaker.Progress(s.Budget.Current.Tools, s.Life.Process.Tools)
}

// outcomeOf says what the open iteration came to. An exit code by which the agent asks for a
// person is no failure, and a limit is none of the agent's, be it that the agent gave up or that it
// waited in silence.
func outcomeOf(s *State) (event.Outcome, string) {
	outcome, problem := s.Life.Outcome()
	if outcome == event.OutcomeDone && empty(s) {
		outcome, problem = event.OutcomeEmpty, s.Life.Nothing()
	}
	switch outcome {
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeEmpty:
	default:
		return outcome, problem
	}
	switch {
	case s.Limits.Stops():
		if outcome == event.OutcomeFailed {
			return event.OutcomeLimited, orElse(problem, s.Limits.Text)
		}
		return event.OutcomeLimited, orElse(s.Limits.Text, problem)
	case outcome == event.OutcomeFailed && s.Person.Waits != "" && s.Life.Finished == nil && s.Life.Failed == nil:
		return event.OutcomeDone, ""
	}
	return outcome, problem
}

// empty says of a turn that ended well that the agent did not reach its model: nothing was heard of it, it claims nothing and asks for
// nobody, and the files show no progress. Of an agent whose protocol does not show tools, silence alone says nothing: a script may work
// without a word. The rule breaker.environment, which bounds how many such iterations are given back, turns it off.
func empty(s *State) bool {
	switch {
	case s.Life.Process.Heard, s.Budget.Rules.Environment < 0:
		return false
	case s.Person.Waits != "", s.Person.Blocked != "", s.Completion.Claim(s.Budget.Rules) != "":
		return false
	}
	seen := progress(s)
	return seen == "no" || seen == "" && s.Life.Process.Tools
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func conclusion(s *State) event.IterationEnded {
	outcome, problem := outcomeOf(s)
	usage := s.Budget.Current.Spent()
	if !s.Life.Process.Costs {
		usage.USD = nil
	}
	ended := event.IterationEnded{
		N: s.Life.Iteration, Outcome: outcome, Error: problem,
		Usage: usage, Tools: s.Budget.Current.Tools, Took: took(s),
	}
	switch outcome {
	case event.OutcomeInterrupted, event.OutcomeAborted, event.OutcomeLimited:
		ended.Refunded = true
	default:
		ended.Progress = progress(s)
		ended.GuardrailsSkipped = s.Budget.Rules.Guardrails > 0 && s.Gate.Ran == 0
		// An agent that cannot even be started costs none of the iterations that another could have.
		ended.Refunded = outcome == event.OutcomeEmpty || several(s) && unfit(s).Reason != ""
	}
	return ended
}

// unbegun ends an iteration whose agent was never asked to start.
func unbegun(s *State) event.IterationEnded {
	return event.IterationEnded{N: s.Life.Iteration, Outcome: event.OutcomeAborted, Took: took(s), Refunded: true}
}

// took is never negative, though the clock may be set back within an iteration.
func took(s *State) int64 { return max(0, s.At.Sub(s.Life.Since).Milliseconds()) }

// early takes a file DONE for a claim that was there before an iteration began: none
// is needed where nothing is missing.
func early(s *State) []Decision {
	switch {
	case !s.Completion.Early || s.Completion.Accepted != "":
		return nil
	case s.Mail.Stopping == policy.StopNow || s.Mail.Stopping == policy.Kill:
		return nil // nobody waits for a check
	case s.Budget.Late() != "" && len(s.Gate.Missing(s.Budget.Rules)) > 0:
		return nil // there is no time for one, and none is no verdict
	case s.Budget.Rules.Guardrails > 0 && !s.Gate.Checked:
		return do(event.Decided{Do: event.DoCheck, Iteration: s.Life.Iteration, Why: "the file DONE is there"})
	}
	return judged(s, policy.ByDoneFile)
}
