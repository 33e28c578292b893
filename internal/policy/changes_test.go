package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/ralph-loop/ralph/internal/policy"
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
