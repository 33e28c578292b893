package loop_test

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// pending are the effects that were decided and have no outcome yet, by their kind.
type pending map[string]uint64

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
	case event.TypeFolderSeen:
		if as[event.FolderSeen](e).Done && e.Cause == p[event.DoBegin] {
			delete(p, event.DoBegin) // no iteration is needed
			delete(p, event.DoCancel)
		}
	case event.TypeAgentStarted:
		delete(p, event.DoStart)
	case event.TypeAgentRested:
		delete(p, event.DoRelease)
	case event.TypeAgentExited:
		delete(p, event.DoRelease)
		delete(p, event.DoAbort)
		delete(p, event.DoKill)
	case event.TypeIterationChecked:
		delete(p, event.DoCheck)
		delete(p, event.DoCancel)
	case event.TypeSCMEnded:
		delete(p, event.DoCommit)
		delete(p, event.DoCancel)
	case event.TypeIterationEnded:
		// What was asked of an agent that never came to be.
		delete(p, event.DoAbort)
		delete(p, event.DoKill)
		delete(p, event.DoCancel)
	case event.TypeEffectFailed:
		do := as[event.EffectFailed](e).Do
		delete(p, do)
		if do == event.DoCheck || do == event.DoCommit || do == event.DoBegin {
			delete(p, event.DoCancel)
		}
	}
}

// checkIdle asks, where an iteration ends, whether its work is still being looked at or committed.
func (p pending) checkIdle(w *world, e event.Event) {
	for _, do := range []string{event.DoCheck, event.DoCommit} {
		if before := p[do]; before != 0 {
			w.violate(checksEnd, "event %d: the iteration ends, and %s, event %d, has no outcome yet", e.Seq, do, before)
		}
	}
}

// checkAbleTo asks of the world, not of the journal, whether the hand may do that now.
func (w *world) checkAbleTo(r *runner, d event.Decided) {
	if d.Do == event.DoCheck || d.Do == event.DoCommit {
		w.checkAlone(r.hands)
	}
}

func (w *world) checkAlone(h *hands) {
	for _, a := range w.agents {
		if a.alive && !a.resting {
			w.violate(checksAlone, "agent %d is at its turn while its work is looked at", a.pid)
		}
	}
}

func (w *world) checkCheck(t *tally, e event.Event) {
	if t.process.alive && !t.process.resting {
		w.violate(checksAlone, "event %d: the work is looked at before the agent has gone", e.Seq)
	}
	if t.stop[policy.StopNow] || t.stop[policy.Kill] {
		w.violate(wishesHold, "event %d: the work is looked at after the loop was stopped now", e.Seq)
	}
}

func (w *world) checkCommit(t *tally, e event.Event) {
	if !t.inside || !t.gate.checked || !t.gate.passed(t.rules) {
		w.violate(commitsPassed, "event %d: the work is committed when %d of %d guardrails ran and %d failed", e.Seq, t.gate.guards, t.rules.Guardrails, t.gate.failed)
	}
}

// checkRefund asks why an iteration is given back.
func (w *world) checkRefund(t *tally, e event.Event, p event.IterationEnded) {
	known := false
	switch p.Outcome {
	case event.OutcomeLimited:
		known = t.limit.stands()
	case event.OutcomeAborted:
		known = t.stop[policy.StopNow] || t.stop[policy.Kill] || t.fault || t.late()
	case event.OutcomeInterrupted:
		known = t.died
	case event.OutcomeEmpty:
		known = t.empty(p) && !t.person.asked
	case event.OutcomeDone:
		if t.empty(p) && !t.person.waits && !t.person.asked && !t.fault {
			w.violate(refundsHold, "event %d: the iteration is done, and nothing was heard of its agent", e.Seq)
		}
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong:
		// ralph itself cut the others short, and who made progress knew its flags
		t.process.refused = t.process.refused && p.Outcome == event.OutcomeFailed && p.Progress != "yes"
		known = t.several() && t.unfit() // it costs none of the iterations that another could have
		if t.limit.stands() && !t.fault {
			w.violate(refundsHold, "event %d: the iteration ended by a limit (%s) and counts as failed", e.Seq, t.limit.kind)
		}
	}
	if known != p.Refunded {
		w.violate(refundsHold, "event %d: the iteration is %s, refunded: %v; the journal says %v", e.Seq, p.Outcome, p.Refunded, known)
	}
}

// empty says that nothing was heard of the agent in the open iteration, and that no file speaks for it.
func (t *tally) empty(p event.IterationEnded) bool {
	folder := t.gate.folder
	claims := t.rules.DoneFile && folder.Done || t.rules.Checklist && folder.Boxes > 0 && folder.Ticked == folder.Boxes
	return !t.process.spoke && !claims && (p.Progress == "no" || p.Progress == "" && t.process.tools)
}

// checkVerdict asks what a claim lacks.
func (w *world) checkVerdict(t *tally, e event.Event) {
	missing := t.missing(t.words.claimed)
	if e.Type == event.TypeCompletionAccepted && missing != "" {
		w.violate(claimsHold, "event %d: the claim by %s is accepted, and %s", e.Seq, t.words.claimed, missing)
	}
	if e.Type == event.TypeCompletionRefused && missing == "" {
		w.violate(claimsHold, "event %d: the claim by %s is refused, and nothing is missing: %s", e.Seq, t.words.claimed, e.Data())
	}
}

func (t *tally) missing(how string) string {
	said := how == policy.ByPromise || how == policy.ByResponse
	g := &t.gate
	switch {
	case said && !t.words.claim(how, t.rules):
		return "nobody said so"
	case how == policy.ByDoneFile && !(g.folder.Done && t.rules.DoneFile):
		return "there is no file"
	case how == policy.ByChecklist && !(t.rules.Checklist && g.folder.Boxes > 0):
		return "there is no checklist"
	case how != policy.ByDoneFile && t.rules.Checklist && g.folder.Ticked < g.folder.Boxes:
		return "boxes are open"
	case !g.passed(t.rules):
		return fmt.Sprintf("%d of %d guardrails ran and %d failed", g.guards, t.rules.Guardrails, g.failed)
	case len(t.words.unread) > 0:
		return "a message was not read"
	case !said || t.rules.OnPromiseNoWork != "reject" || t.rules.MinToolCalls == 0:
	case t.process.tools && t.words.tools < t.rules.MinToolCalls:
		return "too little was done"
	case !t.process.tools && t.sights.shown && !t.sights.blind && !t.sights.moved && t.sights.progress(g, &t.words, &t.process, 1) != "yes":
		return "nothing was done"
	}
	return ""
}

// checkProgress holds an iteration's progress against what was seen of the files.
func (w *world) checkProgress(t *tally, e event.Event, p event.IterationEnded) {
	if p.Refunded || w.scene.wordily {
		return // of the longest texts only the end is compared
	}
	if want := t.sights.progress(&t.gate, &t.words, &t.process, p.Tools); p.Progress != want {
		w.violate(progressHolds, "event %d: progress is %q, and the files say %q (%s, then %s)", e.Seq, p.Progress, want, t.sights.began, t.sights.place)
	}
}

func (w *world) checkTrip(t *tally, e event.Event) {
	p := as[event.BreakerTripped](e)
	count, limit := t.sights.stuck, t.rules.NoProgress
	if p.Rule == policy.RuleSameError {
		count, limit = t.sights.errors, t.rules.SameError
	}
	if limit == 0 || p.Count != count && !w.scene.wordily || (p.Step == policy.StepStop) != (p.Count >= limit) {
		w.violate(progressHolds, "event %d: %s after %d iterations in a row, and the journal says %d of %d", e.Seq, e.Data(), p.Count, count, limit)
	}
}

func (w *world) checkWarning(t *tally, e event.Event) {
	p := as[event.BudgetWarned](e)
	if t.warned[p.Limit] {
		w.violate(warnsOnce, "event %d: another warning of %s", e.Seq, p.Limit)
	}
	near := func(used, limit float64) bool { return limit > 0 && used >= limit*4/5-1e-6 }
	known := false
	switch p.Limit {
	case "limits.cost":
		known = !t.process.costs || near(t.usd, t.rules.LimitCost)
	case "limits.tokens":
		known = t.process.uncounted || near(float64(t.tokens), float64(t.rules.LimitTokens))
	case "limits.duration":
		known = near(float64((t.clock.ran + t.clock.back).Milliseconds()), float64(t.rules.LimitDuration))
	case "maximumIterations":
		known = near(float64(t.counted), float64(t.rules.MaximumIterations))
	}
	if !known {
		w.violate(warnsOnce, "event %d: a warning of %s without a reason: %s", e.Seq, p.Limit, p.Why)
	}
}

// checkCounted holds what the state says was used against what agents said.
func (w *world) checkCounted(r *runner, s *projector.State) {
	if !r.whole {
		return
	}
	if s.Budget.Counted != r.notes.counted {
		w.violate(countedOnce, "the state counts %d iterations at event %d, and the journal has %d", s.Budget.Counted, s.Seq, r.notes.counted)
	}
	used := s.Budget.Used()
	if n := used.In + used.Out + used.CacheRead + used.CacheWrite; n != r.notes.tokens {
		w.violate(allCounted, "the state counts %d tokens at event %d, and the agents told of %d", n, s.Seq, r.notes.tokens)
	}
}

func (w *world) checkSize(s *projector.State) {
	if n := len(s.Checkpoint()); n > stateMost {
		w.violate(bounded, "the state has %d bytes at event %d", n, s.Seq)
	}
}
