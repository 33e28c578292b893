package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/prove/gaming"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config says what is proved.
type Config struct {
	// Dir is the project's folder, in a work tree of the repository: only read.
	Dir  string
	Home string // ralph's own folder, where the throw-away work tree is made
	ID   string // names what is proved: see Folder
	// Start and Claimed are commits or trees of git: before the first iteration, and what is
	// claimed.
	Start, Claimed string
	// Guardrails are those that the agent can read, in the order of the settings.
	Guardrails []guardrail.Guardrail
	Env        []string // of the guardrails, complete; nil means the caller's
	// Mark is that of the loop that runs them, so that a later runner finds what a dead one left;
	// "" for the tree's. What a command leaves running ends with it, in whichever session that is.
	Mark string
	// Redact keeps secrets out of what is kept of their outputs: see guardrail.Config.
	Redact   func() guardrail.Redactor
	Worktree config.Worktree // what a fresh work tree needs
	Rules    event.ProveRules
	Seed     int64 // chooses the mutants; 0 derives it from the name of the claimed tree
	// Box opens the sandbox of the commands, which may write in the tree alone; it returns no Wrap
	// where they need none, as does nil.
	Box func(context.Context, *scratch.Tree) (process.Wrap, func() error, error)
	// Known is what supports the claim besides: what held-out guardrails said, the reviewers, and
	// of Guardrails those that were seen to fail in an iteration.
	Known event.Strength
	// Done are the trials of an earlier process with the same Config, in their order.
	Done []event.ProofTried
	// Started is called before each trial, with the number of mutants that are to be tried; Tried
	// after it. An error of Tried ends the proof. Both may be nil.
	Started func(t event.ProofTried, mutants int)
	Tried   func(t event.ProofTried) error
	// Patience is how much longer than a few times its control a command may take; 0
	// means three seconds.
	Patience time.Duration
}

// Folder is where what is kept of proofs of the same work is: in ralph's home, so that a sandbox
// hides it from agents.
func Folder(home, id string) string { return filepath.Join(home, "proofs", id) }

// maxSurvivors is how many survivors a strength names.
const maxSurvivors = 50

// errTimeOver is the cause of a context whose time is over.
var errTimeOver = errors.New("prove.time is over")

// Run proves the guardrails and grades the claim. When the time of the rules is over, or ctx ends,
// the strength is what is known then, with Cut. The error says why nothing could be tried; without
// git or a repository it satisfies [repo.Absent].
func Run(ctx context.Context, c Config) (event.Strength, error) {
	r := &run{Config: c, outer: ctx, strength: c.Known, proofs: make([]event.GuardrailProof, len(c.Guardrails))}
	left := c.Rules.Time.Std()
	for _, t := range c.Done {
		left -= units.Milliseconds(t.Took)
		r.strength.Took += t.Took
	}
	ctx, cancel := context.WithTimeoutCause(ctx, max(left, 0), errTimeOver)
	defer cancel()
	err := r.prove(ctx)
	if err != nil && ctx.Err() != nil {
		r.strength.Cut, err = true, nil
	}
	if err == nil {
		r.judge()
	}
	if r.closeBox != nil {
		err = errors.Join(err, r.closeBox())
	}
	if err = errors.Join(err, r.tree.Close()); err != nil {
		return r.strength, fmt.Errorf("prove the guardrails: %w", err)
	}
	return r.strength, nil
}

// run is one Run.
type run struct {
	Config
	outer    context.Context //nolint:containedctx // the one without the time of the rules, for what is read at the end
	tree     *scratch.Tree
	wrap     process.Wrap // of the commands; nil for none
	closeBox func() error
	states   states
	keep     []string // patterns of what a reset leaves
	controls []control
	proofs   []event.GuardrailProof // the verdicts so far
	strength event.Strength
	tests    *event.ProofTried // the trial of the tests of the start
	tried    []gaming.Mutant   // that build
	moved    func(string) string
}

// prove makes all trials in their order.
func (r *run) prove(ctx context.Context) (err error) {
	if len(r.Guardrails) == 0 {
		return r.compare(ctx)
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	if err := r.control(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.controls, func(c control) bool { return c.ok }) {
		return nil
	}
	if err := r.overStart(ctx); err != nil {
		return err
	}
	if err := r.withOldTests(ctx); err != nil {
		return err
	}
	return r.mutants(ctx)
}

// compare opens the work tree and finds what differs between start and claimed state.
func (r *run) compare(ctx context.Context) (err error) {
	root, err := repo.WorkTree(r.Dir)
	if err != nil {
		return err
	}
	r.tree, err = scratch.Open(ctx, scratch.Config{Dir: r.Dir, Tree: r.Claimed, Home: r.Home, Env: r.Env, Also: []string{r.Start}})
	if err != nil {
		return err
	}
	if r.Box != nil {
		if r.wrap, r.closeBox, err = r.Box(ctx, r.tree); err != nil {
			return fmt.Errorf("open the sandbox of the guardrails: %w", err)
		}
	}
	r.moved = movedTo(root, r.tree.Root, r.Env)
	dir, err := filepath.Rel(r.tree.Root, r.tree.Project)
	if err != nil {
		return err
	}
	r.states = states{dir: filepath.ToSlash(dir), commands: commandsOf(r.Guardrails)}
	if err := r.states.compare(ctx, r.tree.Git(), r.Start, r.Claimed); err != nil {
		return err
	}
	if r.Seed == 0 {
		r.Seed = seedOf(r.states.claimed)
	}
	r.strength.Seed, r.strength.Claimed = r.Seed, r.states.claimed
	return nil
}

// seedOf makes a seed of the name of a tree.
func seedOf(tree string) int64 {
	const digits = 13 // so that a reader of JSON keeps it exactly
	n, _ := strconv.ParseInt(tree[:min(len(tree), digits)], 16, 64)
	return max(n, 1)
}

func commandsOf(guards []guardrail.Guardrail) (commands []string) {
	for _, g := range guards {
		commands = append(commands, g.Command)
	}
	return commands
}

// overStart tries the claimed tests over the program as it was before the loop.
func (r *run) overStart(ctx context.Context) error {
	tree, differs, err := r.states.startWithTests(ctx, r.tree.Git())
	if err != nil || !differs {
		return err
	}
	t, err := r.trial(ctx, event.ProofTried{On: event.TrialStart}, func() error { return r.reset(ctx, tree) }, r.green(), nil)
	if err != nil {
		return err
	}
	for _, i := range t.Failed {
		r.proofs[i] = event.GuardrailProof{Verdict: event.ProvedAtStart, At: "the start"}
	}
	for _, i := range t.Passed {
		r.proofs[i] = event.GuardrailProof{Verdict: event.Vacuous}
	}
	return nil
}

// withOldTests tries the tests of the start over the claimed program, where tests changed.
func (r *run) withOldTests(ctx context.Context) error {
	tree, differs, err := r.states.claimedWithOldTests(ctx, r.tree.Git())
	if err != nil || !differs {
		return err
	}
	t, err := r.trial(ctx, event.ProofTried{On: event.TrialTests}, func() error { return r.reset(ctx, tree) }, r.green(), nil)
	if err == nil {
		r.tests = &t
	}
	return err
}

// mutants tries the mutants that the seed chooses.
func (r *run) mutants(ctx context.Context) error {
	chosen := choose(r.states.mutants(), r.Seed, r.Rules.Mutants)
	reset := func() error { return r.reset(ctx, r.states.claimed) }
	if len(chosen) > 0 && len(r.Done) == 0 {
		if err := reset(); err != nil {
			return err
		}
	}
	for n := range chosen {
		m := chosen[n]
		t, err := r.trial(ctx, event.ProofTried{On: event.TrialMutant, Mutant: &m}, func() error {
			if err := reset(); err != nil {
				return err
			}
			return r.apply(ctx, m)
		}, r.quickest(), func(so event.ProofTried) bool {
			// When one is killed, the rest can only add a first failure.
			return so.Invalid || len(so.Failed) > 0 && !slices.ContainsFunc(r.green(), func(i int) bool {
				return r.proofs[i].Verdict != event.Proved && !slices.Contains(so.Passed, i) && !slices.Contains(so.Failed, i)
			})
		}, len(chosen))
		if err != nil {
			return err
		}
		r.count(m, t)
	}
	return nil
}

// count adds a mutant to the strength.
func (r *run) count(m event.Mutant, t event.ProofTried) {
	r.strength.Mutants.Tried++
	switch {
	case t.Invalid || t.Error != "":
		r.strength.Mutants.Invalid++
		return
	case len(t.Failed) > 0:
		r.strength.Mutants.Killed++
	default:
		r.strength.Mutants.Survived++
		if len(r.strength.Survivors) < maxSurvivors {
			r.strength.Survivors = append(r.strength.Survivors, m)
		}
	}
	r.tried = append(r.tried, gaming.Mutant{File: m.File, Line: m.Line, Noticed: len(t.Failed) > 0})
	for _, i := range t.Failed {
		if r.proofs[i].Verdict != event.Proved {
			r.proofs[i] = event.GuardrailProof{Verdict: event.Proved, At: fmt.Sprintf("%s:%d", m.File, m.Line)}
		}
	}
	for _, i := range t.Passed {
		if r.proofs[i].Verdict == "" {
			r.proofs[i].Verdict = event.Vacuous
		}
	}
}

// judge says what all trials came to.
func (r *run) judge() {
	known := r.strength.Guardrails
	r.strength.Guardrails = nil
	counted := r.strength.Visible == event.Counted{}
	for i, g := range r.Guardrails {
		p := r.proofs[i]
		p.Command = g.Command
		if p.Verdict == "" {
			p.Verdict = event.NotRun
		}
		at := slices.IndexFunc(known, func(k event.GuardrailProof) bool { return k.Command == g.Command && k.Verdict == event.ProvedAtStart })
		if at >= 0 && (p.Verdict == event.Vacuous || p.Verdict == event.NotRun) {
			p = known[at] // it was seen to fail in an iteration
		}
		r.strength.Guardrails = append(r.strength.Guardrails, p)
		switch {
		case !counted || i >= len(r.controls):
		case r.controls[i].ok:
			r.strength.Visible.Passed++
		default:
			r.strength.Visible.Failed++
		}
	}
	slices.SortStableFunc(r.strength.Survivors, func(a, b event.Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	r.strength.Facts = r.facts()
	r.strength.Grade, r.strength.Why = policy.Grade(r.strength, r.Rules)
}
