package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// unnoticed is the percent of the mutants up to which the guardrails notice almost nothing.
	unnoticed = 20
	// half is the percent of the mutants below which what looks like gaming is believed to be.
	half = 50
	// halfRemoved is that percent for tests that are gone.
	halfRemoved = 40
	// judging is how many mutants that build say that a done is weak, strengthening that it is
	// strong.
	judging       = 3
	strengthening = 5
	// firstSurvivors is how many of them an agent reads.
	firstSurvivors = 5
)

// Grade says how well a done is supported and why, in one sentence each, the reason for the grade
// first. What the grade of s itself says does not matter.
func Grade(s event.Strength, r event.ProveRules) (event.Grade, []string) {
	if total(s.Visible)+total(s.HeldOut)+len(s.Guardrails) == 0 {
		return event.GradeNone, append([]string{"done by the agent's word: there is no guardrail"}, factTexts(s)...)
	}
	p := proofOf(s, r)
	if why := p.weak(r); len(why) > 0 {
		return event.GradeWeak, why
	}
	if missing := p.missing(r); len(missing) > 0 {
		return event.GradeFair, append(missing, factTexts(s)...)
	}
	return event.GradeStrong, append([]string{p.noticed()}, factTexts(s)...)
}

// A proof is what was found out about the guardrails of a loop.
type proof struct {
	event.Strength
	valid int  // mutants that build
	all   bool // that could be made were tried
}

func proofOf(s event.Strength, r event.ProveRules) proof {
	return proof{Strength: s, valid: s.Mutants.Killed + s.Mutants.Survived, all: !s.Cut && s.Mutants.Tried < r.Mutants}
}

// percent returns how many of the mutants that build were noticed.
func (p proof) percent() int { return 100 * p.Mutants.Killed / max(p.valid, 1) }

func (p proof) noticed() string {
	which := "the guardrails"
	if len(p.untried()) > 0 {
		which = "the other guardrails"
	}
	return fmt.Sprintf("%s noticed %d of %s", which, p.Mutants.Killed, units.Quantity(p.valid, "mutant"))
}

func (p proof) seen(verdicts ...event.Proof) bool {
	return slices.ContainsFunc(p.Guardrails, func(g event.GuardrailProof) bool { return slices.Contains(verdicts, g.Verdict) })
}

// untried says which guardrails could not be tried.
func (p proof) untried() (texts []string) {
	for _, g := range p.Guardrails {
		if g.Verdict == event.BrokenControl || g.Verdict == event.NotRun {
			texts = append(texts, verdictText(g))
		}
	}
	return texts
}

// supported reports whether enough mutants were noticed for a strong done.
func (p proof) supported(r event.ProveRules) bool {
	return p.Mutants.Killed > 0 && p.percent() >= r.Strong && (p.valid >= strengthening || p.all) && p.seen(event.Proved)
}

// believed is the percent of the mutants below which a fact that does not weaken a done by itself
// does. Removed tests would pass on the work, so that they say less than other facts.
func believed(k event.FactKind) int {
	switch k {
	case event.FactErrorsHidden:
		return 0
	case event.FactTestsRemoved:
		return halfRemoved
	}
	return half
}

// weak returns why the done is weak, if it is. A single mutant may do the same as the original.
//
// A guardrail that fails in a fresh work tree supports nothing, or an agent could hide what a trial
// would find by breaking the control. The others have to support the done without it.
func (p proof) weak(r event.ProveRules) (why []string) {
	if p.HeldOut.Failed > 0 {
		why = append(why, units.Quantity(p.HeldOut.Failed, "held-out guardrail")+" failed")
	}
	for _, f := range p.Facts {
		if f.Weakens {
			why = append(why, factText(f))
		}
	}
	enough := p.valid >= judging || p.all && p.valid > 1
	if enough && p.percent() <= unnoticed {
		why = append(why, p.noticed())
	} else if enough {
		for _, f := range p.Facts {
			if !f.Weakens && p.percent() < believed(f.Kind) {
				why = append(why, p.noticed()+", and "+factText(f))
			}
		}
	}
	if p.valid > 1 && len(p.Guardrails) > 0 && !slices.ContainsFunc(p.Guardrails, func(g event.GuardrailProof) bool { return g.Verdict != event.Vacuous }) {
		why = append(why, "no guardrail failed on anything that it was tried on")
	}
	if len(why) > 0 || p.seen(event.BrokenControl) && !p.supported(r) {
		why = append(p.untried(), why...)
		if p.valid > 0 && !slices.Contains(why, p.noticed()) {
			why = append(why, p.noticed())
		}
	}
	return why
}

// recorded reports whether the loop rewrote recorded output as a whole, and nothing that it could
// not write supports the done: what it recorded notices each change of the program, right or wrong.
func (p proof) recorded() bool {
	return p.HeldOut.Passed == 0 && slices.ContainsFunc(p.Facts, func(f event.GamingFact) bool { return f.Kind == event.FactSnapshots })
}

// missing returns what a strong done lacks, what decides first.
func (p proof) missing(r event.ProveRules) (why []string) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case p.seen(event.BrokenControl): // the others support the done, and the trials of this one could say otherwise
		return append(p.untried(), p.noticed())
	case p.Visible.Failed > 0:
		say("%s failed", units.Quantity(p.Visible.Failed, "visible guardrail"))
	case len(p.Guardrails) == 0:
		say("it is not known whether the guardrails can fail: they were not tried")
	case p.valid > 0 && p.percent() < r.Strong:
		say("%s: a strong done needs %d %%", p.noticed(), r.Strong)
	case p.valid > 0 && p.valid < strengthening && !p.all:
		say("%s: that is too few to say more", p.noticed())
	case p.valid > 0 && !p.seen(event.Proved):
		say("%s, and no guardrail is proved", p.noticed())
	case p.valid == 0 && p.Mutants.Invalid > 0:
		say("no mutant builds, so that none says anything")
	case p.valid == 0:
		say("no mutant was tried")
	}
	if len(p.Guardrails) > 0 && !p.seen(event.Proved, event.ProvedAtStart) {
		say("no guardrail was seen to fail")
	}
	if p.recorded() {
		say("the loop rewrote recorded output as a whole, and what the guardrails notice may be a difference from that alone")
	}
	if len(why) == 0 {
		return nil
	}
	for _, g := range p.Guardrails {
		if text := verdictText(g); text != "" {
			why = append(why, text)
		}
	}
	return why
}

// verdictText says why a guardrail supports less than it could, or what it was seen to fail on
// where that was no mutant.
func verdictText(g event.GuardrailProof) string {
	switch g.Verdict {
	case event.Vacuous:
		return fmt.Sprintf("%s passed on everything that it was tried on", quoted(g))
	case event.BrokenControl:
		return fmt.Sprintf("%s could not be tried: it fails in a fresh work tree of the claimed state", quoted(g))
	case event.NotRun:
		return fmt.Sprintf("%s was not tried", quoted(g))
	case event.ProvedAtStart:
		if strings.HasPrefix(g.At, "iteration ") {
			return fmt.Sprintf("%s failed in %s", quoted(g), g.At)
		}
		return fmt.Sprintf("%s failed on the program of the start", quoted(g))
	}
	return ""
}

func quoted(g event.GuardrailProof) string { return fmt.Sprintf("%.200q", g.Command) }

func factTexts(s event.Strength) (texts []string) {
	for _, f := range s.Facts {
		texts = append(texts, factText(f))
	}
	return texts
}

func factText(f event.GamingFact) string {
	switch {
	case f.File == "":
		return f.Text
	case f.Line == 0:
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

func total(c event.Counted) int { return c.Passed + c.Failed }

// Require returns what a claim lacks for a level of completion.require, in words for the agent and
// the person. Of held-out guardrails it says only how many there are. s has its grade.
func Require(level string, s event.Strength) (lacks []string) {
	counted := func(c event.Counted, what string) {
		switch {
		case total(c) == 0:
			lacks = append(lacks, fmt.Sprintf("a claim needs %s that passed, and there is none: a person has to add one", what))
		case c.Failed > 0:
			lacks = append(lacks, fmt.Sprintf("%d of %d %ss failed", c.Failed, total(c), strings.TrimPrefix(what, "a ")))
		}
	}
	switch level {
	case "visible":
		counted(s.Visible, "a visible guardrail")
	case "heldOut":
		counted(s.HeldOut, "a held-out guardrail")
	case "proved":
		lacks = unproved(s)
	case "strong":
		if s.Grade != event.GradeStrong {
			lacks = append(lacks, fmt.Sprintf("a claim needs a strong done, and the strength of this one is %s", s.Grade))
			lacks = append(append(lacks, s.Why...), survivors(s)...)
		}
	}
	return lacks
}

// unproved returns what a claim lacks that needs proved guardrails.
func unproved(s event.Strength) (lacks []string) {
	if len(s.Guardrails) == 0 {
		return []string{"a claim needs guardrails that were seen to fail, and none was tried"}
	}
	for _, g := range s.Guardrails {
		if g.Verdict != event.Proved && g.Verdict != event.ProvedAtStart {
			lacks = append(lacks, verdictText(g)+": a claim needs that it was seen to fail")
		}
	}
	if s.Grade == event.GradeWeak {
		lacks = append(append(lacks, "the done is weak"), s.Why...)
	}
	if len(lacks) > 0 {
		lacks = append(lacks, survivors(s)...)
	}
	return lacks
}

// survivors returns the first mutants that no guardrail noticed, as work for the agent.
func survivors(s event.Strength) (texts []string) {
	for _, m := range s.Survivors[:min(len(s.Survivors), firstSurvivors)] {
		change := fmt.Sprintf("is changed from %#.200q to %#.200q", strings.TrimSpace(m.Was), strings.TrimSpace(m.Now))
		if m.Now == "" {
			change = fmt.Sprintf("loses %#.200q", strings.TrimSpace(m.Was))
		}
		texts = append(texts, fmt.Sprintf("no guardrail notices when %s:%d %s: add a test that does", m.File, m.Line, change))
	}
	return texts
}
