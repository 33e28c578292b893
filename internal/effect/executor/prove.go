package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/prove"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// provePlan is the part of the state that a proof of the guardrails needs.
type provePlan struct {
	rules event.ProveRules
	known event.Strength
	tried []event.ProofTried // by a runner that died
	head  string             // of the repository before the first iteration
	made  *policy.PullRequest
}

func planProof(s *loopstate.State) provePlan {
	p := provePlan{rules: s.Rules.Prove, known: s.Proof.Known(&s.Verification, s.Rules), tried: s.Proof.Tried, made: s.Lifecycle.PullRequest}
	for _, r := range s.Changes.Repos {
		if r.Before.Root == "." || filepath.IsAbs(r.Before.Root) {
			p.head = r.Before.Head
		}
	}
	return p
}

// prove tries whether the guardrails can fail. What cannot be tried is no failure of the loop.
func (x *Executor) prove(ctx context.Context, d event.Decided, p provePlan, cause event.Seq) {
	strength, err := x.tryGuardrails(ctx, d, p, cause)
	ended := event.ProofEnded{Strength: x.redactStrength(strength)}
	if err != nil {
		ended.Error = err.Error()
	} else {
		ended.Unpublished = x.publishStrength(ctx, p.made, ended.Strength)
	}
	x.deliver(ended, d.Iteration, cause)
}

// publishStrength adds what supports the work to the text of the pull request that the loop made,
// of several to the last one, and returns why it could not.
func (x *Executor) publishStrength(ctx context.Context, made *policy.PullRequest, s event.Strength) (problem string) {
	if made == nil || made.URL == "" || !x.cfg.SCM.Publishes() || ctx.Err() != nil {
		return ""
	}
	branch, address := repo.Branch(ctx, x.cfg.Project), made.URL
	if n := len(made.Stack); n > 0 {
		branch, address = made.Stack[n-1].Branch, made.Stack[n-1].URL
	}
	text := fmt.Sprintf("## Strength\n\n%s: %s", s.Grade, s)
	for _, why := range s.Why[:min(len(s.Why), maxReasons)] {
		text += "\n- " + units.Cut(oneLine(why), maxCommand)
	}
	at := forge.Place{Dir: x.cfg.Project, Env: x.cfg.Env, Remotes: repo.Remotes(ctx, x.cfg.Project, x.cfg.Env...)}
	if err := at.AddStrength(ctx, branch, len(made.Stack) > 0, address, x.masked(text)); err != nil && ctx.Err() == nil {
		return x.masked(err.Error())
	}
	return ""
}

// maxReasons is how many reasons of the strength a pull request has.
const maxReasons = 5

func (x *Executor) tryGuardrails(ctx context.Context, d event.Decided, p provePlan, cause event.Seq) (event.Strength, error) {
	if x.cfg.Home == "" {
		return p.known, errors.New("ralph's own folder is not known")
	}
	start, err := x.beforeLoop(ctx, p.head)
	if err != nil {
		return p.known, err
	}
	claimed, done, err := x.claimed(ctx, p.tried)
	if err != nil {
		return p.known, err
	}
	if len(p.tried) == 0 || p.tried[0].Claimed != claimed {
		x.deliver(event.ProofTried{On: event.TrialClaimed, Claimed: claimed}, d.Iteration, cause)
	}
	return prove.Run(ctx, prove.Config{
		Dir: x.cfg.Project, Home: x.cfg.Home, ID: x.cfg.ID, Mark: process.OwnMark(x.cfg.Home, x.cfg.ID), Redact: x.redactor(), Start: start, Claimed: claimed,
		Guardrails: x.cfg.Guardrails, Env: x.cfg.Env, Worktree: x.cfg.Worktree, Rules: p.rules, Box: x.cfg.Box, Known: p.known, Done: done,
		Tried: func(tried event.ProofTried) error {
			if tried.Mutant != nil {
				mutant := x.redactMutant(*tried.Mutant)
				tried.Mutant = &mutant
			}
			x.deliver(tried, d.Iteration, cause)
			return nil
		},
	})
}

// beforeLoop returns the files as they were before the first iteration: as they were kept, else the
// commit of then.
func (x *Executor) beforeLoop(ctx context.Context, head string) (string, error) {
	kept, err := keep.Iterations(ctx, x.cfg.Project, x.cfg.ID, x.cfg.Env...)
	switch {
	case err != nil:
		return "", err
	case len(kept) > 0:
		return kept[0].Commit, nil
	case head == "":
		return "", errors.New("nothing says how the files were before the first iteration: snapshots.keep is 0")
	}
	return head, nil
}

// claimed returns the files that are claimed to be done. A proof that goes on tries those with
// which it began, if git still has them.
func (x *Executor) claimed(ctx context.Context, tried []event.ProofTried) (tree string, done []event.ProofTried, err error) {
	if len(tried) > 0 && tried[0].Claimed != "" {
		if _, err := repo.In(x.cfg.Project, x.cfg.Env...).Line(ctx, "cat-file", "-t", tried[0].Claimed); err == nil {
			return tried[0].Claimed, slices.DeleteFunc(slices.Clone(tried), func(t event.ProofTried) bool { return t.On == event.TrialClaimed }), nil
		}
	}
	tree, err = keep.FilesNow(ctx, x.cfg.Project, x.cfg.Env...)
	return tree, nil, err
}

// redactStrength masks credentials in what a proof found in the files.
func (x *Executor) redactStrength(s event.Strength) event.Strength {
	for i, m := range s.Survivors {
		s.Survivors[i] = x.redactMutant(m)
	}
	for i := range s.Facts {
		s.Facts[i].Text = x.masked(s.Facts[i].Text)
	}
	for i := range s.Why {
		s.Why[i] = x.masked(s.Why[i])
	}
	return s
}

func (x *Executor) redactMutant(m event.Mutant) event.Mutant {
	m.Was, m.Now = x.masked(m.Was), x.masked(m.Now)
	return m
}
