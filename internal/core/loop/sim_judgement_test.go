package loop_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// pending are the effects that were decided and have no outcome yet, by their kind.
type pending map[event.Effect]event.Seq

func (p pending) read(w *world, e event.Event) {
	switch e.Type {
	case event.TypeLoopResumed:
		clear(p)
	case event.TypeDecided:
		d := as[event.Decided](e)
		if d.Do == event.DoSteer {
			return // several may be on their way
		}
		if before := p[d.Do]; before != 0 {
			w.violate(oneOfAKind, "event %d: %s is asked for again, and event %d has no outcome yet", e.Seq, d.Do, before)
		}
		p[d.Do] = e.Seq
	case event.TypeIterationStarted:
		delete(p, event.DoBegin)
		delete(p, event.DoCancel)
	case event.TypeFolderInspected:
		if as[event.FolderInspected](e).Done && e.Cause == p[event.DoBegin] {
			delete(p, event.DoBegin) // no iteration is needed
			delete(p, event.DoCancel)
		}
	case event.TypeStoriesRead:
		if read := as[event.StoriesRead](e); (read.Done || read.Other) && e.Cause == p[event.DoBegin] {
			delete(p, event.DoBegin) // likewise
			delete(p, event.DoCancel)
		}
	case event.TypeScheduleObserved:
		if e.Cause != 0 {
			delete(p, event.DoObserve)
		}
	case event.TypeAgentStarted:
		delete(p, event.DoStart)
	case event.TypeAgentParked:
		delete(p, event.DoRelease)
	case event.TypeAgentExited:
		delete(p, event.DoRelease)
		delete(p, event.DoAbort)
		delete(p, event.DoKill)
	case event.TypeIterationChecked:
		delete(p, event.DoCheck)
		delete(p, event.DoCancel)
	case event.TypeHoldoutChecked:
		delete(p, event.DoHoldout)
		delete(p, event.DoCancel)
	case event.TypeSCMEnded:
		delete(p, event.DoCommit)
		delete(p, event.DoCancel)
	case event.TypeProofEnded:
		delete(p, event.DoProve)
		delete(p, event.DoCancel)
	case event.TypeIterationEnded:
		// Effects on an agent that never started.
		delete(p, event.DoAbort)
		delete(p, event.DoKill)
		delete(p, event.DoCancel)
	case event.TypeEffectFailed:
		do := as[event.EffectFailed](e).Do
		delete(p, do)
		if do == event.DoCheck || do == event.DoCommit || do == event.DoBegin || do == event.DoProve || do == event.DoHoldout {
			delete(p, event.DoCancel)
		}
	}
}

// checkIdle checks, when an iteration ends, that no inspection or commit of it is under way.
func (p pending) checkIdle(w *world, e event.Event) {
	for _, do := range []event.Effect{event.DoCheck, event.DoCommit, event.DoHoldout} {
		if before := p[do]; before != 0 {
			w.violate(checksEnd, "event %d: the iteration ends, and %s, event %d, has no outcome yet", e.Seq, do, before)
		}
	}
}

// checkAbleTo checks in the world, not in the journal, that the effect is possible now.
func (w *world) checkAbleTo(r *runner, d event.Decided) {
	if d.Do == event.DoCheck || d.Do == event.DoCommit {
		w.checkAlone(r.executor)
	}
}

func (w *world) checkAlone(h *simExecutor) {
	for _, a := range w.agents {
		if a.alive && !a.resting {
			w.violate(checksAlone, "agent %d is at its turn while its work is looked at", a.pid)
		}
	}
}

func (w *world) checkCheck(t *counts, e event.Event) {
	if t.process.alive && !t.process.resting {
		w.violate(checksAlone, "event %d: the work is looked at before the agent has gone", e.Seq)
	}
	if t.stop[event.CommandStopNow] || t.stop[event.CommandKill] {
		w.violate(commandsHold, "event %d: the work is looked at after the loop was stopped now", e.Seq)
	}
}

func (w *world) checkCommit(t *counts, e event.Event) {
	if !t.inside || !t.verification.checked || !t.verification.passed(t.rules) {
		w.violate(commitsPassed, "event %d: the work is committed when %d of %d guardrails ran and %d failed", e.Seq, t.verification.guards, t.rules.Guardrails, t.verification.failed)
	}
	if t.rules.PullRequests && t.size.tooLarge(t.rules) {
		w.violate(commitsPassed, "event %d: %d lines are committed, and limits.diff is %d", e.Seq, t.size.now.Lines, t.rules.Limits.Diff)
	}
}

// checkRefund checks the reason of a refund.
func (w *world) checkRefund(t *counts, e event.Event, p event.IterationEnded) {
	known := false
	switch p.Outcome {
	case event.OutcomeLimited, event.OutcomeUnauthorized:
		login := p.Outcome == event.OutcomeUnauthorized
		known = t.limit.blocks() && login == (t.limit.kind == string(event.KindAuth))
	case event.OutcomeAborted:
		known = t.stop[event.CommandStopNow] || t.stop[event.CommandKill] || t.fault || t.late() || t.fenced
	case event.OutcomeInterrupted:
		known = t.died
	case event.OutcomeEmpty:
		known = t.empty(p) && !t.person.asked
	case event.OutcomeDone:
		if t.empty(p) && !t.person.waits && !t.person.asked && !t.fault {
			w.violate(refundsHold, "event %d: the iteration is done, and nothing was heard of its agent", e.Seq)
		}
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong:
		// ralph itself cut the others short, and an agent that made progress knew its flags
		t.process.refused = t.process.refused && p.Outcome == event.OutcomeFailed && p.Progress != "yes"
		known = t.several() && t.unfit() // it uses up no iteration that another agent could have
		if t.limit.blocks() && !t.fault {
			w.violate(refundsHold, "event %d: the iteration ended by a limit (%s) and counts as failed", e.Seq, t.limit.kind)
		}
	}
	if known != p.Refunded {
		w.violate(refundsHold, "event %d: the iteration is %s, refunded: %v; the journal says %v", e.Seq, p.Outcome, p.Refunded, known)
	}
}

// empty reports whether nothing was heard of the agent in the open iteration, and no file shows
// work.
func (t *counts) empty(p event.IterationEnded) bool {
	folder := t.verification.folder
	claims := t.rules.Completion.DoneFile && folder.Done || t.rules.Completion.Checklist && folder.Boxes > 0 && folder.Ticked == folder.Boxes
	claims = claims || t.stories.finished(t.rules)
	return !t.process.spoke && !claims && (p.Progress == "no" || p.Progress == "" && t.process.tools)
}

// checkVerdict checks a claim's verdict.
func (w *world) checkVerdict(t *counts, e event.Event) {
	missing := t.missing(t.words.claimed)
	if e.Type == event.TypeCompletionAccepted {
		w.checkClaimedSize(t, e)
	}
	if t.proof.waits {
		missing = t.unanswered() // the rest was there before the proof
	}
	if missing == "" && !t.proof.supports(t.rules, e.Type == event.TypeCompletionAccepted) {
		missing = "the guardrails are not proved"
	}
	if e.Type == event.TypeCompletionAccepted && missing != "" {
		w.violate(claimsHold, "event %d: the claim by %s is accepted, and %s", e.Seq, t.words.claimed, missing)
	}
	if e.Type == event.TypeCompletionRefused && missing == "" {
		w.violate(claimsHold, "event %d: the claim by %s is refused, and nothing is missing: %s", e.Seq, t.words.claimed, e.Data())
	}
}

func (t *counts) missing(how event.Claim) string {
	return cmp.Or(t.lacks(how), t.heldOut.missing(t.rules))
}

// lacks is what a claim lacks, whatever the held-out guardrails say.
func (t *counts) lacks(how event.Claim) string {
	said := how == event.ClaimPromise || how == event.ClaimResponse
	g := &t.verification
	switch {
	case said && !t.words.claim(how, t.rules):
		return "the agent did not say so"
	case how == event.ClaimDoneFile && !(g.folder.Done && t.rules.Completion.DoneFile):
		return "there is no file"
	case how == event.ClaimChecklist && !(t.rules.Completion.Checklist && g.folder.Boxes > 0):
		return "there is no checklist"
	case how != event.ClaimDoneFile && t.rules.Completion.Checklist && g.folder.Ticked < g.folder.Boxes:
		return "boxes are open"
	case t.rules.Stories && !t.stories.finished(t.rules):
		return "stories are open"
	case how == event.ClaimStories && !t.rules.Stories:
		return "there are no stories"
	case !g.passed(t.rules):
		return fmt.Sprintf("%d of %d guardrails ran and %d failed", g.guards, t.rules.Guardrails, g.failed)
	case t.size.tooLarge(t.rules):
		return "the change is too large"
	case t.unanswered() != "":
		return t.unanswered()
	case t.rules.Stories || !said || t.rules.Completion.OnPromiseNoWork != "reject" || t.rules.Completion.MinToolCalls == 0:
	case t.process.tools && t.words.tools < t.rules.Completion.MinToolCalls:
		return "too little was done"
	case !t.process.tools && t.progress.shown && !t.progress.blind && !t.progress.moved && t.progress.progress(g, &t.words, &t.process, 1) != "yes":
		return "nothing was done"
	}
	return ""
}

// checkProgress compares an iteration's progress with the notes about the files.
func (w *world) checkProgress(t *counts, e event.Event, p event.IterationEnded) {
	if p.Refunded || w.scenario.wordily {
		return // only the end of the longest texts is compared
	}
	if len(t.heldOut.failed) > 0 {
		if p.Progress != event.ProgressNo {
			w.violate(progressHolds, "event %d: progress is %q, and held-out guardrails refused the claim", e.Seq, p.Progress)
		}
		return
	}
	if p.Refusal != "" {
		if p.Progress != event.ProgressNo || !slices.ContainsFunc(t.progress.refused, func(what string) bool { return slices.Contains(t.progress.refusedBefore, what) }) {
			w.violate(progressHolds, "event %d: progress is %q for a refusal, and %q was refused after %q", e.Seq, p.Progress, t.progress.refused, t.progress.refusedBefore)
		}
		return
	}
	if want := t.progress.progress(&t.verification, &t.words, &t.process, p.Tools); string(p.Progress) != want {
		w.violate(progressHolds, "event %d: progress is %q, and the files say %q (%s, then %s)", e.Seq, p.Progress, want, t.progress.began, t.progress.place)
	}
}

func (w *world) checkTrip(t *counts, e event.Event) {
	p := as[event.BreakerTripped](e)
	count, limit := t.progress.stuck, t.rules.Breaker.NoProgress
	if p.Rule == policy.RuleSameError {
		count, limit = t.progress.errors, t.rules.Breaker.SameError
	}
	if limit == 0 || p.Count != count && !w.scenario.wordily || (p.Step == policy.StepStop) != (p.Count >= limit) {
		w.violate(progressHolds, "event %d: %s after %d iterations in a row, and the journal says %d of %d", e.Seq, e.Data(), p.Count, count, limit)
	}
}

func (w *world) checkWarning(t *counts, e event.Event) {
	p := as[event.BudgetWarned](e)
	if t.warned[p.Limit] {
		w.violate(warnsOnce, "event %d: another warning of %s", e.Seq, p.Limit)
	}
	near := func(used, limit float64) bool { return limit > 0 && used >= limit*4/5-1e-6 }
	known := false
	switch p.Limit {
	case "limits.cost":
		known = !t.process.costs || near(t.usd, t.rules.Limits.Cost)
	case "limits.tokens":
		known = t.process.uncounted || near(float64(t.tokens), float64(t.rules.Limits.Tokens))
	case "limits.duration":
		known = near(float64(t.clock.ran+t.clock.back), float64(t.rules.Limits.Duration))
	case "maximumIterations":
		known = near(float64(t.counted), float64(t.rules.MaximumIterations))
	}
	if !known {
		w.violate(warnsOnce, "event %d: a warning of %s without a reason: %s", e.Seq, p.Limit, p.Why)
	}
}

// checkCounted compares the state's usage with the agents' reports.
func (w *world) checkCounted(r *runner, s *loopstate.State) {
	if !r.whole {
		return
	}
	if s.Budget.Counted != r.notes.counted {
		w.violate(countedOnce, "the state counts %d iterations at event %d, and the journal has %d", s.Budget.Counted, s.Seq, r.notes.counted)
	}
	used := s.Budget.Used()
	if n := used.In + used.Out + used.CacheRead + used.CacheWrite; n != r.notes.tokens {
		w.violate(allCounted, "the state counts %d tokens at event %d, and the agents reported %d", n, s.Seq, r.notes.tokens)
	}
}

func (w *world) checkSize(s *loopstate.State) {
	if n := len(s.Checkpoint()); n > stateMost {
		w.violate(bounded, "the state has %d bytes at event %d", n, s.Seq)
	}
}
