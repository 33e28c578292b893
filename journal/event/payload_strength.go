package event

import (
	"fmt"
	"strings"
)

// Grade says how well a done is supported.
type Grade string

// The grades, in their order.
const (
	GradeNone   Grade = "none"   // by the agent's word: there is no guardrail
	GradeWeak   Grade = "weak"   // the guardrails notice almost nothing, or were made to
	GradeFair   Grade = "fair"   // guardrails passed, and too little is known of what they notice
	GradeStrong Grade = "strong" // the guardrails passed, and notice most changes of the work
)

// Grades are the grades in their order.
var Grades = []Grade{GradeNone, GradeWeak, GradeFair, GradeStrong}

// Strength says what supports a claim that the work is done.
type Strength struct {
	Grade   Grade    `json:"strength"`
	Why     []string `json:"why,omitempty"`     // one sentence each, for a person
	Visible Counted  `json:"visible"`           // the guardrails that the agent can read
	HeldOut Counted  `json:"heldOut,omitzero"`  // those that it cannot
	Mutants Mutants  `json:"mutants,omitzero"`  // of the lines that the loop changed
	Took    int64    `json:"took,omitempty"`    // milliseconds of the proof
	Cut     bool     `json:"cut,omitempty"`     // the proof ended before all was tried
	Seed    int64    `json:"seed,omitempty"`    // that chose the mutants
	Claimed string   `json:"claimed,omitempty"` // the tree of git that was claimed to be done
	// ByConvention says that no sandbox keeps the held-out guardrails from the agent.
	ByConvention bool             `json:"byConvention,omitempty"`
	Guardrails   []GuardrailProof `json:"guardrails,omitempty"`
	// Survivors are the first mutants that no guardrail noticed.
	Survivors []Mutant `json:"survivors,omitempty"`
	// Facts are what gaming looks like, found in the files.
	Facts []GamingFact `json:"facts,omitempty"`
	// Reviewers are the agents that reviewed the work, by name.
	Reviewers []string `json:"reviewers,omitempty"`
}

// Counted counts guardrails.
type Counted struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
}

// Mutants counts changes of the work that were tried. Tried is the sum of the others.
type Mutants struct {
	Killed   int `json:"killed"`   // a guardrail noticed it
	Survived int `json:"survived"` // none did
	Invalid  int `json:"invalid"`  // it does not build, so that it says nothing
	Tried    int `json:"tried"`
}

// Proof is what a proof found out about a guardrail.
type Proof string

// The closed list of verdicts.
const (
	Proved        Proof = "proved"          // it failed on a mutant
	ProvedAtStart Proof = "proved-at-start" // it failed on the program as it was before the loop
	Vacuous       Proof = "vacuous"         // it passed on everything
	BrokenControl Proof = "broken-control"  // it fails in a fresh work tree of the claimed state
	NotRun        Proof = "not-run"         // there was no time, or nothing to try it on
)

// GuardrailProof is the verdict on one guardrail.
type GuardrailProof struct {
	Command string `json:"command"`
	Verdict Proof  `json:"verdict"`
	At      string `json:"at,omitempty"` // on what it failed: "the start", "cart.go:12"
	// Output is the end of what a guardrail with a broken control printed, and Log is the file on
	// that machine with all of it.
	Output string `json:"output,omitempty"`
	Log    string `json:"log,omitempty"`
}

// Mutant is a small change of one place in the work.
type Mutant struct {
	File     string `json:"file"` // from the root of the repository, with slashes
	Line     int    `json:"line"` // the first that differs, from 1
	Operator string `json:"operator"`
	Was      string `json:"was"` // the lines before, without the last newline
	Now      string `json:"now"` // and after; empty if they are removed
}

// GamingFact is something in the files that makes a pass worth less.
type GamingFact struct {
	Kind FactKind `json:"kind"`
	File string   `json:"file,omitempty"` // from the root of the repository, with slashes
	Line int      `json:"line,omitempty"` // in the claimed state, or in the start's for what was removed
	Text string   `json:"text"`           // one sentence for a person, with what was found
	// Weakens says that the fact alone makes the done weak.
	Weakens bool `json:"weakens,omitempty"`
}

// FactKind is a kind of such facts.
type FactKind string

// The closed list of kinds.
const (
	FactTestsRemoved   FactKind = "tests-removed"
	FactTestsSkipped   FactKind = "tests-skipped"
	FactTestsWeakened  FactKind = "tests-weakened"  // fewer assertions than at the start, or looser ones
	FactTestsVacuous   FactKind = "tests-vacuous"   // an assertion that cannot fail
	FactGuardrailEmpty FactKind = "guardrail-empty" // a command that always exits with 0
	FactTestConfig     FactKind = "test-config"     // what chooses or prepares the tests changed
	FactValuesCopied   FactKind = "values-copied"   // the program has the expected values of the tests
	FactSnapshots      FactKind = "snapshots"       // recorded outputs were rewritten as a whole
	FactTestAware      FactKind = "test-aware"      // the program asks whether it is under test
	FactErrorsHidden   FactKind = "errors-hidden"   // errors are swallowed where they would show
)

// String says what supports the done: "4 of 4 visible, 3 of 3 held out, 11 of 12 mutants noticed,
// reviewed by codex"; of a loop without a guardrail "by the agent's word".
func (s Strength) String() string {
	var parts []string
	count := func(c Counted, what string) {
		if all := c.Passed + c.Failed; all > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", c.Passed, all, what))
		}
	}
	count(s.Visible, "visible")
	heldOut := "held out"
	if s.ByConvention {
		heldOut = "held out by convention (no sandbox)"
	}
	count(s.HeldOut, heldOut)
	if valid := s.Mutants.Killed + s.Mutants.Survived; valid > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d mutants noticed", s.Mutants.Killed, valid))
	}
	if len(parts) == 0 {
		parts = append(parts, "by the agent's word")
	}
	if len(s.Reviewers) > 0 {
		parts = append(parts, "reviewed by "+strings.Join(s.Reviewers, " and "))
	}
	return strings.Join(parts, ", ")
}

// Done says it in one sentence: "done: 4 of 4 visible (fair)", "done by the agent's word". It is
// empty where nothing is known, as in journals of older versions.
func (s *Strength) Done() string {
	switch {
	case s == nil:
		return ""
	case s.Grade == GradeNone:
		return "done " + s.String()
	case s.Cut:
		return fmt.Sprintf("done: %s (%s, the proof was cut short)", s, s.Grade)
	}
	return fmt.Sprintf("done: %s (%s)", s, s.Grade)
}

// Explained says why the loop ended, and what supports the done.
func (p LoopEnded) Explained() string {
	switch done := p.Strength.Done(); {
	case done == "":
		return p.Why
	case p.Why == "":
		return done
	default:
		return p.Why + "; " + done
	}
}

// HoldoutEnded: a held-out guardrail has run on the claimed state. The agent can read the journal,
// so that it says neither the command nor what that printed.
type HoldoutEnded struct {
	Number int  `json:"number"` // of the guardrail among those that are held out, from 1
	OK     bool `json:"ok"`
	// Requirement is what the person says has to hold; only of one that failed.
	Requirement string `json:"requirement,omitempty"`
	Took        int64  `json:"took"` // milliseconds
}

// HoldoutChecked: the held-out guardrails have run, or why they could not.
type HoldoutChecked struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	// ByConvention says that no sandbox keeps them from the agent.
	ByConvention bool `json:"byConvention,omitempty"`
	// Error is why there is no verdict.
	Error string `json:"error,omitempty"`
}

// Trial is what guardrails were tried on.
type Trial string

// The closed list of trials.
const (
	TrialClaimed Trial = "claimed" // none yet: the record of what is claimed, before the first trial
	TrialControl Trial = "control" // the claimed state
	TrialStart   Trial = "start"   // the claimed tests over the program of the start
	TrialTests   Trial = "tests"   // the tests of the start over the claimed program
	TrialMutant  Trial = "mutant"
)

// ProofTried: guardrails have run on one state in a throw-away work tree. A proof that a crash cut
// off goes on after the last of them.
type ProofTried struct {
	On     Trial   `json:"on"`
	Mutant *Mutant `json:"mutant,omitempty"`
	// Passed and Failed are guardrails by their place in the settings, from 0.
	Passed []int `json:"passed,omitempty"`
	Failed []int `json:"failed,omitempty"`
	// Invalid says that a mutant does not build.
	Invalid bool `json:"invalid,omitempty"`
	// Error is why there is no verdict.
	Error string `json:"error,omitempty"`
	// Claimed is the tree of git that is claimed to be done; in the record before the first trial.
	Claimed string `json:"claimed,omitempty"`
	Took    int64  `json:"took"` // milliseconds
}

// ProofEnded: what the proof of the guardrails came to.
type ProofEnded struct {
	Strength
	// Error is why nothing was tried.
	Error string `json:"error,omitempty"`
	// Unpublished is why the text of the loop's pull request does not say it; empty if it does, or
	// if there is none.
	Unpublished string `json:"unpublished,omitempty"`
}
