package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// end explains the end of a loop. What each reason depends on is in package policy.
func (t *trace) end(p event.LoopEnded) reason {
	r := reason{
		question: "Why did the loop end?",
		answer:   fmt.Sprintf("It is %s with reason %q (exit code %d): %s", p.Status, p.Reason, p.Reason.ExitCode(), sentence(p.Why)),
		hint:     p.Hint,
	}
	if s := p.Strength; s != nil {
		r.answer += " " + sentence(s.Done())
		if s.Grade != event.GradeNone { // which says it all
			r.answer += " " + sentence(strings.Join(s.Why, "; "))
		}
	}
	r.keys, r.facts = t.endedBy(p.Reason)
	if code := p.Reason.ExitCode(); code == event.ExitLimit || code == event.ExitFailed {
		t.blame(&r, p.Why)
	}
	switch p.Reason {
	case event.ReasonIterations:
		if n := t.state.Budget.Refunded; n > 0 {
			r.answer += fmt.Sprintf(" %s refunded.", were(n, "iteration"))
		}
	case event.ReasonCost:
		if t.state.Budget.Used().USD == nil {
			r.answer += " The cost of some of the work is unknown, so that all of it cost at least this."
		}
	case event.ReasonDuration:
		if t.state.Budget.Waited > 0 {
			r.answer += fmt.Sprintf(" %s in which it could do nothing are not counted.", units.Span(units.Milliseconds(t.state.Budget.Waited)))
		}
	}
	return r
}

// endedBy returns the settings and events that an end depends on.
func (t *trace) endedBy(why event.Reason) (keys []string, facts []event.Event) {
	b, s := &t.state.Breaker, &t.state.Failover.Restart
	switch why {
	case event.ReasonPromise, event.ReasonResponse, event.ReasonChecklist, event.ReasonDoneFile, event.ReasonStories:
		facts := t.claimFacts(event.Claim(why))
		return t.claimKeys(event.Claim(why)), append(facts,
			t.last[event.TypeCompletionClaimed], t.last[event.TypeProofEnded], t.last[event.TypeCompletionAccepted])
	case event.ReasonIterations:
		return []string{"maximumIterations"}, t.lastEnds(t.state.Rules.MaximumIterations, func(p event.IterationEnded) bool { return !p.Refunded })
	case event.ReasonCost:
		return []string{"limits.cost"}, append(t.lastEnds(factsMost, func(p event.IterationEnded) bool { return p.Usage.USD != nil }), t.used...)
	case event.ReasonTokens:
		return []string{"limits.tokens"}, append(t.lastEnds(factsMost, func(p event.IterationEnded) bool { return p.Usage.Tokens() > 0 }), t.used...)
	case event.ReasonDuration:
		return []string{"limits.duration"}, []event.Event{t.last[event.TypeLoopStarted], t.last[event.TypeLoopResumed], t.last[event.TypeTimerFired]}
	case event.ReasonRestarts:
		return []string{"restart.max"}, t.lastEnds(s.Failures, failed)
	case event.ReasonEnvironment:
		return []string{"breaker.environment"}, append(t.lastEnds(max(s.Instant, s.Empty), failed), t.last[event.TypeAgentExited])
	case event.ReasonBreaker:
		return t.breakerKeys(), append(t.lastEnds(max(b.Stuck, b.Errors), anyEnd), t.trips...)
	case event.ReasonOutage:
		return []string{"limits.maxOutage"}, append(t.lastEnds(t.state.Failover.Limits.Attempt, limited), t.last[event.TypeAgentLimited])
	case event.ReasonAuth, event.ReasonQuota:
		return nil, append(t.lastEnds(1, limited), t.last[event.TypeAgentLimited], t.last[event.TypeAgentFinished])
	case event.ReasonConfig, event.ReasonAgent:
		return []string{"agent"}, []event.Event{t.last[event.TypeEffectFailed], t.last[event.TypeFaultRaised], t.last[event.TypeAgentExited]}
	case event.ReasonDisk, event.ReasonFault:
		return nil, []event.Event{t.last[event.TypeFaultRaised], t.last[event.TypeEffectFailed]}
	case event.ReasonBlocked:
		return nil, t.asked(event.CommandBlocked)
	case event.ReasonWait:
		return t.waitKeys(), t.asked(event.CommandWait)
	case event.ReasonFenced:
		return nil, append(t.commandsOf(event.CommandFence), t.last[event.TypeLoopFenced])
	case event.ReasonStop, event.ReasonKill, event.ReasonInterrupt:
		facts = t.commandsOf(event.CommandStop, event.CommandStopNow, event.CommandKill)
		return nil, slices.Concat(facts, t.answersTo(facts))
	}
	return nil, []event.Event{t.trigger}
}

// blame puts first what kept the work from being done, unless the recorded text has it: a guardrail
// that failed again and again, what an agent did to the stories and was refused, or a review.
func (t *trace) blame(r *reason, recorded string) {
	cause := ""
	judged, read := t.last[event.TypeStoriesJudged], t.last[event.TypeStoryReviewed]
	verdict, err := event.As[event.StoryReviewed](read)
	culprit, found := t.state.Verification.Culprit()
	switch {
	case found:
		cause = culprit.String()
		r.facts = append(r.facts, t.failedChecks()...)
		r.keys = append([]string{"guardrails"}, r.keys...)
		r.hint = cmp.Or(r.hint, culprit.Advice())
	case t.state.Breaker.Refusal != "":
		cause = "the last iteration was refused again for the same reason: " + t.state.Breaker.Refusal
		r.facts = append(r.facts, judged)
	case read.Seq != 0 && err == nil && !verdict.Approved && !verdict.Open:
		cause = fmt.Sprintf("review %d of story %s did not approve it", verdict.Count, verdict.Story)
		if verdict.Feedback != "" {
			cause += ": " + units.Cut(strings.Join(strings.Fields(verdict.Feedback), " "), feedbackMost)
		}
		r.facts = append(r.facts, read)
	}
	if cause != "" && !strings.Contains(recorded, cause) {
		r.answer = sentence(cause) + " " + r.answer
	}
}

const feedbackMost = 300

func limited(p event.IterationEnded) bool {
	return p.Outcome == event.OutcomeLimited || p.Outcome == event.OutcomeUnauthorized
}

// breakerKeys are the settings of the breaker's rule that tripped last.
func (t *trace) breakerKeys() []string {
	if n := len(t.trips); n > 0 {
		if p, err := event.As[event.BreakerTripped](t.trips[n-1]); err == nil {
			return []string{"breaker." + p.Rule}
		}
	}
	return []string{"breaker.sameError"}
}

// waitKeys is the exit code by which an agent asks for a person, if it used it.
func (t *trace) waitKeys() []string {
	if exit, err := event.As[event.AgentExited](t.here(event.TypeAgentExited)); err == nil && exit.Code == t.state.Rules.Restart.WaitExitCode {
		return []string{"restart.waitExitCode"}
	}
	return nil
}

// asked are the ways in which an agent asks for a person.
func (t *trace) asked(by event.CommandKind) []event.Event {
	facts := t.commandsOf(by)
	if by == event.CommandBlocked {
		if t.state.Escalation.Blocked == "" {
			facts = append(facts, t.last[event.TypeAgentSaid])
		}
		return facts
	}
	for _, e := range t.checksOf(event.TypeFolderInspected) {
		if string(e.Field("wait")) == "true" {
			facts = append(facts, e)
		}
	}
	if len(t.waitKeys()) > 0 {
		facts = append(facts, t.here(event.TypeAgentExited))
	}
	return facts
}

// answersTo returns the answers to received commands, as far as they are remembered.
func (t *trace) answersTo(commands []event.Event) []event.Event {
	var answers []event.Event
	for _, d := range t.made {
		for _, c := range commands {
			if d.event.Type == event.TypeCommandDelivered && string(d.event.Field("id")) == string(c.Field("id")) {
				answers = append(answers, d.event)
			}
		}
	}
	return answers
}

// wait explains what the loop waits for.
func (t *trace) wait(p event.LoopWaiting) reason {
	l, s := &t.state.Failover.Limits, &t.state.Failover.Restart
	r := reason{question: "Why does the loop wait?"}
	end := ""
	if !p.Until.IsZero() {
		end = until(p.Until)
	}
	switch p.For {
	case event.WaitPerson:
		r.answer = "It waits for a person: " + sentence(p.Why) + " Nothing but a resume ends this wait."
		r.keys, r.facts, r.hint = t.waitKeys(), t.asked(event.CommandWait), "do what it waits for, then 'ralph resume'"
	case event.WaitHeld:
		r.answer = "It waits" + end + ": " + sentence(p.Why)
		r.keys, r.facts, r.hint = []string{"limits.window"},
			[]event.Event{t.last[event.TypeLoopHeld], t.last[event.TypeScheduleObserved]}, "'ralph resume' lets it go on at once"
	case event.WaitRestart:
		r.keys = []string{"restart.delay"}
		r.facts = t.lastEnds(max(s.Failures, 1), anyEnd)
		if s.Failures == 0 {
			r.answer = "It waits" + end + ", because this agent's process ends with each turn: restart.delay passes before it is started again."
			break
		}
		r.answer = fmt.Sprintf("It waits%s, because %s: restart.delay, doubled for each further failure in a row up to 5m.", end, inARow(s.Failures, "failed"))
	case event.WaitBreaker:
		r.keys = append(t.breakerKeys(), "restart.delay")
		r.facts = append(t.lastEnds(max(t.state.Breaker.Stuck, t.state.Breaker.Errors), anyEnd), t.trips...)
		r.answer = "It waits" + end + ", ten times restart.delay, because it makes no progress: " + sentence(t.state.Breaker.Hint)
		t.blame(&r, t.state.Breaker.Hint)
	default:
		r.facts = append(t.lastEnds(max(l.Attempt, 1), limited), t.last[event.TypeAgentLimited])
		r.answer = fmt.Sprintf("It waits%s (%s): %s", end, p.For, sentence(l.Error))
		if l.Since.IsZero() {
			r.answer += " The agent stated the time, and ralph adds some seconds."
		} else {
			r.answer += fmt.Sprintf(" The agent stated no time, so that this is the backoff of attempt %d.", l.Attempt)
			r.keys = []string{"limits.maxOutage"}
		}
	}
	return r
}

// tripped explains a step of the circuit breaker.
func (t *trace) tripped(p event.BreakerTripped) reason {
	r := reason{question: "Why did the circuit breaker act?", keys: []string{"breaker." + p.Rule}, facts: t.lastEnds(p.Count, anyEnd)}
	step := map[string]string{
		policy.StepHint:    "the next prompt has a hint",
		policy.StepBackoff: "the loop waits before the next iteration, whose prompt has a hint", policy.StepStop: "the loop ends",
	}[p.Step]
	r.answer = fmt.Sprintf("%s The count is %d, so %s.", sentence(p.Evidence), p.Count, step)
	if p.Step == policy.StepBackoff {
		r.keys = append(r.keys, "restart.delay")
	}
	return r
}

// held explains what keeps the next iteration, or an agent, from beginning.
func (t *trace) held(p event.Payload) reason {
	r := reason{question: "Why is the next iteration held?", keys: []string{"limits.window"},
		facts: []event.Event{t.last[event.TypeScheduleObserved], t.trigger}}
	switch p := p.(type) {
	case event.LoopHeld:
		r.answer, r.hint = sentence(p.Why), "'ralph resume' lets it go on at once"
	case event.AgentHeld:
		r.question, r.answer = "Why may an agent not use its account?", sentence(p.Why)
		if p.Until.IsZero() {
			r.question, r.answer = "Why may an agent use its account again?", "It has used less than limits.window allows."
		}
	case event.LoopReleased:
		r.question, r.answer = "Why is the next iteration no longer held?", "What held it has passed."
		if p.Person {
			r.answer = "A person resumed the loop."
		}
		r.facts = append(r.facts, t.last[event.TypeLoopHeld])
	}
	return r
}

// replaced explains which agent works.
func (t *trace) replaced(p event.AgentReplaced) reason {
	r := reason{
		question: fmt.Sprintf("Why does %s work instead of %s?", p.Name, p.Was),
		answer:   sentence(p.Why), keys: []string{t.agentsKey(p)}, hint: p.Hint,
	}
	r.facts = append(t.lastEnds(1, anyEnd), t.here(event.TypeAgentLimited), t.since(event.TypeEffectFailed, t.began))
	if r.keys[0] != "agent" {
		r.facts = append(r.facts, t.last[event.TypeStoriesRead], t.last[event.TypeStoriesJudged])
	}
	switch {
	case p.Reason != "":
		r.answer += fmt.Sprintf(" Alone, %s would have ended the loop with reason %q: it is not tried again before a person resumes the loop.", p.Was, p.Reason)
	case p.Until != "":
		r.answer += fmt.Sprintf(" %s is tried again at %s.", p.Was, p.Until)
	}
	if p.NotBefore != "" {
		r.answer += fmt.Sprintf(" %s cannot work before %s either, and is the first that can.", p.Name, p.NotBefore)
	}
	return r
}

// agentsKey returns the setting that names the agents between which was chosen.
func (t *trace) agentsKey(p event.AgentReplaced) string {
	rules := t.state.Rules
	if rules.Reviewers == 0 || !policy.IsReviewer(rules, p.From) && !policy.IsReviewer(rules, p.To) {
		return "agent"
	}
	return "review.agent"
}

func (t *trace) warned(p event.BudgetWarned) reason {
	return reason{
		question: "Why was there a warning about " + p.Limit + "?",
		answer:   sentence(p.Why) + " A warning comes once for each value of a limit: when four fifths of it are used, or when the agent does not report what it limits.",
		keys:     []string{p.Limit}, facts: append(t.lastEnds(factsMost/2, anyEnd), t.used...),
	}
}

// inARow says how many iterations in a row did something.
func inARow(n int, did string) string {
	if n == 1 {
		return "the last iteration " + did
	}
	return fmt.Sprintf("%d iterations in a row %s", n, did)
}

func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return units.Quantity(n, what) + " were"
}
