package loop_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// The proof of the guardrails. A crash keeps the trials that were recorded before it.

const (
	// The guardrails are tried once for a claim, while no iteration is open, and the loop was not
	// stopped.
	provedOnce = "a claim is proved once"
	// A proof that a crash cut off goes on after its last trial.
	proofGoesOn = "a proof goes on"
	// The end says what the proof came to.
	strengthHolds = "the strength holds"
)

// proving draws a scenario of the twelfth edition: most loops with guardrails prove them.
func proving(seed uint64) scenario {
	s := eleventh(seed)
	r := rand.New(rand.NewPCG(seed, 14))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 12
	s.proves = pick(0, 10, 60, 100)
	if s.proves > 0 {
		s.rules.Prove = event.ProveRules{
			Auto: []string{"claim", "end", "end", "off"}[r.IntN(4)], Time: event.Duration(600e9), Mutants: pick(0, 1, 6, 20), Strong: 70,
		}
		s.rules.Completion.Require = []string{"", "any", "visible", "proved", "strong"}[r.IntN(5)]
	}
	return s
}

// stopping draws a scenario of the fifteenth edition: whether there are fences does not depend on
// whether there are proofs, and people stop loops whose guardrails are being tried.
func stopping(seed uint64) scenario {
	s := fencing(seed)
	r := rand.New(rand.NewPCG(seed, 16))
	s.edition = 15
	s.fences, s.claimed, s.proofStops = []int{0, 0, 2, 15}[r.IntN(4)], []int{0, 30}[r.IntN(2)], []int{0, 10, 40}[r.IntN(3)]
	return s
}

// prove tries the guardrails after what an earlier runner tried. They notice all or nothing.
func (h *simExecutor) prove(d event.Decided, rules event.Rules, done []event.ProofTried, cause event.Seq, over func()) {
	w := h.r.w
	if w.rng.IntN(1000) < w.scenario.effectFails {
		h.failEffect(d, cause)
		over()
		return
	}
	var s event.Strength
	count := func(tried event.ProofTried) {
		if tried.On == event.TrialMutant {
			if s.Mutants.Tried++; len(tried.Failed) > 0 {
				s.Mutants.Killed++
			} else {
				s.Mutants.Survived++
			}
		}
	}
	for _, tried := range done {
		count(tried)
	}
	trials := []event.ProofTried{{On: event.TrialClaimed, Claimed: "t"}, {On: event.TrialControl, Passed: []int{0}}, {On: event.TrialStart, Passed: []int{0}}}
	for n := range rules.Prove.Mutants {
		tried := event.ProofTried{On: event.TrialMutant, Mutant: &event.Mutant{File: "a.go", Line: n + 1, Operator: "constant", Was: "1", Now: "2"}}
		if w.chance(w.scenario.proves) {
			tried.Failed = []int{0}
		} else {
			tried.Passed = []int{0}
		}
		trials = append(trials, tried)
	}
	var next func()
	next = func() {
		at := len(done)
		if at >= len(trials) || h.cancelled {
			s.Cut = at < len(trials)
			verdict := event.Vacuous
			if s.Mutants.Killed > 0 {
				verdict = event.Proved
			}
			for n := range rules.Guardrails {
				s.Guardrails = append(s.Guardrails, event.GuardrailProof{Command: fmt.Sprint("check ", n), Verdict: verdict})
			}
			h.deliver(event.ProofEnded{Strength: s}, d.Iteration, cause)
			over()
			return
		}
		if w.scenario.proofStops > 0 && w.chance(w.scenario.proofStops) {
			kinds := []event.CommandKind{event.CommandStop, event.CommandStop, event.CommandStopNow, event.CommandKill}
			w.users.drop(event.CommandReceived{Kind: kinds[w.rng.IntN(len(kinds))]})
		}
		h.meanwhile(func() {
			if !h.cancelled {
				done = append(done, trials[at])
				count(trials[at])
				h.deliver(trials[at], d.Iteration, cause)
			}
			next()
		})
	}
	next()
}

// proofModel notes what is known of the proof of the last claim.
type proofModel struct {
	waits      bool // a claim waits for it
	repository bool
	trials     int
	mutants    event.Mutants
	ended      *event.ProofEnded
}

func (m *proofModel) read(e event.Event) {
	switch e.Type {
	case event.TypeIterationStarted:
		*m = proofModel{repository: m.repository}
	case event.TypeLoopResumed:
		if !as[event.LoopResumed](e).Died {
			*m = proofModel{repository: m.repository}
		}
	case event.TypeRepoInspected:
		m.repository = true
	case event.TypeCompletionClaimed:
		m.waits = as[event.CompletionClaimed](e).Unproved
	case event.TypeCompletionAccepted, event.TypeCompletionRefused:
		m.waits = false
	case event.TypeProofTried:
		m.trials++
		if tried := as[event.ProofTried](e); tried.On == event.TrialMutant {
			if m.mutants.Tried++; len(tried.Failed) > 0 {
				m.mutants.Killed++
			} else {
				m.mutants.Survived++
			}
		}
	case event.TypeProofEnded:
		p := as[event.ProofEnded](e)
		m.ended = &p
	case event.TypeEffectFailed:
		if as[event.EffectFailed](e).Do == event.DoProve {
			m.ended = &event.ProofEnded{Error: as[event.EffectFailed](e).Error}
		}
	}
}

// supports reports whether a claim has what completion.require asks for. Between what is surely
// enough and what is surely too little, the verdict is right.
func (m *proofModel) supports(rules event.Rules, verdict bool) bool {
	killed, valid := m.mutants.Killed, m.mutants.Tried
	failed := m.ended == nil || m.ended.Error != ""
	switch rules.Completion.Require {
	case "visible":
		return rules.Guardrails > 0
	case "proved", "strong":
		switch {
		case rules.Guardrails == 0:
			return false
		case verdict:
			return rules.Completion.Require == "proved" || !failed && killed*100 >= 70*valid
		}
		return !failed && killed >= 5 && killed == valid
	}
	return true
}

// unanswered says what else people wait for.
func (t *counts) unanswered() string {
	switch {
	case len(t.words.unread) > 0:
		return "a message was not read"
	case t.questions.blocking():
		return "a question has no answer"
	}
	return ""
}

func (w *world) checkProve(t *counts, e event.Event) {
	switch {
	case t.inside:
		w.violate(provedOnce, "event %d: the guardrails are tried within iteration %d", e.Seq, t.open)
	case len(t.stop) > 0:
		w.violate(provedOnce, "event %d: the guardrails are tried after a stop took effect", e.Seq)
	case !t.proof.repository, t.rules.Guardrails == 0, t.rules.Prove.Auto == "off", t.rules.Prove.Auto == "":
		w.violate(provedOnce, "event %d: the guardrails are tried, and there is nothing to try", e.Seq)
	case !t.proof.waits && t.accepted == "":
		w.violate(provedOnce, "event %d: the guardrails are tried without a claim", e.Seq)
	case t.proof.ended != nil:
		w.violate(provedOnce, "event %d: the guardrails are tried again for the same claim", e.Seq)
	}
}

func (w *world) checkTried(t *counts, e event.Event) {
	tried := as[event.ProofTried](e)
	if m := tried.Mutant; m != nil && m.Line != t.proof.mutants.Tried+1 {
		w.violate(proofGoesOn, "event %d: the mutant of line %d is tried after %d others", e.Seq, m.Line, t.proof.mutants.Tried)
	}
	if first := tried.On == event.TrialClaimed; first != (t.proof.trials == 0) {
		w.violate(proofGoesOn, "event %d: the trial on %q comes after %d others", e.Seq, tried.On, t.proof.trials)
	}
}

func (w *world) checkStrength(t *counts, e event.Event, p event.LoopEnded) {
	said := p.Strength
	switch {
	case (said != nil) != (p.Status == event.StatusCompleted && t.rules.Prove.Auto != ""):
		w.violate(strengthHolds, "event %d: the loop ends as %s with the strength %v", e.Seq, p.Status, said)
	case said == nil:
		return
	case (said.Grade == event.GradeNone) != (t.rules.Guardrails+t.rules.HeldOut == 0):
		w.violate(strengthHolds, "event %d: the done is %s with %d guardrails and %d held out", e.Seq, said.Grade, t.rules.Guardrails, t.rules.HeldOut)
	}
	if proof := t.proof.ended; proof != nil && said.Mutants != t.proof.mutants && proof.Error == "" {
		w.violate(strengthHolds, "event %d: the end says %v of mutants, and the journal %v", e.Seq, said.Mutants, t.proof.mutants)
	}
	due := t.rules.Prove.Auto != "off" && t.rules.Guardrails > 0 && t.proof.repository && len(t.stop) == 0 && !t.late()
	if due && t.proof.ended == nil {
		w.violate(strengthHolds, "event %d: the loop ends without a proof", e.Seq)
	}
}

// provable is a scenario in which each claim is proved.
func provable(s *scenario) {
	claiming(s)
	s.edition, s.repo, s.passes, s.proves = len(editions), true, 100, 50
	s.rules.HeldOut, s.commands, s.proofStops, s.trouble, s.hopeless, s.limits, s.asks, s.edits = 0, 0, 0, 0, false, 0, 0, 0
	s.rules.Prove = event.ProveRules{Auto: "claim", Time: event.Duration(600e9), Mutants: 6, Strong: 70}
}

var wrongProofs = []wrong{
	{"a proof is asked for again", mutation{folded: after(event.TypeProofEnded, func(s *loopstate.State) { s.Proof.Ended = nil }), unfolded: true, stage: provable}, provedOnce},
	{"a proof that a crash cut off begins again", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.Proof.Tried = nil }), unfolded: true, stage: func(s *scenario) {
		provable(s)
		s.disasters, s.rules.Prove.Mutants, s.guardTime = 4, 20, 60e9
	}}, proofGoesOn},
	{"the agent's word is enough", mutation{folded: after(event.TypeProofEnded, func(s *loopstate.State) { s.Rules.Completion.Require = "any" }), unfolded: true, stage: func(s *scenario) {
		provable(s)
		s.proves, s.rules.Completion.Require = 1, "strong"
	}}, claimsHold},
	{"the end forgets the proof", mutation{folded: after(event.TypeProofEnded, func(s *loopstate.State) { s.Proof.Ended = &event.ProofEnded{} }), unfolded: true, stage: provable}, strengthHolds},
}
