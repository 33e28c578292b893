package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// Where guardrails run outside of what the agents are in, the held-out ones are not kept apart.
func TestHoldoutSandboxed(t *testing.T) {
	for mode, want := range map[string]bool{"none": false, "docker-sandbox": false, "bwrap": true, "podman": true} {
		var h policy.Holdout
		if h.Apply(event.SandboxOpened{Mode: mode}, &policy.Lifecycle{}); h.Sandboxed != want {
			t.Errorf("%s: sandboxed is %t", mode, h.Sandboxed)
		}
	}
}

func guardrails(verdicts ...event.Proof) (all []event.GuardrailProof) {
	for i, v := range verdicts {
		g := event.GuardrailProof{Command: fmt.Sprintf("make check%d", i+1), Verdict: v}
		if v == event.Proved {
			g.At = "cart.go:12"
		}
		all = append(all, g)
	}
	return all
}

func mutants(killed, survived, invalid int) event.Mutants {
	return event.Mutants{Killed: killed, Survived: survived, Invalid: invalid, Tried: killed + survived + invalid}
}

func gamed(kind event.FactKind, weakens bool) []event.GamingFact {
	return []event.GamingFact{{Kind: kind, File: "cart_test.go", Line: 7, Text: "TestTotal is skipped", Weakens: weakens}}
}

// strengths are dones with the grade that each has.
var strengths = []struct {
	name string
	want event.Grade
	event.Strength
}{
	{"no guardrail", event.GradeNone, event.Strength{}},
	{"no guardrail, and a fact", event.GradeNone, event.Strength{Facts: gamed(event.FactTestsSkipped, true)}},
	{"not tried", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 2}}},
	{"only held-out ones", event.GradeFair, event.Strength{HeldOut: event.Counted{Passed: 2}}},
	{"nothing to mutate", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1}, Guardrails: guardrails(event.Vacuous)}},
	{"red at the start", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1}, Guardrails: guardrails(event.ProvedAtStart)}},
	{"red in an iteration", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1},
		Guardrails: []event.GuardrailProof{{Command: "make test", Verdict: event.ProvedAtStart, At: "iteration 3"}}}},
	{"one mutant of one survived", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(0, 1, 0), Guardrails: guardrails(event.Vacuous)}},
	{"two of two survived", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(0, 2, 0), Guardrails: guardrails(event.Vacuous)}},
	{"two of two survived, and time was over", event.GradeFair,
		event.Strength{Visible: event.Counted{Passed: 1}, Cut: true, Mutants: mutants(0, 2, 0), Guardrails: guardrails(event.ProvedAtStart)}},
	{"almost none noticed", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(2, 8, 4), Guardrails: guardrails(event.Proved)}},
	{"none builds", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(0, 0, 5), Guardrails: guardrails(event.ProvedAtStart)}},
	{"some noticed", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(6, 4, 0), Guardrails: guardrails(event.Proved, event.Vacuous)}},
	{"some noticed, and a fact", event.GradeFair,
		event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(6, 4, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactTestsSkipped, false)}},
	{"few noticed, and a fact", event.GradeWeak,
		event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(4, 6, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactTestsSkipped, false)}},
	{"few noticed, and hidden errors", event.GradeFair,
		event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(4, 6, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactErrorsHidden, false)}},
	{"most noticed, and a fact that weakens", event.GradeWeak,
		event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(9, 1, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactTestsSkipped, true)}},
	{"most noticed", event.GradeStrong, event.Strength{Visible: event.Counted{Passed: 2}, HeldOut: event.Counted{Passed: 1},
		Mutants: mutants(11, 1, 0), Guardrails: guardrails(event.Proved, event.Vacuous)}},
	{"most noticed, and a fact to read", event.GradeStrong, event.Strength{Visible: event.Counted{Passed: 1},
		Mutants: mutants(11, 1, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactValuesCopied, false)}},
	{"most noticed, by recorded output that was rewritten", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1},
		Mutants: mutants(11, 1, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactSnapshots, false)}},
	{"recorded output that was rewritten, and a held-out guardrail", event.GradeStrong, event.Strength{Visible: event.Counted{Passed: 1},
		HeldOut: event.Counted{Passed: 1}, Mutants: mutants(11, 1, 0), Guardrails: guardrails(event.Proved), Facts: gamed(event.FactSnapshots, false)}},
	{"all of few noticed", event.GradeStrong, event.Strength{Visible: event.Counted{Passed: 1}, Mutants: mutants(2, 0, 0), Guardrails: guardrails(event.Proved)}},
	{"few noticed before time was over", event.GradeFair,
		event.Strength{Visible: event.Counted{Passed: 1}, Cut: true, Mutants: mutants(4, 0, 0), Guardrails: guardrails(event.Proved, event.NotRun)}},
	{"the only guardrail fails in a fresh tree", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 1}, Guardrails: guardrails(event.BrokenControl)}},
	{"one fails in a fresh tree, and the others notice almost nothing", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 2},
		Mutants: mutants(2, 17, 0), Guardrails: guardrails(event.BrokenControl, event.Proved)}},
	{"one fails in a fresh tree, and the others notice some", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 2},
		Mutants: mutants(6, 4, 0), Guardrails: guardrails(event.BrokenControl, event.Proved)}},
	{"one fails in a fresh tree, and the others notice most", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 2},
		Mutants: mutants(11, 1, 0), Guardrails: guardrails(event.Proved, event.BrokenControl)}},
	{"one fails in a fresh tree, and the others were seen to fail at the start", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 2},
		Guardrails: guardrails(event.ProvedAtStart, event.BrokenControl)}},
	{"no time for one, and the others notice almost nothing", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 2}, Cut: true,
		Mutants: mutants(1, 9, 0), Guardrails: guardrails(event.Proved, event.NotRun)}},
	{"a held-out one failed", event.GradeWeak, event.Strength{Visible: event.Counted{Passed: 1}, HeldOut: event.Counted{Passed: 1, Failed: 1},
		Mutants: mutants(9, 1, 0), Guardrails: guardrails(event.Proved)}},
	{"a visible one failed", event.GradeFair, event.Strength{Visible: event.Counted{Passed: 1, Failed: 1}, Mutants: mutants(9, 1, 0), Guardrails: guardrails(event.Proved)}},
}

var proveRules = event.ProveRules{Mutants: 20, Strong: 70}

// The words for each grade, and what each level of completion.require says, are in a file.
func TestGrade(t *testing.T) {
	var text strings.Builder
	for _, c := range strengths {
		s := c.Strength
		if s.Mutants.Survived > 0 {
			s.Survivors = []event.Mutant{{File: "cart.go", Line: 12, Operator: "condition", Was: "\tif a < b {", Now: "\tif a <= b {"}}
		}
		s.Grade, s.Why = policy.Grade(s, proveRules)
		if s.Grade != c.want {
			t.Errorf("%s: %s, want %s: %q", c.name, s.Grade, c.want, s.Why)
		}
		if len(s.Why) == 0 {
			t.Errorf("%s: no reason", c.name)
		}
		fmt.Fprintf(&text, "%s: %s\n", c.name, s.Grade)
		for _, why := range s.Why {
			fmt.Fprintf(&text, "    %s\n", why)
		}
		for _, level := range []string{"any", "visible", "heldOut", "proved", "strong"} {
			for _, lacks := range policy.Require(level, s) {
				fmt.Fprintf(&text, "  %s: %s\n", level, lacks)
			}
		}
	}
	golden.Check(t, "testdata/strength.golden", text.String())
}

func TestRequire(t *testing.T) {
	strong := event.Strength{
		Grade: event.GradeStrong, Visible: event.Counted{Passed: 1}, HeldOut: event.Counted{Passed: 1}, Guardrails: guardrails(event.Proved, event.ProvedAtStart),
	}
	for _, level := range []string{"", "any", "visible", "heldOut", "proved", "strong"} {
		if lacks := policy.Require(level, strong); len(lacks) > 0 {
			t.Errorf("%s lacks %q", level, lacks)
		}
		lacks := policy.Require(level, event.Strength{Grade: event.GradeNone})
		if needs := level != "" && level != "any"; needs != (len(lacks) > 0) {
			t.Errorf("without a guardrail %s lacks %q", level, lacks)
		}
	}
}
