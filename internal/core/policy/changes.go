package policy

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Changes is what the loop has changed: how each repository was before the first iteration in which
// it was there, and how much it differed from that when it was inspected last; also whether it left
// the branch that the loop works on. That is the one that was checked out when the first iteration
// began, or the one to which a person switched between two iterations.
type Changes struct {
	Repos []ChangedRepo `json:"repos,omitempty"`
	// Unknown says that some repository is not among them.
	Unknown bool `json:"unknown,omitempty"`
	// AgentRan says that an agent may have worked since the last inspection.
	AgentRan bool `json:"agentRan,omitempty"`
}

// ChangedRepo is one repository.
type ChangedRepo struct {
	Before event.RepoInspected `json:"before"`
	Whole  *event.Difference   `json:"whole,omitempty"`
	Size   *event.Size         `json:"size,omitempty"`
	// Away is the branch that is checked out instead of Before.Branch; empty if that is.
	Away string `json:"away,omitempty"`
}

// reposMost and rootMost bound what a checkpoint holds.
const (
	reposMost = 16
	rootMost  = 300
)

// Apply folds one event.
func (c *Changes) Apply(p event.Payload) {
	switch p := p.(type) {
	case event.Decided:
		c.AgentRan = c.AgentRan || p.Do == event.DoStart
	case event.IterationChecked:
		c.AgentRan = false
	case event.RepoInspected:
		c.inspected(p)
	}
}

func (c *Changes) inspected(seen event.RepoInspected) {
	at := c.find(seen.Root)
	if at >= 0 {
		repo := &c.Repos[at]
		if repo.Away = ""; seen.Left != "" {
			repo.Away = firstBytes(seen.Branch, rootMost)
		} else {
			repo.Before.Branch = firstBytes(seen.Branch, rootMost)
		}
	}
	switch {
	case at >= 0 && seen.When == event.MomentEnd:
		c.Repos[at].Whole, c.Repos[at].Size = seen.Whole, sized(seen.Size)
	case at >= 0:
	case seen.When == event.MomentEnd, len(c.Repos) == reposMost, len(seen.Root) > rootMost:
		c.Unknown = true // nothing says how it was before
	default:
		before := event.RepoInspected{Root: seen.Root, When: seen.When, Head: seen.Head,
			Branch: firstBytes(seen.Branch, rootMost), Files: seen.Files, Insertions: seen.Insertions, Deletions: seen.Deletions, Size: sized(seen.Size)}
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

// Left returns the branch of the loop that a repository is no longer on; empty if it is on it, and
// if a person switched while no agent worked. To leave a detached HEAD for a branch loses nothing.
func (c *Changes) Left(seen event.RepoInspected) string {
	at := c.find(seen.Root)
	if at < 0 || seen.Branch == "" {
		return ""
	}
	was := c.Repos[at].Before.Branch
	switched := seen.When == event.MomentBegin && c.Repos[at].Away == "" && !c.AgentRan // by a person
	if switched || was == event.DetachedHead || was == firstBytes(seen.Branch, rootMost) {
		return ""
	}
	return was
}

// Away returns the repositories that are not on the loop's branch.
func (c *Changes) Away() (away []event.RepoInspected) {
	for _, r := range c.Repos {
		if r.Away != "" {
			away = append(away, event.RepoInspected{Root: r.Before.Root, Branch: r.Away, Left: r.Before.Branch})
		}
	}
	return away
}

// Clone returns a copy that later events do not change.
func (c *Changes) Clone() Changes { return Changes{slices.Clone(c.Repos), c.Unknown, c.AgentRan} }

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
