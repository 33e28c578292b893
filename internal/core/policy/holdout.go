package policy

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Holdout says what the held-out guardrails found in the claimed work. They run when a claim lacks
// nothing else, once in an iteration, and one that failed refuses the claim. The agent reads only
// what the person wants to hold. Claims that the same guardrail refused often are no work but a
// search for what it checks: after completion.holdoutRefusals of them a person is asked, and the
// loop waits for a resume. So it does if the guardrails could not run.
type Holdout struct {
	// Of the present iteration, or of the check before one.
	Ran          bool            `json:"ran,omitempty"`
	Passed       int             `json:"passed,omitempty"`
	Failed       int             `json:"failed,omitempty"`
	ByConvention bool            `json:"byConvention,omitempty"`
	Error        string          `json:"error,omitempty"`   // why there is no verdict
	Failing      []HeldOutFailed `json:"failing,omitempty"` // those that failed

	Sandboxed bool `json:"sandboxed,omitempty"` // a sandbox keeps them from the agents

	// Refusals are the guardrails that refused claims since a person last let the loop go on.
	Refusals []HeldOutFailed `json:"refusals,omitempty"`
	Asks     string          `json:"asks,omitempty"` // why a person is asked
}

// HeldOutFailed is a held-out guardrail that did not pass.
type HeldOutFailed struct {
	Number      int    `json:"number"`
	Requirement string `json:"requirement"`
	Times       int    `json:"times,omitempty"` // claims that it refused
}

// Apply folds one event. was is the loop before it.
func (h *Holdout) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.Decided:
		switch p.Do {
		case event.DoBegin, event.DoCheck, event.DoHoldout:
			h.forget()
		}
	case event.IterationStarted:
		h.forget()
	case event.HoldoutEnded:
		if !p.OK && len(h.Failing) < failuresMost {
			h.Failing = append(h.Failing, HeldOutFailed{Number: p.Number, Requirement: firstBytes(p.Requirement, nameMost)})
		}
	case event.HoldoutChecked:
		if !was.Cancelled {
			h.Ran, h.Passed, h.Failed = true, p.Passed, p.Failed
			h.ByConvention, h.Error = p.ByConvention, firstBytes(p.Error, problemMost)
		}
	case event.EffectFailed:
		if p.Do == event.DoHoldout && !was.Cancelled {
			h.Ran, h.Error = true, firstBytes(p.Error, problemMost)
		}
	case event.CompletionRefused:
		h.refused(was.Rules.Completion.HoldoutRefusals)
	case event.SandboxOpened:
		h.Sandboxed = p.Mode != "none" && p.Mode != "docker-sandbox" // outside of whose machine guardrails run
	case event.LoopUnpaused, event.LoopWaited:
		if h.Asks != "" && resumedByPerson(p) {
			h.Refusals, h.Asks = nil, ""
		}
	case event.LoopResumed:
		if !p.Died {
			*h = Holdout{}
		}
		h.Sandboxed = false // it is opened again
		h.forget()
	}
}

// forget is what a new iteration or a new check does: there is no verdict yet.
func (h *Holdout) forget() { *h = Holdout{Sandboxed: h.Sandboxed, Refusals: h.Refusals, Asks: h.Asks} }

// refused counts a refused claim for each guardrail that failed.
func (h *Holdout) refused(most int) {
	for _, f := range h.Failing {
		at := slices.IndexFunc(h.Refusals, func(before HeldOutFailed) bool { return before.Number == f.Number })
		if at < 0 {
			at = len(h.Refusals)
			h.Refusals = append(h.Refusals, HeldOutFailed{Number: f.Number})
		}
		before := &h.Refusals[at]
		before.Requirement, before.Times = f.Requirement, before.Times+1
		if most > 0 && before.Times >= most && h.Asks == "" {
			h.Asks = fmt.Sprintf("the requirement %q did not hold in %s: 'ralph status' says where the output of the held-out guardrail is",
				f.Requirement, units.Quantity(before.Times, "claim"))
		}
	}
	if h.Error != "" && h.Asks == "" {
		h.Asks = "the held-out guardrails could not run: " + h.Error
	}
}

// Due reports whether the held-out guardrails have to run before a claim counts.
func (h *Holdout) Due(r event.Rules) bool { return r.HeldOut > 0 && !h.Ran }

// Missing says which requirements prevent a claim.
func (h *Holdout) Missing(r event.Rules) []string {
	switch {
	case r.HeldOut == 0:
		return nil
	case h.Error != "":
		return []string{"the held-out guardrails could not run, and a person is asked"}
	case len(h.Failing) > 0:
		var missing []string
		for _, f := range h.Failing {
			missing = append(missing, fmt.Sprintf("the requirement does not hold yet: %q", f.Requirement))
		}
		return missing
	case !h.Ran || h.Passed < r.HeldOut:
		return []string{"the held-out guardrails have not all run"}
	}
	return nil
}

// Refuses reports whether the claim of the open iteration is refused by a held-out guardrail: then
// the iteration was no progress.
func (h *Holdout) Refuses() bool { return len(h.Failing) > 0 }

// Repeated is the requirement that refuses the claim of the open iteration, and refused an earlier
// one; empty if there is none.
func (h *Holdout) Repeated() string {
	for _, f := range h.Failing {
		if slices.ContainsFunc(h.Refusals, func(before HeldOutFailed) bool { return before.Number == f.Number }) {
			return fmt.Sprintf("the requirement does not hold yet: %q", f.Requirement)
		}
	}
	return ""
}
