package listing

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func TestGroupsSayWhoActs(t *testing.T) {
	alive := registry.Liveness{Alive: true}
	for name, row := range map[string]struct {
		loop     registry.Status
		group    Group
		question string
	}{
		"runs":              {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusRunning}}, Working, ""},
		"starts":            {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusUnknown}}, Working, ""},
		"waits for a limit": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "rate limit until 2026-11-21T01:52:28Z"}}, Working, ""},
		"waits for you": {
			registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person: Which\nschema: v1 or v2?"}},
			NeedsYou, "Which\nschema: v1 or v2?",
		},
		"waits silently": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person"}}, NeedsYou, ""},
		"paused":         {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusPaused}}, NeedsYou, ""},
		"stopping":       {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusStopping}}, Working, ""},
		"asks and works": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusRunning, Questions: 1}}, NeedsYou, ""},
		"ended and asks": {registry.Status{Head: registry.Summary{Status: event.StatusCompleted, Reason: "promise", Questions: 1}}, NeedsYou, ""},
		"died":           {registry.Status{Died: true, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person: x"}}, NeedsYou, ""},
		"unreadable":     {registry.Status{Err: errors.New("no")}, NeedsYou, ""},
		"gone":           {registry.Status{Gone: true, Head: registry.Summary{Status: event.StatusUnknown}}, Ended, ""},
		"completed":      {registry.Status{Head: registry.Summary{Status: event.StatusCompleted, Reason: "promise"}}, Ended, ""},
		"limit":          {registry.Status{Head: registry.Summary{Status: event.StatusStopped, Reason: "iterations"}}, Ended, ""},
		"failed":         {registry.Status{Head: registry.Summary{Status: event.StatusFailed, Reason: "breaker"}}, NeedsYou, ""},
		"dismissed":      {registry.Status{Entry: registry.Entry{Dismissed: 7}, Head: registry.Summary{Seq: 7, Status: event.StatusFailed, Reason: "breaker"}}, Ended, ""},
		"died again":     {registry.Status{Entry: registry.Entry{Dismissed: 7}, Died: true, Head: registry.Summary{Seq: 9, Status: event.StatusRunning}}, NeedsYou, ""},
		"works again":    {registry.Status{Entry: registry.Entry{Dismissed: 7}, Live: alive, Head: registry.Summary{Seq: 7, Status: event.StatusRunning, Questions: 1}}, NeedsYou, ""},
		"blocked":        {registry.Status{Head: registry.Summary{Status: event.StatusStopped, Reason: "blocked"}}, NeedsYou, ""},
		"not logged in":  {registry.Status{Head: registry.Summary{Status: event.StatusFailed, Reason: "auth"}}, NeedsYou, ""},
	} {
		if got := GroupOf(row.loop); got != row.group {
			t.Errorf("%s: it is in %q, not in %q", name, got, row.group)
		}
		if got := Question(row.loop); got != row.question {
			t.Errorf("%s: it asks %q, not %q", name, got, row.question)
		}
	}
}
