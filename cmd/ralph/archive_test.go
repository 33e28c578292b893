//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/journal/event"
)

// worker records a loop that works on the stories of the project, or on something else.
func (p *place) worker(name string, stories bool, payloads ...event.Payload) {
	p.Helper()
	w, now := p.journalOf(name, time.Now())
	started := event.LoopStarted{
		Name: name, ID: "01JD000000000000000000000A", Dir: p.loop(name), Project: p.dir,
		Agent: event.Agent{Protocol: "claude"}, Rules: event.Rules{MaximumIterations: 15, Stories: stories},
	}
	for _, payload := range append([]event.Payload{started}, payloads...) {
		_, err := w.Append([]event.Draft{event.Encode(payload, "loop")})
		p.must(err)
		*now = now.Add(time.Second)
	}
	p.must(w.Close())
}

// Neither an archive nor an interview touches a plan that a live loop works on.
func TestLiveLoopKeepsItsPlan(t *testing.T) {
	t.Parallel()
	p := planPlace(t)
	p.must(os.WriteFile(plan.Path(p.dir, plan.Tasks), []byte(plannedTasks), 0o600))
	agent := p.script("waits", "cat > /dev/null\nexec sleep 1000")
	p.fine("start", "search", "--tasks", "--detach", "--agent", agent, "--protocol", "text")
	p.fine("start", "other", "--detach", "--allow-shared-worktree", "-p", "x", "--agent", agent, "--protocol", "text")
	_, said, code := p.ralph("archive")
	if code != event.ExitUsage || !strings.Contains(said, "loop search works on this plan") || !strings.Contains(said, "hint: 'ralph stop search'") {
		t.Errorf("exit %d: %s", code, said)
	}
	talk := p.terminal(p.command("plan", "--agent", p.script("never", "touch ran")))
	talk.leaves(event.ExitUsage)
	talk.sees("loop search works on this plan")
	if _, err := os.Lstat(filepath.Join(p.dir, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the agent ran")
	}
	if p.file("ralph/tasks.json") != plannedTasks {
		t.Error("the plan has changed")
	}
	// A loop on something else is none of its business.
	p.fine("kill", "search")
	p.fine("archive", "--dry-run")
}

// Part 7 of the verification plan: after a completed loop, the archive has everything, the summary
// names the loop, and the plan is fresh.
func TestArchiveAfterCompletedLoop(t *testing.T) {
	t.Parallel()
	p := planPlace(t)
	done := strings.NewReplacer(`"passes": false, "reviewStatus": null, "reviewCount": 0`, `"passes": true, "reviewStatus": "approved", "reviewCount": 2`, `"notes": ""`, `"notes": "built"`).Replace(plannedTasks)
	p.must(errors.Join(os.WriteFile(plan.Path(p.dir, plan.Tasks), []byte(done), 0o600), os.WriteFile(plan.Path(p.dir, plan.PRD), []byte(plannedPRD), 0o600)))
	p.worker("other", false)
	p.worker("search", true, event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonStories})
	progress := p.file("ralph/progress.txt")
	p.fine("archive", "--label", "done")
	found, err := filepath.Glob(filepath.Join(p.dir, plan.Archives, "*-done"))
	p.must(err)
	if len(found) != 1 {
		t.Fatalf("archives: %v", found)
	}
	dir, err := filepath.Rel(p.dir, found[0])
	p.must(err)
	for name, want := range map[string]string{plan.PRD: plannedPRD, plan.Tasks: done, plan.Progress: progress} {
		if got := p.file(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	summary := p.file(filepath.Join(dir, plan.Summary))
	for _, line := range []string{"- Stories: 1 of 1 done", "- Reviews: 2; 0 of the stories", "| US-001 | Index | done | 2 |", "| search | "} {
		if !strings.Contains(summary, line) {
			t.Errorf("the summary has no %q:\n%s", line, summary)
		}
	}
	if strings.Contains(summary, "| other |") {
		t.Errorf("the summary names a loop that did not work on the plan:\n%s", summary)
	}
	if got := p.file("ralph/tasks.json"); strings.Contains(got, "Index") || !strings.Contains(got, `"US-001"`) {
		t.Errorf("the new plan: %s", got)
	}
	if got := p.file("ralph/prd.md"); !plan.IsTemplate([]byte(got)) {
		t.Errorf("the new requirements: %s", got)
	}
}
