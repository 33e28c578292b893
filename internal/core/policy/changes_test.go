package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestChangesOfLoop(t *testing.T) {
	begin := func(root, head string) event.RepoInspected {
		return event.RepoInspected{Root: root, When: event.MomentBegin, Head: head, Files: 1}
	}
	end := func(root string, whole *event.Difference) event.RepoInspected {
		return event.RepoInspected{Root: root, When: event.MomentEnd, Head: "z", Whole: whole}
	}
	some, more := &event.Difference{Files: 1, Insertions: 2}, &event.Difference{Files: 3, Insertions: 4, Deletions: 5}
	for name, row := range map[string]struct {
		events []event.Payload
		want   string
	}{
		"no repository":                    {nil, `null`},
		"not inspected after an iteration": {[]event.Payload{begin(".", "a")}, `null`},
		"the last inspection counts":       {[]event.Payload{begin(".", "a"), end(".", some), begin(".", "z"), end(".", more)}, `{"files":3,"insertions":4,"deletions":5}`},
		"two repositories":                 {[]event.Payload{begin(".", "a"), begin("b", "b"), end(".", some), end("b", more)}, `{"files":4,"insertions":6,"deletions":5}`},
		"one is not known":                 {[]event.Payload{begin(".", "a"), begin("b", "b"), end(".", some), end("b", nil)}, `null`},
		"one that nothing is known before": {[]event.Payload{begin(".", "a"), end(".", some), end("b", more)}, `null`},
	} {
		var c policy.Changes
		for _, p := range row.events {
			c.Apply(p)
		}
		if got, err := json.Marshal(c.Whole()); err != nil || string(got) != row.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if before, known := c.Before("."); known && before.Head != "a" {
			t.Errorf("%s: before the first iteration the head is %s", name, before.Head)
		}
	}
}

// The loop's branch is the one that was there first, or the one to which a person switched.
func TestChangesLeftBranch(t *testing.T) {
	begin := func(branch string) event.RepoInspected {
		return event.RepoInspected{Root: ".", When: event.MomentBegin, Branch: branch}
	}
	end := func(branch string) event.RepoInspected {
		return event.RepoInspected{Root: ".", When: event.MomentEnd, Branch: branch}
	}
	works, checked := event.Decided{Do: event.DoStart}, event.IterationChecked{}
	for name, row := range map[string]struct {
		events []event.Payload
		want   string
	}{
		"it stays":                             {[]event.Payload{begin("main"), works, end("main"), checked}, ""},
		"the agent leaves it":                  {[]event.Payload{begin("main"), works, end("other"), checked}, "on the branch other, no longer on the loop's branch main"},
		"for a commit":                         {[]event.Payload{begin("main"), works, end("HEAD"), checked}, "on no branch (detached HEAD), no longer on the loop's branch main"},
		"the next iteration changes nothing":   {[]event.Payload{begin("main"), works, end("other"), checked, begin("other"), works, end("other"), checked}, "on the branch other, no longer on the loop's branch main"},
		"or leaves for a third":                {[]event.Payload{begin("main"), works, end("other"), checked, begin("other"), works, end("third"), checked}, "on the branch third, no longer on the loop's branch main"},
		"or goes back":                         {[]event.Payload{begin("main"), works, end("other"), checked, begin("other"), works, end("main"), checked}, ""},
		"a person goes back":                   {[]event.Payload{begin("main"), works, end("other"), checked, begin("main")}, ""},
		"a person switches between iterations": {[]event.Payload{begin("main"), works, end("main"), checked, begin("other")}, ""},
		"which is the loop's branch then":      {[]event.Payload{begin("main"), works, end("main"), checked, begin("other"), works, end("main")}, "on the branch main, no longer on the loop's branch other"},
		"the runner died while the agent ran":  {[]event.Payload{begin("main"), works, event.LoopResumed{Died: true}, begin("other")}, "on the branch other, no longer on the loop's branch main"},
		"a detached HEAD is left for a branch": {[]event.Payload{begin("HEAD"), works, end("other"), checked}, ""},
		"an older version noted no branch":     {[]event.Payload{begin(""), works, end("other"), checked}, ""},
	} {
		var c policy.Changes
		for _, p := range row.events {
			if seen, ok := p.(event.RepoInspected); ok {
				seen.Left = c.Left(seen)
				p = seen
			}
			c.Apply(p)
		}
		var got string
		for _, seen := range c.Away() {
			got += seen.Away()
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
