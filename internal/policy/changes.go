package policy

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Changes is what the loop has changed: how each repository was before the first iteration in which
// it was there, and how much it differed from that when it was inspected last.
type Changes struct {
	Repos []ChangedRepo `json:"repos,omitempty"`
	// Unknown says that some repository is not among them.
	Unknown bool `json:"unknown,omitempty"`
}

// ChangedRepo is one repository.
type ChangedRepo struct {
	Before event.RepoInspected `json:"before"`
	Whole  *event.Difference   `json:"whole,omitempty"`
}

// reposMost and rootMost bound what a checkpoint holds.
const (
	reposMost = 16
	rootMost  = 300
)

// Apply folds one event.
func (c *Changes) Apply(p event.Payload) {
	seen, ok := p.(event.RepoInspected)
	if !ok {
		return
	}
	at := c.find(seen.Root)
	switch {
	case at >= 0 && seen.When == event.MomentEnd:
		c.Repos[at].Whole = seen.Whole
	case at >= 0:
	case seen.When == event.MomentEnd, len(c.Repos) == reposMost, len(seen.Root) > rootMost:
		c.Unknown = true // nothing says how it was before
	default:
		before := event.RepoInspected{Root: seen.Root, When: seen.When, Head: seen.Head, Files: seen.Files, Insertions: seen.Insertions, Deletions: seen.Deletions}
		c.Repos = append(c.Repos, ChangedRepo{Before: before})
	}
}

func (c *Changes) find(root string) int {
	return slices.IndexFunc(c.Repos, func(r ChangedRepo) bool { return r.Before.Root == root })
}

// Before returns how a repository was before the first iteration.
func (c *Changes) Before(root string) (event.RepoInspected, bool) {
	at := c.find(root)
	if at < 0 {
		return event.RepoInspected{}, false
	}
	return c.Repos[at].Before, true
}

// Clone returns a copy that later events do not change.
func (c *Changes) Clone() Changes { return Changes{slices.Clone(c.Repos), c.Unknown} }

// Whole returns what the loop has changed in all repositories; nil if that is unknown.
func (c *Changes) Whole() *event.Difference {
	if c.Unknown || len(c.Repos) == 0 {
		return nil
	}
	var all event.Difference
	for _, r := range c.Repos {
		if r.Whole == nil {
			return nil
		}
		all.Files, all.Insertions, all.Deletions = all.Files+r.Whole.Files, all.Insertions+r.Whole.Insertions, all.Deletions+r.Whole.Deletions
	}
	return &all
}
