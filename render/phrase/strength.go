package phrase

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// holdoutEnded: the agent reads only the requirement of a held-out guardrail that failed.
func holdoutEnded(p event.HoldoutEnded, _ Known) Phrase {
	took := units.Span(units.Milliseconds(p.Took))
	if p.OK {
		return good(fmt.Sprintf("held-out guardrail %d passed", p.Number), "").with(took)
	}
	return failure(fmt.Sprintf("held-out guardrail %d failed", p.Number), p.Requirement).with(took)
}

func holdoutChecked(p event.HoldoutChecked, _ Known) Phrase {
	said := quiet(fmt.Sprintf("%d of %s passed", p.Passed, units.Quantity(p.Passed+p.Failed, "held-out guardrail")), "")
	if p.Error != "" {
		said = failure("the held-out guardrails could not run", p.Error)
	}
	if p.ByConvention {
		said = said.with("held out by convention: no sandbox")
	}
	return said
}

func proofTried(p event.ProofTried, _ Known) Phrase {
	if p.On == event.TrialClaimed {
		return quiet("the proof is of the files as they are now", "")
	}
	what := map[event.Trial]string{
		event.TrialControl: "the claimed state", event.TrialStart: "the program of the start", event.TrialTests: "the tests of the start",
	}[p.On]
	if p.Mutant != nil {
		what = fmt.Sprintf("a mutant of %s:%d (%s)", p.Mutant.File, p.Mutant.Line, p.Mutant.Operator)
	}
	came := fmt.Sprintf("%s passed, %d failed", units.Quantity(len(p.Passed), "guardrail"), len(p.Failed))
	switch {
	case p.Error != "":
		return warning("tried on "+what, p.Error)
	case p.Invalid:
		came = "it does not build"
	}
	return quiet("tried on "+what, came).with(units.Span(units.Milliseconds(p.Took)))
}

func proofEnded(p event.ProofEnded, _ Known) Phrase {
	if p.Error != "" {
		return warning("the guardrails could not be tried", p.Error)
	}
	said := good(fmt.Sprintf("the done is %s: %s", p.Grade, p.Strength), "").with(units.Span(units.Milliseconds(p.Took)))
	if p.Grade == event.GradeWeak || p.Grade == event.GradeNone {
		said.Tone = ToneWarning
	}
	if len(p.Why) > 0 {
		said.Why = p.Why[0]
	}
	if p.Unpublished != "" {
		said.Tone, said.Why = ToneWarning, "the pull request does not say it: "+p.Unpublished
	}
	return said
}
