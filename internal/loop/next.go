package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Decision is one step that follows from a state: an event that the loop itself
// makes true by recording it, or an effect for a hand.
type Decision struct {
	Record event.Payload
	Do     *event.Decided
}

// State is what decisions are made from.
type State = projector.State

// Rules in the order in which they are asked. The first that answers decides;
// after its decisions are folded, the table is asked again from the top. A rule
// answers an empty slice, not nil, to say: there is nothing to do until something happens.
var table = []struct {
	name string
	rule func(*State) []Decision
}{
	{"an ended loop does nothing", ended},
	{"an iteration whose runner died is closed", interrupted},
	{"every command gets its answer", answer},
	{"kill ends the agent at once", killed},
	{"stop --now ends the agent politely", cutShort},
	{"a deadline that passed ends the turn", overdue},
	{"a fault of ralph's own ends the loop", faulty},
	{"after its turn the agent rests or goes", release},
	{"an iteration ends when its agent is gone or at rest", concluded},
	{"an open iteration goes on", working},
	{"an accepted claim completes the loop", completed},
	{"a person's stop ends the loop", stopped},
	{"what can never start is not tried again", hopeless},
	{"a limit ends the loop", limited},
	{"a paused loop waits", paused},
	{"a failed iteration is followed by a delay", delayed},
	{"otherwise the next iteration begins", begin},
}

// Next returns what follows from a state: nothing where the loop has to wait for
// something to happen. It is pure.
func Next(s *State) []Decision {
	_, decisions := Why(s)
	return decisions
}

// Why returns the same decisions and the name of the rule that made them.
func Why(s *State) (rule string, decisions []Decision) {
	for _, row := range table {
		if decisions := row.rule(s); decisions != nil {
			return row.name, decisions
		}
	}
	return "", nil
}

var wait = []Decision{}

func record(p ...event.Payload) []Decision {
	decisions := make([]Decision, len(p))
	for i := range p {
		decisions[i].Record = p[i]
	}
	return decisions
}

func do(d event.Decided) []Decision { return []Decision{{Do: &d}} }

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

// answer gives every command its answer that has one now. Words for the agent
// are answered when the agent has them.
func answer(s *State) []Decision {
	var decisions []Decision
	words, length := 0, 0
	for _, c := range s.Mail.Open {
		if c.Stale {
			decisions = append(decisions, refuse(c.ID, "the signal was meant for the runner before")...)
			continue
		}
		switch c.Kind {
		case policy.Steer, policy.FollowUp:
			words, length = words+1, length+len(c.Text)
			if words > policy.MaxOpen || length > policy.MaxBytes {
				decisions = append(decisions, refuse(c.ID, "too many messages wait already")...)
				length -= len(c.Text)
			} else if c.Prompt != 0 && c.Prompt == s.Life.Iteration && promptGiven(s) {
				decisions = append(decisions, record(event.CommandDelivered{ID: c.ID, How: "prompt", Iteration: c.Prompt})...)
			} else if c.Kind == policy.Steer && !c.Sent && !c.Held && c.Prompt == 0 &&
				s.Life.Phase == policy.Turning && s.Life.Process.Live && s.Mail.Stopping != policy.StopNow && s.Mail.Stopping != policy.Kill {
				decisions = append(decisions, do(event.Decided{Do: event.DoSteer, Command: c.ID, Iteration: s.Life.Iteration, Why: "a person steers"})...)
			}
		case policy.Set:
			rules, err := policy.SetRule(s.Budget.Rules, c.Key, c.Val)
			if err != nil {
				decisions = append(decisions, refuse(c.ID, err.Error())...)
				continue
			}
			// One at a time: the next one starts from what this one made of the state.
			return append(decisions, record(event.LoopConfigured{Key: c.Key, Value: c.Val, Rules: rules}, delivered(s, c.ID))...)
		case policy.Resume:
			if !s.Life.Paused && !s.Mail.Pausing {
				decisions = append(decisions, refuse(c.ID, "the loop is not paused")...)
				continue
			}
			return append(decisions, record(event.LoopUnpaused{}, delivered(s, c.ID))...)
		case policy.Pause:
			if s.Life.Paused {
				decisions = append(decisions, refuse(c.ID, "the loop is paused already")...)
				continue
			}
			return append(decisions, record(delivered(s, c.ID))...)
		case policy.Stop, policy.StopNow, policy.Kill:
			return append(decisions, record(delivered(s, c.ID))...)
		default:
			decisions = append(decisions, refuse(c.ID, fmt.Sprintf("%q is not a command that this ralph knows", c.Kind))...)
		}
	}
	return decisions
}

// promptGiven reports whether the agent of the open iteration has its prompt.
func promptGiven(s *State) bool {
	switch s.Life.Phase {
	case policy.Turning, policy.Finished, policy.Leaving, policy.Gone:
		return s.Life.Process.PID != 0 || s.Life.Exited != nil
	}
	return false
}

func delivered(s *State, id string) event.CommandDelivered {
	return event.CommandDelivered{ID: id, How: "loop", Iteration: s.Life.Iteration}
}

func refuse(id, why string) []Decision { return record(event.CommandRefused{ID: id, Why: why}) }

func killed(s *State) []Decision {
	if s.Mail.Stopping != policy.Kill || s.Life.Process.Killing {
		return nil
	}
	if !s.Life.Process.Alive && s.Life.Phase != policy.Starting {
		return nil
	}
	return do(event.Decided{Do: event.DoKill, Iteration: s.Life.Iteration, Outcome: string(event.OutcomeAborted), Why: "a person killed the loop"})
}

func cutShort(s *State) []Decision {
	if s.Mail.Stopping != policy.StopNow && s.Mail.Stopping != policy.Kill {
		return nil
	}
	if s.Life.Phase == policy.Opened {
		return record(unbegun(s))
	}
	if s.Mail.Stopping == policy.Kill {
		return nil
	}
	switch s.Life.Phase {
	case policy.Starting, policy.Turning:
		return do(event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration, Outcome: string(event.OutcomeAborted), Why: "a person stopped the loop now"})
	case policy.Finished:
		return do(event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration, Why: "a person stopped the loop now"})
	}
	return nil
}

func overdue(s *State) []Decision {
	deadline, ok := s.Idle.Next(s.Life.Phase, s.Budget.Rules)
	if !ok || s.At.Before(deadline.At) || s.Life.Process.Killing {
		return nil
	}
	d := event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration}
	switch deadline.Name {
	case policy.TimerIdle:
		d.Outcome, d.Why = string(event.OutcomeIdle), "the agent was silent for too long"
	case policy.TimerIteration:
		d.Outcome, d.Why = string(event.OutcomeOverlong), "the iteration took too long"
	case policy.TimerAfterResult:
		d.Do, d.Why = event.DoKill, "the process lived on after its final result"
	}
	return do(d)
}

func faulty(s *State) []Decision {
	if s.Life.Fault == nil {
		return nil
	}
	reason := event.ReasonFault
	if s.Life.Fault.Class == event.ClassDisk {
		reason = event.ReasonDisk
	}
	return end(s, reason, s.Life.Fault.Where+": "+s.Life.Fault.Error, "")
}

func release(s *State) []Decision {
	if s.Life.Phase != policy.Finished {
		return nil
	}
	return do(event.Decided{Do: event.DoRelease, Iteration: s.Life.Iteration, Why: "the turn is over"})
}

// concluded ends the iteration, after it has judged what the agent claimed.
func concluded(s *State) []Decision {
	if s.Life.Phase != policy.Gone {
		return nil
	}
	conclusion := conclusion(s)
	rules := s.Budget.Rules
	claim := s.Completion.Claim(rules)
	if claim == "" || conclusion.Outcome != event.OutcomeDone {
		return record(conclusion)
	}
	if missing := s.Completion.Missing(rules, s.Life.Process.Tools, &s.Mail); len(missing) > 0 {
		return record(event.CompletionClaimed{How: claim}, event.CompletionRefused{Missing: missing}, conclusion)
	}
	return record(event.CompletionClaimed{How: claim}, event.CompletionAccepted{How: claim}, conclusion)
}

func conclusion(s *State) event.IterationEnded {
	outcome, problem := s.Life.Outcome()
	usage := s.Budget.Current.Spent()
	if !s.Life.Process.Costs {
		usage.USD = nil
	}
	return event.IterationEnded{
		N: s.Life.Iteration, Outcome: outcome, Error: problem,
		Usage: usage, Tools: s.Budget.Current.Tools, Took: took(s),
		Refunded: outcome == event.OutcomeInterrupted || outcome == event.OutcomeAborted,
	}
}

// unbegun ends an iteration whose agent was never asked to start.
func unbegun(s *State) event.IterationEnded {
	return event.IterationEnded{N: s.Life.Iteration, Outcome: event.OutcomeAborted, Took: took(s), Refunded: true}
}

// took is never negative, though the clock may be set back within an iteration.
func took(s *State) int64 { return max(0, s.At.Sub(s.Life.Since).Milliseconds()) }

func working(s *State) []Decision {
	switch s.Life.Phase {
	case policy.Between:
		return nil
	case policy.Opened:
		return do(event.Decided{Do: event.DoStart, Iteration: s.Life.Iteration, Why: "the prompt is ready"})
	}
	return wait
}

func completed(s *State) []Decision {
	how := s.Completion.Accepted
	if how == "" {
		return nil
	}
	return end(s, event.Reason(how), fmt.Sprintf("the agent gave the %s, and nothing is missing", how), "")
}

func stopped(s *State) []Decision {
	switch s.Mail.Stopping {
	case "":
		return nil
	case policy.Kill:
		return end(s, event.ReasonKill, "a person killed the loop", "")
	}
	if s.Mail.Signal {
		return end(s, event.ReasonInterrupt, "a signal asked the loop to stop", "")
	}
	return end(s, event.ReasonStop, "a person stopped the loop", "")
}

func hopeless(s *State) []Decision {
	f := s.Life.Failed
	if f == nil {
		return nil
	}
	switch f.Class {
	case event.ClassMissing, event.ClassPermission, event.ClassConfig:
		reason := event.ReasonAgent
		if f.Do == event.DoBegin {
			reason = event.ReasonConfig
		}
		return end(s, reason, f.Error, f.Hint)
	case event.ClassDisk:
		return end(s, event.ReasonDisk, f.Error, f.Hint)
	}
	if f.Do == event.DoBegin {
		return end(s, event.ReasonFault, f.Error, f.Hint)
	}
	return nil
}

func limited(s *State) []Decision {
	if reason, why := s.Restart.Fatal(s.Budget.Rules); reason != "" {
		return end(s, reason, why, "")
	}
	if reason, why := s.Budget.Over(); reason != "" {
		return end(s, reason, why, "")
	}
	return nil
}

func paused(s *State) []Decision {
	switch {
	case s.Life.Paused:
		return wait
	case s.Mail.Pausing:
		return record(event.LoopPaused{Why: "a person paused the loop"})
	}
	return nil
}

func delayed(s *State) []Decision {
	if s.At.Before(s.Restart.NotUntil) {
		return wait
	}
	return nil
}

func begin(s *State) []Decision {
	var ids []string
	for _, message := range s.Mail.Words() {
		ids = append(ids, message.ID)
	}
	return do(event.Decided{Do: event.DoBegin, Iteration: s.Life.Iteration + 1, Commands: ids})
}

// end ends the loop once its agent is gone. Words that nobody will read any more
// are given back to who sent them.
func end(s *State, reason event.Reason, why, hint string) []Decision {
	if s.Life.Process.Alive {
		if s.Life.Phase == policy.Leaving || s.Life.Process.Ending {
			return wait
		}
		return do(event.Decided{Do: event.DoAbort, Iteration: s.Life.Iteration, Why: "the loop ends"})
	}
	switch s.Life.Phase {
	case policy.Beginning, policy.Starting, policy.Leaving:
		// A hand is at work and will report.
		return wait
	case policy.Opened, policy.Turning, policy.Finished, policy.Gone:
		return record(conclusion(s))
	}
	var decisions []Decision
	for _, c := range s.Mail.Open {
		decisions = append(decisions, refuse(c.ID, "the loop ended before the agent could read it")...)
	}
	return append(decisions, record(event.LoopEnded{Status: reason.Status(), Reason: reason, Why: why, Hint: hint})...)
}
