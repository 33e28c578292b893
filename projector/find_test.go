package projector_test

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

func TestGroupsSayWhoActs(t *testing.T) {
	alive := registry.Liveness{Alive: true}
	for name, row := range map[string]struct {
		loop     registry.Status
		group    projector.Group
		question string
	}{
		"runs":              {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusRunning}}, projector.Working, ""},
		"starts":            {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusUnknown}}, projector.Working, ""},
		"waits for a limit": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "rate limit until 2026-11-21T01:52:28Z"}}, projector.Working, ""},
		"waits for you": {
			registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person: Which\nschema: v1 or v2?"}},
			projector.NeedsYou, "Which\nschema: v1 or v2?",
		},
		"waits silently": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person"}}, projector.NeedsYou, ""},
		"paused":         {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusPaused}}, projector.NeedsYou, ""},
		"stopping":       {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusStopping}}, projector.Working, ""},
		"asks and works": {registry.Status{Live: alive, Head: registry.Summary{Status: event.StatusRunning, Questions: 1}}, projector.NeedsYou, ""},
		"ended and asks": {registry.Status{Head: registry.Summary{Status: event.StatusCompleted, Reason: "promise", Questions: 1}}, projector.NeedsYou, ""},
		"died":           {registry.Status{Died: true, Head: registry.Summary{Status: event.StatusWaiting, Waiting: "a person: x"}}, projector.NeedsYou, ""},
		"unreadable":     {registry.Status{Err: errors.New("no")}, projector.NeedsYou, ""},
		"gone":           {registry.Status{Gone: true, Head: registry.Summary{Status: event.StatusUnknown}}, projector.Over, ""},
		"completed":      {registry.Status{Head: registry.Summary{Status: event.StatusCompleted, Reason: "promise"}}, projector.Over, ""},
		"limit":          {registry.Status{Head: registry.Summary{Status: event.StatusStopped, Reason: "iterations"}}, projector.Over, ""},
		"failed":         {registry.Status{Head: registry.Summary{Status: event.StatusFailed, Reason: "breaker"}}, projector.NeedsYou, ""},
		"dismissed":      {registry.Status{Entry: registry.Entry{Dismissed: 7}, Head: registry.Summary{Seq: 7, Status: event.StatusFailed, Reason: "breaker"}}, projector.Over, ""},
		"died again":     {registry.Status{Entry: registry.Entry{Dismissed: 7}, Died: true, Head: registry.Summary{Seq: 9, Status: event.StatusRunning}}, projector.NeedsYou, ""},
		"works again":    {registry.Status{Entry: registry.Entry{Dismissed: 7}, Live: alive, Head: registry.Summary{Seq: 7, Status: event.StatusRunning, Questions: 1}}, projector.NeedsYou, ""},
		"blocked":        {registry.Status{Head: registry.Summary{Status: event.StatusStopped, Reason: "blocked"}}, projector.NeedsYou, ""},
		"not logged in":  {registry.Status{Head: registry.Summary{Status: event.StatusFailed, Reason: "auth"}}, projector.NeedsYou, ""},
	} {
		row.loop.File, row.loop.Dir = name, t.TempDir()
		v := projector.Brief(row.loop)
		if v.Group != row.group {
			t.Errorf("%s: it is in %q, not in %q", name, v.Group, row.group)
		}
		if v.Question != row.question {
			t.Errorf("%s: it asks %q, not %q", name, v.Question, row.question)
		}
	}
}
