package loop_test

import (
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The held-out guardrails of the eleventh edition, which run when a claim lacks nothing else.

// The invariants of held-out guardrails.
const (
	// No agent's process is alive while they run.
	heldOutAlone = "no agent watches the held-out guardrails"
	// They run only for a claim that lacks nothing else, and once in an iteration.
	heldOutLast = "the held-out guardrails come last"
	// A loop whose claims the same one refused often begins nothing before a person lets it.
	heldOutAsks = "what is refused often is a person's"
)

// eleventh draws a scenario of the eleventh edition: half of the loops have held-out guardrails.
func eleventh(seed uint64) scenario {
	s := tenth(seed)
	r := rand.New(rand.NewPCG(seed, 13))
	s.edition = 11
	if r.IntN(2) == 0 {
		return s
	}
	s.rules.HeldOut, s.heldOutPass = 1+r.IntN(3), []int{10, 50, 90}[r.IntN(3)]
	s.rules.Completion.HoldoutRefusals = r.IntN(4)
	return s
}

// holdOut answers holdout.check.
func (h *simExecutor) holdOut(d event.Decided, number int, checked event.HoldoutChecked, cause event.Seq, most int, done func()) {
	w := h.r.w
	switch {
	case h.cancelled:
		checked.Error = "they were interrupted"
	case number == 0 && w.chance(1):
		h.fail(d, cause, event.ClassTransient, errors.New("there is no such effect"))
		done()
		return
	case w.chance(2):
		checked.Error = "the work could not be copied"
	case number < most:
		h.meanwhile(func() {
			ended := event.HoldoutEnded{Number: number + 1, OK: w.chance(w.scenario.heldOutPass)}
			if !ended.OK {
				ended.Requirement = "it holds"
			}
			if !h.cancelled {
				h.deliver(ended, d.Iteration, cause)
				if ended.OK {
					checked.Passed++
				} else {
					checked.Failed++
				}
			}
			h.holdOut(d, number+1, checked, cause, most, done)
		})
		return
	}
	h.deliver(checked, d.Iteration, cause)
	done()
}

// heldOutModel notes what the held-out guardrails say.
type heldOutModel struct {
	ran, broken bool
	passed      int
	failed      []int
	cancelled   bool
	refused     map[int]int // claims, since a person let the loop go on
	asks        bool
}

func (m *heldOutModel) read(e event.Event, rules event.Rules) {
	switch e.Type {
	case event.TypeIterationStarted:
		m.forget()
	case event.TypeLoopResumed:
		if !as[event.LoopResumed](e).Died {
			*m = heldOutModel{}
		}
		m.forget()
	case event.TypeLoopUnpaused, event.TypeLoopWaited:
		if m.asks && resumed(e) {
			*m = heldOutModel{ran: m.ran, broken: m.broken, passed: m.passed, failed: m.failed}
		}
	case event.TypeDecided:
		switch as[event.Decided](e).Do {
		case event.DoBegin, event.DoCheck, event.DoHoldout:
			m.forget()
		case event.DoCancel:
			m.cancelled = true
		}
	case event.TypeHoldoutEnded:
		if p := as[event.HoldoutEnded](e); p.OK {
			m.passed++
		} else {
			m.failed = append(m.failed, p.Number)
		}
	case event.TypeHoldoutChecked:
		m.ran, m.broken = !m.cancelled, as[event.HoldoutChecked](e).Error != ""
	case event.TypeEffectFailed:
		if as[event.EffectFailed](e).Do == event.DoHoldout {
			m.ran, m.broken = !m.cancelled, true
		}
	case event.TypeCompletionRefused:
		for _, number := range m.failed {
			if m.refused == nil {
				m.refused = map[int]int{}
			}
			m.refused[number]++
			m.asks = m.asks || rules.Completion.HoldoutRefusals > 0 && m.refused[number] >= rules.Completion.HoldoutRefusals
		}
		m.asks = m.asks || m.ran && m.broken
	}
}

func (m *heldOutModel) forget() {
	*m = heldOutModel{refused: m.refused, asks: m.asks}
}

// missing says what a claim lacks by them.
func (m *heldOutModel) missing(rules event.Rules) string {
	switch {
	case rules.HeldOut == 0:
		return ""
	case !m.ran:
		return "the held-out guardrails did not run"
	case m.broken, len(m.failed) > 0, m.passed < rules.HeldOut:
		return "held-out guardrails failed"
	}
	return ""
}

// checkHeldOut checks the decision to run them.
func (w *world) checkHeldOut(t *counts, e event.Event) {
	if t.process.alive {
		w.violate(heldOutAlone, "event %d: an agent is alive", e.Seq)
	}
	if t.heldOut.ran || t.rules.HeldOut == 0 {
		w.violate(heldOutLast, "event %d: they have run, or there are none", e.Seq)
	}
	if t.stop[event.CommandStopNow] || t.stop[event.CommandKill] {
		w.violate(commandsHold, "event %d: they run after the loop was stopped now", e.Seq)
	}
	if missing := t.lacks(t.claimNow()); missing != "" {
		w.violate(heldOutLast, "event %d: they run, and %s", e.Seq, missing)
	}
}

// claimNow is how the work is claimed to be done.
func (t *counts) claimNow() event.Claim {
	for _, how := range []event.Claim{event.ClaimPromise, event.ClaimResponse, event.ClaimDoneFile, event.ClaimChecklist, event.ClaimStories} {
		if t.lacks(how) == "" {
			return how
		}
	}
	return event.ClaimPromise
}

// examined is a scenario of held-out guardrails that often fail, and of claims.
func examined(s *scenario) {
	manyJobs(s)
	s.claims, s.trouble, s.stories, s.rules.Stories, s.rules.Guardrails, s.hopeless, s.questions = 80, 0, 0, false, 0, false, 0
	s.rules.HeldOut, s.heldOutPass, s.rules.Completion.HoldoutRefusals, s.rules.MaximumIterations = 2, 40, 2, 12
	s.rules.Completion.OnPromiseNoWork, s.agents, s.rules.Agents, s.rules.Reviewers = "accept", nil, nil, 0
}

var wrongHeldOut = []wrong{
	{"a held-out guardrail that failed is believed", mutation{folded: always(func(s *loopstate.State) { s.Holdout.Failing = nil; s.Holdout.Passed = 9 }), unfolded: true, stage: examined}, claimsHold},
	{"refusals are forgotten", mutation{folded: always(func(s *loopstate.State) { s.Holdout.Refusals, s.Holdout.Asks = nil, "" }), unfolded: true, stage: examined}, heldOutAsks},
	{"a refused claim is progress", mutation{folded: after(event.TypeHoldoutChecked, func(s *loopstate.State) {
		if len(s.Holdout.Failing) > 0 {
			s.Holdout.Failing, s.Holdout.Error = nil, strings.Repeat("x", 9)
		}
	}), unfolded: true, stage: examined}, progressHolds},
	{"a check that is over goes on", mutation{folded: after(event.TypeHoldoutChecked, func(s *loopstate.State) {
		if s.Phase == policy.Settled {
			s.Phase, s.Holdout.Ran = policy.Checked, false
		}
	}), unfolded: true, stage: examined}, heldOutLast},
}
