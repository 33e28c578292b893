package policy_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestSizeOfChange(t *testing.T) {
	begin := func(root string, size *event.Size) event.RepoInspected {
		return event.RepoInspected{Root: root, When: event.MomentBegin, Head: "a", Insertions: 3, Deletions: 4, Size: size}
	}
	end := func(root string, size *event.Size) event.RepoInspected {
		return event.RepoInspected{Root: root, When: event.MomentEnd, Head: "b", Size: size}
	}
	lines := func(n int) *event.Size {
		return &event.Size{Lines: n, Skipped: 2, Largest: []event.SizeFile{{Path: "a.go", Lines: n}}}
	}
	rules := event.Rules{Limits: event.LimitRules{Diff: 100}}
	published, stories := rules, rules
	published.PullRequests, stories.Stories = true, true
	unlimited := event.Rules{}
	for name, row := range map[string]struct {
		rules     event.Rules
		events    []event.Payload
		oversized string // its beginning and its end
		unsized   bool
	}{
		"as large as it may be":               {rules, []event.Payload{begin(".", lines(0)), end(".", lines(100))}, "", false},
		"a line more":                         {rules, []event.Payload{begin(".", lines(0)), end(".", lines(101))}, "101 lines changed since…in a.go (101)", false},
		"what differed before is left out":    {rules, []event.Payload{begin(".", lines(50)), end(".", lines(150))}, "", false},
		"the last inspection counts":          {rules, []event.Payload{begin(".", lines(0)), end(".", lines(150)), end(".", lines(50))}, "", false},
		"a later beginning does not count":    {rules, []event.Payload{begin(".", lines(0)), begin(".", lines(90)), end(".", lines(150))}, "150 lines…(150)", false},
		"two repositories are added up":       {rules, []event.Payload{begin(".", lines(0)), begin("sub", lines(0)), end(".", lines(60)), end("sub", lines(70))}, "130 lines…a.go (60), sub/a.go (70)", false},
		"the limit came later":                {rules, []event.Payload{begin(".", nil), end(".", lines(107))}, "", false},
		"the limit came later, and a line":    {rules, []event.Payload{begin(".", nil), end(".", lines(108))}, "101 lines changed (2 in generated and lock files do not count)…(108)", false},
		"nothing was inspected":               {rules, nil, "", true},
		"it cannot be counted":                {rules, []event.Payload{begin(".", lines(0)), end(".", nil)}, "", true},
		"nothing is known of before":          {rules, []event.Payload{end(".", lines(200))}, "", true},
		"a file that is as it was":            {rules, []event.Payload{begin(".", lines(50)), end(".", &event.Size{Lines: 151, Largest: []event.SizeFile{{Path: "b.go", Lines: 101}, {Path: "a.go", Lines: 50}}})}, "101 lines changed…are in b.go (101)", false},
		"there is no limit":                   {unlimited, []event.Payload{begin(".", lines(0)), end(".", lines(200))}, "", false},
		"commits: what is not committed":      {published, []event.Payload{begin(".", lines(50)), end(".", lines(151))}, "101 lines changed and not committed, and limits.diff is 100 for each commit…(151)", false},
		"stories are judged one by one":       {stories, []event.Payload{begin(".", lines(0)), end(".", lines(200))}, "", false},
		"stories whose size nobody can count": {stories, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var c policy.Changes
			for _, p := range row.events {
				c.Apply(p)
			}
			got := c.Oversized(row.rules)
			first, last, _ := strings.Cut(row.oversized, "…")
			if (got == "") != (row.oversized == "") || !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
				t.Errorf("it says %q, want %q", got, row.oversized)
			}
			if got := c.Unsized(row.rules); (got != "") != row.unsized {
				t.Errorf("of an unknown size it says %q", got)
			}
		})
	}
}

func TestSizeOfStory(t *testing.T) {
	size := event.Size{Lines: 12, Largest: []event.SizeFile{{Path: "a.go", Lines: 12}}}
	const want = "12 lines changed, and limits.diff is 11 for each story: reduce the story to its first part, " +
		"and add the other parts as new stories that depend on it; most are in a.go (12)"
	for limit, want := range map[int]string{0: "", 11: want, 12: ""} {
		if got := policy.OversizedStory(size, event.Rules{Limits: event.LimitRules{Diff: limit}}); got != want {
			t.Errorf("at most %d: %q, want %q", limit, got, want)
		}
	}
}
