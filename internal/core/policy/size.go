package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// limits.diff bounds what a person has to review at once: of most loops, what a claim has changed
// since the start; of a loop that makes pull requests, what one commit changes, because its commits
// become several of them; of a loop over stories, what one story changes, see [OversizedStory].

// Size returns how much limits.diff counts after the last check; nil if it is not known.
func (c *Changes) Size() *event.Size {
	if c.Unknown || len(c.Repos) == 0 {
		return nil
	}
	var all event.Size
	for _, repo := range c.Repos {
		if repo.Size == nil {
			return nil
		}
		before := event.Size{Lines: repo.Before.Insertions + repo.Before.Deletions}
		if repo.Before.Size != nil { // else the limit came later
			before = *repo.Before.Size
		}
		all.Lines, all.Skipped = all.Lines+max(0, repo.Size.Lines-before.Lines), all.Skipped+max(0, repo.Size.Skipped-before.Skipped)
		for _, f := range repo.Size.Largest {
			if slices.Contains(before.Largest, f) {
				continue // it has not changed since
			}
			if repo.Before.Root != "." {
				f.Path = repo.Before.Root + "/" + f.Path
			}
			all.Largest = append(all.Largest, f)
		}
	}
	return &all
}

// Oversized says why the change of a loop is too large, and what to do; empty if it is not, or not
// known.
func (c *Changes) Oversized(r event.Rules) string {
	size := c.Size()
	switch {
	case r.Limits.Diff == 0 || r.Stories || size == nil || size.Lines <= r.Limits.Diff:
		return ""
	case r.PullRequests:
		return fmt.Sprintf("%s and not committed, and limits.diff is %d for each commit: commit it in steps of at most that size, "+
			"each complete and with all guardrails passing; what cannot be split is a commit of its own%s",
			sizeWords(*size), r.Limits.Diff, largestWords(*size))
	}
	return fmt.Sprintf("%s since the start, and limits.diff is %d: bring the change below that, to one part that is complete, "+
		"or propose in task.md how to split it into such parts%s", sizeWords(*size), r.Limits.Diff, largestWords(*size))
}

// Unsized says that limits.diff could not be applied; empty if it could, or is not set.
func (c *Changes) Unsized(r event.Rules) string {
	if r.Limits.Diff == 0 || r.Stories || c.Size() != nil {
		return ""
	}
	return "limits.diff was not applied: how many lines were changed is not known"
}

// OversizedStory says why the change of a story is too large, and what to do; empty if it is not.
func OversizedStory(size event.Size, r event.Rules) string {
	if r.Limits.Diff == 0 || size.Lines <= r.Limits.Diff {
		return ""
	}
	return fmt.Sprintf("%s, and limits.diff is %d for each story: reduce the story to its first part, and add the other parts as new stories that depend on it%s",
		sizeWords(size), r.Limits.Diff, largestWords(size))
}

// sizeWords says "812 lines were changed (37 in generated and lock files do not count)".
func sizeWords(size event.Size) string {
	words := units.Quantity(size.Lines, "line") + " changed"
	if size.Skipped > 0 {
		words += fmt.Sprintf(" (%d in generated and lock files do not count)", size.Skipped)
	}
	return words
}

// sized returns a size as a checkpoint holds it.
func sized(size *event.Size) *event.Size {
	if size == nil {
		return nil
	}
	bounded := event.Size{Lines: size.Lines, Skipped: size.Skipped}
	for _, f := range size.Largest[:min(len(size.Largest), largestMost)] {
		bounded.Largest = append(bounded.Largest, event.SizeFile{Path: firstBytes(f.Path, rootMost), Lines: f.Lines})
	}
	return &bounded
}

// largestMost is how many files are named.
const largestMost = 5

func largestWords(size event.Size) string {
	var files []string
	for _, f := range size.Largest[:min(len(size.Largest), largestMost)] {
		files = append(files, fmt.Sprintf("%s (%d)", firstBytes(f.Path, 100), f.Lines))
	}
	if len(files) == 0 {
		return ""
	}
	return "; most are in " + strings.Join(files, ", ")
}
