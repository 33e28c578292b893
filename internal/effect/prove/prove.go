package prove

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config says what is proved.
type Config struct {
	// Dir is the project's folder, in a work tree of the repository: only read.
	Dir  string
	Home string // ralph's own folder, where the throw-away work tree is made
	// Start and Claimed are commits or trees of git: before the first iteration, and what is claimed.
	Start, Claimed string
	// Guardrails are those that the agent can read, in the order of the settings.
	Guardrails []guardrail.Guardrail
	Env        []string        // of the guardrails, complete; nil means the caller's
	Worktree   config.Worktree // what a fresh work tree needs
	Rules      event.ProveRules
	Seed       int64 // chooses the mutants; 0 derives it from the name of the claimed tree
	// Known is what supports the claim besides: what held-out guardrails said, the reviewers.
	Known event.Strength
	// Done are the trials of an earlier process with the same Config, in their order.
	Done []event.ProofTried
	// Started is called before each trial, with the number of mutants that are to be tried at most;
	// Tried after it. An error of Tried ends the proof. Both may be nil.
	Started func(t event.ProofTried, mutants int)
	Tried   func(t event.ProofTried) error
}

// Run proves the guardrails and grades the claim. When the time of the rules is over, or ctx ends,
// the strength is what is known then, with Cut. The error says why nothing could be tried; without
// git or a repository it satisfies [repo.Absent].
func Run(ctx context.Context, c Config) (event.Strength, error) {
	return event.Strength{}, errors.New("not implemented")
}
