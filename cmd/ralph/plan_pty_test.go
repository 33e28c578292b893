//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/journal/event"
)

const plannedPRD = "# PRD: demo\n\n## 1. Summary\n\nA search over all notes.\n"

const plannedTasks = `{"project": "demo", "branchName": "ralph/search", "description": "A search", "verifyCommands": ["true"],
 "userStories": [{"id": "US-001", "title": "Index", "description": "An index of all notes.", "acceptanceCriteria": ["Build returns one entry for each word"],
  "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}
`

// planPlace is a project with a fresh plan, and files that an agent of the interview can take.
func planPlace(t *testing.T) *place {
	p := newPlace(t)
	p.fine("init", "--tasks", "--name", "search")
	vague := strings.Replace(plannedTasks, "Build returns one entry for each word", "The index works correctly", 1)
	for name, text := range map[string]string{"prd": plannedPRD, "tasks": plannedTasks, "vague": vague} {
		p.must(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
	}
	return p
}

func (p *place) file(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	p.must(err)
	return string(data)
}

// Part 8 of the verification plan, first mode: without requirements the agent asks the person, on
// the person's own terminal, and writes both files. What is wrong is shown, and the next
// conversation begins with it.
func TestPlanAsksAndWrites(t *testing.T) {
	t.Parallel()
	p := planPlace(t)
	agent := p.script("asks", `printf '%s' "$1" > instructions$(ls | grep -c '^instructions')
printf 'What is it about? '; read about; printf '%s\n' "$about" > answer
cp prd ralph/prd.md
case "$1" in *"cannot be checked"*) cp tasks ralph/tasks.json;; *) cp vague ralph/tasks.json;; esac`)
	talk := p.terminal(p.command("plan", "--agent", agent))
	talk.sees("What is it about? ")
	talk.types("a search" + enter)
	talk.sees(`warning: story US-001, field acceptanceCriteria: "The index works correctly" cannot be checked`)
	talk.sees("1 story, 0 done; with reviews about 2 to ")
	talk.sees("Correct this in another conversation? (y/N): ")
	talk.types("y" + enter)
	p.written("instructions1")
	p.until("the second question", func() bool { return strings.Count(talk.text(), "What is it about?") == 2 })
	talk.types("the same" + enter)
	talk.leaves(0)
	if strings.Count(talk.text(), "warning:") != 1 {
		t.Errorf("%s", talk.text())
	}
	if p.file("ralph/tasks.json") != plannedTasks || p.file("ralph/prd.md") != plannedPRD || p.file("answer") != "the same\n" {
		t.Error("the files are not those of the agent")
	}
	first := p.file("instructions0")
	for _, part := range []string{"Write ralph/prd.md", "4. Non-Goals", "There is no limit", "verifyCommands", `"reviewStatus": null`, "passes false"} {
		if !strings.Contains(first, part) {
			t.Errorf("the instructions have no %q", part)
		}
	}
	if strings.Contains(first, "works correctly\" cannot") || !strings.Contains(p.file("instructions1"), `- story US-001, field acceptanceCriteria: "The index works correctly" cannot`) {
		t.Error("only the second instructions name what was wrong")
	}
}

// Part 8, second mode: requirements that are written stay as they are.
func TestPlanDerivesFromRequirements(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]bool{"in prd.md": false, "in another file": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planPlace(t)
			args := []string{"plan", "--agent", p.script("derives", `printf '%s' "$1" > instructions
echo changed >> ralph/prd.md; echo changed >> mine.md; cp tasks ralph/tasks.json`)}
			p.must(os.WriteFile(filepath.Join(p.dir, "mine.md"), []byte(plannedPRD), 0o640))
			if from {
				args = append(args, "--from", "mine.md")
			} else {
				p.must(os.Rename(filepath.Join(p.dir, "mine.md"), plan.Path(p.dir, plan.PRD)))
			}
			talk := p.terminal(p.command(args...))
			talk.leaves(0)
			talk.sees("the agent changed ralph/prd.md: it is as it was before")
			if got := p.file("ralph/prd.md"); got != plannedPRD {
				t.Errorf("prd.md has %q", got)
			}
			if p.file("ralph/tasks.json") != plannedTasks {
				t.Error("the stories are not those of the agent")
			}
			instructions := p.file("instructions")
			if !strings.Contains(instructions, "ralph/prd.md stays") || strings.Contains(instructions, "Write ralph/prd.md") {
				t.Errorf("the instructions: %s", instructions)
			}
			if !from {
				return
			}
			talk.sees("copied mine.md to ralph/prd.md")
			talk.sees("the agent changed mine.md: it is as it was before")
			info, err := os.Stat(filepath.Join(p.dir, "mine.md"))
			p.must(err)
			if p.file("mine.md") != plannedPRD || info.Mode().Perm() != 0o640 || !strings.Contains(instructions, "so does mine.md") {
				t.Errorf("%q, %v", p.file("mine.md"), info.Mode())
			}
		})
	}
}

// An agent that ctrl-c ends, and that leaves the terminal without echo, does no harm.
func TestPlanSurvivesItsAgent(t *testing.T) {
	t.Parallel()
	p := planPlace(t)
	talk := p.terminal(p.command("plan", "--agent", p.script("ends", "stty -echo -icanon; echo ready; exec sleep 100")))
	talk.sees("ready")
	before, err := term.GetState(int(talk.master.Fd()))
	p.must(err)
	talk.types(ctrlC)
	talk.sees("ends ended with signal: interrupt")
	talk.sees("error: tasks.json has nothing but the template's empty story")
	talk.sees("(y/N): ")
	after, err := term.GetState(int(talk.master.Fd()))
	p.must(err)
	if *before == *after {
		t.Error("the terminal is as the agent left it")
	}
	talk.types("n" + enter)
	talk.leaves(event.ExitUsage)
}

// The requirements are put back also if the terminal is closed, or ralph is asked to end.
func TestPlanIsLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*terminal){
		"closed": func(t *terminal) { t.must(t.master.Close()) },
		"TERM":   func(t *terminal) { t.must(t.cmd.Process.Signal(syscall.SIGTERM)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planPlace(t)
			p.must(os.WriteFile(plan.Path(p.dir, plan.PRD), []byte(plannedPRD), 0o600))
			talk := p.terminal(p.command("plan", "--agent", p.script("edits", "echo changed >> ralph/prd.md; echo ready; exec sleep 100")))
			talk.sees("ready")
			leave(talk)
			talk.leaves(event.ExitInterrupted)
			if got := p.file("ralph/prd.md"); got != plannedPRD {
				t.Errorf("prd.md has %q", got)
			}
		})
	}
}

// Stories that a loop has worked on are not the interview's to change.
func TestPlanKeepsWorkedStories(t *testing.T) {
	t.Parallel()
	p := planPlace(t)
	worked := strings.Replace(plannedTasks, `"reviewStatus": null, "reviewCount": 0`, `"reviewStatus": "needs_review", "reviewCount": 1`, 1)
	p.must(os.WriteFile(plan.Path(p.dir, plan.Tasks), []byte(worked), 0o600))
	talk := p.terminal(p.command("plan", "--agent", p.script("forgets", `printf '%s' "$1" > instructions; cp prd ralph/prd.md; cp tasks ralph/tasks.json`)))
	talk.sees("warning: story US-001: the review of an iteration's work was changed")
	talk.types("n" + enter)
	talk.leaves(0)
	if !strings.Contains(p.file("instructions"), "has worked on US-001 already") {
		t.Error("the instructions do not name the story")
	}
}
