package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Proof is what is known of the strength of a done: which guardrails were seen to fail, what the
// proof of the guardrails came to, and who reviewed the work. With prove.auto claim, a claim that
// lacks nothing else waits for the proof, which happens after its iteration: it is judged by what
// the proof came to. With end, the proof follows an accepted claim, before the loop ends. A runner
// that dies meanwhile leaves the trials that are recorded to the next one.
type Proof struct {
	// Tried are the trials of the proof that is open, as far as they are kept, and Mutants is how
	// many mutants were tried.
	Tried   []event.ProofTried `json:"tried,omitempty"`
	Mutants int                `json:"mutants,omitempty"`
	// Ended is what the last proof came to; nil if none ended since the iteration began.
	Ended   *event.ProofEnded    `json:"ended,omitempty"`
	HeldOut event.HoldoutChecked `json:"heldOut,omitzero"`
	// Guardrails are those that ran after an iteration.
	Guardrails []SeenGuardrail `json:"guardrails,omitempty"`
	Reviewers  []string        `json:"reviewers,omitempty"`
	// Repository says that the project is in a repository.
	Repository bool `json:"repository,omitempty"`
	// Settings is the checksum of those in force.
	Settings string `json:"settings,omitempty"`
}

// SeenGuardrail is a guardrail, with the last iteration after which it failed.
type SeenGuardrail struct {
	Name   string `json:"name"`
	Failed int    `json:"failed,omitempty"`
}

const (
	// triedMost bounds the trials that a checkpoint holds, in bytes of mutants. What is not kept is
	// tried again after a crash.
	triedMost     = 64 << 10
	reviewersMost = 8
)

// Apply folds one event. was is the loop before it.
func (f *Proof) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.IterationStarted:
		f.forget()
	case event.LoopStarted:
		*f = Proof{Settings: shaOf(p.Settings)}
	case event.LoopResumed:
		f.resumed(p)
	case event.RepoInspected:
		f.Repository = f.Repository || p.Root == "." || strings.HasPrefix(p.Root, "/") // not one inside the project
	case event.GuardrailEnded:
		f.ran(firstBytes(p.Name, nameMost), p.OK || p.TimedOut, was.Iteration)
	case event.StoryReviewed:
		name := cmp.Or(p.Agent, was.Worker.Name)
		if name != "" && p.Approved && !p.AtCap && !slices.Contains(f.Reviewers, name) && len(f.Reviewers) < reviewersMost {
			f.Reviewers = append(slices.Clip(f.Reviewers), name)
		}
	case event.HoldoutChecked:
		f.HeldOut = p
	case event.ProofTried:
		f.tried(p)
	case event.ProofEnded:
		f.ended(p)
	case event.EffectFailed:
		if p.Do == event.DoProve {
			f.ended(event.ProofEnded{Error: firstBytes(p.Error, problemMost)})
		}
	}
}

// forget keeps only what later claims can rely on.
func (f *Proof) forget() {
	*f = Proof{Guardrails: f.Guardrails, Reviewers: f.Reviewers, Repository: f.Repository, Settings: f.Settings}
}

// resumed continues with the claim and the proof of a runner that died. Under other settings other
// guardrails may be tried.
func (f *Proof) resumed(p event.LoopResumed) {
	settings := shaOf(p.Settings)
	if !p.Died {
		f.forget()
	}
	if settings != f.Settings {
		f.Tried, f.Mutants, f.Guardrails = nil, 0, nil
	}
	f.Settings = settings
}

func (f *Proof) ran(name string, ok bool, iteration int) {
	at := slices.IndexFunc(f.Guardrails, func(g SeenGuardrail) bool { return g.Name == name })
	switch f.Guardrails = slices.Clone(f.Guardrails); {
	case at < 0 && len(f.Guardrails) == failuresMost:
		return
	case at < 0:
		at = len(f.Guardrails)
		f.Guardrails = append(f.Guardrails, SeenGuardrail{Name: name})
	}
	if !ok {
		f.Guardrails[at].Failed = iteration
	}
}

func (f *Proof) tried(p event.ProofTried) {
	switch p.On {
	case event.TrialClaimed:
		f.Tried, f.Mutants = nil, 0
	case event.TrialMutant:
		f.Mutants++
	}
	size := 0
	for _, t := range append(slices.Clip(f.Tried), p) {
		if t.Mutant != nil {
			size += len(t.Mutant.Was) + len(t.Mutant.Now) + 100
		}
	}
	if size <= triedMost {
		f.Tried = append(slices.Clip(f.Tried), p)
	}
}

func (f *Proof) ended(p event.ProofEnded) {
	f.Tried, f.Mutants, f.Ended = nil, 0, &p
}

// Due reports whether the guardrails are to be tried at that moment, "claim" or "end". A level of
// completion.require that only a proof can reach brings the proof forward to the claim.
func (f *Proof) Due(moment string, r event.Rules) bool {
	auto := r.Prove.Auto
	if needs := r.Completion.Require; auto == "end" && (needs == "proved" || needs == "strong") {
		auto = "claim"
	}
	return auto == moment && r.Guardrails > 0 && f.Repository && f.Ended == nil
}

// Strength returns what supports the done, with what the last check of the guardrails came to.
func (f *Proof) Strength(v *Verification, r event.Rules) event.Strength {
	s := f.Known(v, r)
	if f.Ended != nil && f.Ended.Error == "" {
		known := s
		s = f.Ended.Strength
		s.Visible, s.HeldOut, s.ByConvention, s.Reviewers = known.Visible, known.HeldOut, known.ByConvention, known.Reviewers
	}
	s.Grade, s.Why = Grade(s, r.Prove)
	if f.Ended != nil && f.Ended.Error != "" {
		s.Why = append(s.Why, "the guardrails could not be tried: "+f.Ended.Error)
	}
	return s
}

// Known returns what supports the done without a proof of the guardrails. That one of them can fail
// is known if it did so after an iteration.
func (f *Proof) Known(v *Verification, r event.Rules) (s event.Strength) {
	if r.Guardrails > 0 {
		s.Visible = event.Counted{Passed: v.Ran - len(v.Failures), Failed: len(v.Failures)}
	}
	s.HeldOut = event.Counted{Passed: f.HeldOut.Passed, Failed: f.HeldOut.Failed}
	s.ByConvention, s.Reviewers = f.HeldOut.ByConvention, f.Reviewers
	if !slices.ContainsFunc(f.Guardrails, func(g SeenGuardrail) bool { return g.Failed > 0 }) {
		return s
	}
	for _, g := range f.Guardrails {
		seen := event.GuardrailProof{Command: g.Name, Verdict: event.NotRun}
		if g.Failed > 0 {
			seen.Verdict, seen.At = event.ProvedAtStart, fmt.Sprintf("iteration %d", g.Failed)
		}
		s.Guardrails = append(s.Guardrails, seen)
	}
	return s
}
