package phrase

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func guardrailSnapshotted(p event.GuardrailSnapshotted, _ Known) Phrase {
	return quiet("a snapshot of "+units.Quantity(len(p.Files), "file")+" of guardrails and settings", "")
}

func guardrailStarted(p event.GuardrailStarted, _ Known) Phrase {
	return quiet("guardrail "+quoted(p.Name)+" started", "")
}

func quoted(name string) string { return `"` + units.FirstLine(name) + `"` }

// Verdict says how a guardrail ended.
func Verdict(p event.GuardrailEnded) string {
	switch {
	case p.OK:
		return "passed"
	case p.TimedOut:
		return "timed out"
	case p.Code < 0:
		return "failed, ended by a signal"
	}
	return fmt.Sprintf("failed with exit code %d", p.Code)
}

// GuardrailOutput returns a guardrail's output from the message to the agent.
func GuardrailOutput(message string) string {
	_, printed, _ := strings.Cut(message, "\n"+event.OutputFollows)
	return printed
}

func guardrailEnded(p event.GuardrailEnded, _ Known) Phrase {
	said := good("guardrail "+quoted(p.Name)+" "+Verdict(p), "").with(units.Span(units.Milliseconds(p.Took)))
	if !p.OK {
		if p.Action != "" {
			said = said.with("fail action " + p.Action)
		}
		said.Tone = ToneFailure
		if p.Message != nil {
			said.Why = lastLines(GuardrailOutput(p.Message.Text), 3)
		}
	}
	return said
}

func guardrailEdited(p event.GuardrailEdited, _ Known) Phrase {
	what, when := "a guardrail's file ", " in this iteration: "
	if p.Role == event.RoleSettings {
		what = "a settings file "
	}
	if p.During {
		when = " while the guardrails ran: "
	}
	text := what + string(p.How) + when + p.Path
	switch {
	case p.Restored && p.During:
		text += ", put back"
	case p.Restored:
		text += ", put back before the check"
	}
	if p.Kept != "" {
		text += "; as it was found: " + p.Kept + " in the loop's folder"
	}
	if len(p.Aside) > 0 {
		text += "; what was in the way is " + strings.Join(p.Aside, ", ")
	}
	return warning(text, p.Why)
}

// folderInspected: the marker files, and the boxes of task.md.
func folderInspected(p event.FolderInspected, _ Known) Phrase {
	var found []string
	if p.Done {
		found = append(found, colon("the file DONE is there", p.Text))
	}
	if p.Wait {
		why := p.Text
		if p.Done {
			why = "" // the text is that of DONE
		}
		found = append(found, colon("the file WAIT_WITHOUT_RESTART is there", why))
	}
	if p.Boxes > 0 {
		found = append(found, fmt.Sprintf("task.md: %d of %s ticked", p.Ticked, units.Quantity(p.Boxes, "box")))
	}
	if len(found) == 0 {
		return quiet("the loop's folder has neither a file DONE nor boxes in task.md", "")
	}
	return good(strings.Join(found, "\n"), "")
}

// repoInspected: what an iteration changed, and the branch that it left.
func repoInspected(p event.RepoInspected, k Known) Phrase {
	var found []string
	if p.Commits > 0 {
		found = append(found, units.Quantity(p.Commits, "new commit"))
	}
	if p.Files > 0 {
		found = append(found, units.Quantity(p.Files, "file")+" not committed ("+changes(p.Insertions, p.Deletions)+")")
	}
	said := quiet(repository(p.Root), strings.Join(found, ", "))
	if len(found) > 0 && p.When != event.MomentBegin {
		said.Tone = ToneGood
	}
	branch := p.Away()
	if k.Back != "" {
		branch = "back on the loop's branch " + k.Back
	}
	if branch != "" {
		said.Tone, said.Why = ToneWarning, strings.TrimSpace(said.Why+"\n"+branch)
	}
	if said.Why == "" {
		said.Why = "no file differs from the last commit"
	}
	if p.When == event.MomentBegin {
		said = said.with("before the iteration")
	}
	return said
}

// repoUnreadable: a repository cannot be inspected.
func repoUnreadable(p event.RepoUnreadable, _ Known) Phrase {
	return warning(repository(p.Root)+": the changes of the iteration are unknown", p.Error)
}

func repository(root string) string {
	if root == "." || root == "" {
		return "repository"
	}
	return "repository " + root
}

func changes(insertions, deletions int) string {
	return fmt.Sprintf("+%d −%d", insertions, deletions)
}

func repoCommitted(p event.RepoCommitted, _ Known) Phrase {
	subject := units.FirstLine(p.Message)
	if p.SHA == "" {
		return good("committed: "+subject, "").with("which commit is not known")
	}
	said := good(fmt.Sprintf("committed %.10s %s", p.SHA, subject), "")
	said = said.with(Changed(&event.Difference{Files: p.Files, Insertions: p.Insertions, Deletions: p.Deletions}))
	if p.Warning != "" {
		said = said.with(p.Warning)
	}
	return said
}

// problemLines are how many lines of a program's error output are shown.
const problemLines = 5

// scmEnded: the task that failed, and those besides the commit.
func scmEnded(p event.SCMEnded, k Known) Phrase {
	said := quiet("version control is done", "")
	var lines []string
	add := func(tone Tone, text string) {
		lines = append(lines, text)
		if said.Tone != ToneFailure && said.Tone != ToneWarning {
			said.Tone = tone
		}
	}
	if p.Error != "" {
		problem := p.Error
		if !k.Verbose {
			problem = head(problem, problemLines)
		}
		add(ToneFailure, colon(failedTask(p.Failed), problem))
	}
	if len(p.Left) > 0 {
		add(ToneWarning, units.Quantity(len(p.Left), "new file")+" in no commit: "+
			units.Cut(strings.Join(p.Left, ", "), 200)+" (scm.addUntracked commits new files)")
	}
	if p.Nothing {
		add(ToneGood, "nothing to commit")
	}
	var others []string
	for _, task := range p.Tasks {
		if name, _, _ := strings.Cut(task, " "); name != "commit" {
			others = append(others, task)
		}
	}
	if len(others) > 0 {
		add(ToneGood, "done: "+strings.Join(others, ", "))
	}
	for i, r := range p.PRs {
		text := fmt.Sprintf("pull request %d of %d: %s, %s", i+1, len(p.PRs), cmp.Or(r.URL, "not made yet, "+r.Branch), units.Quantity(r.Lines, "line"))
		if r.State != event.RequestOpen {
			text += ", " + string(r.State)
		}
		if r.Note != "" {
			text += " (" + r.Note + ")"
		}
		add(ToneGood, text)
	}
	if p.PR != "" && len(p.PRs) == 0 {
		add(ToneGood, "pull request: "+p.PR)
	}
	if len(lines) > 0 {
		said.Text = strings.Join(lines, "\n")
	}
	return said
}

func failedTask(task string) string {
	switch task {
	case "":
		return "version control failed"
	case "message": // what comes before a commit
		return "commit failed"
	}
	return task + " failed"
}

// head returns the first lines of a text, and how many more there are.
func head(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= most+1 {
		return text
	}
	return strings.Join(lines[:most], "\n") + "\n… " + units.Quantity(len(lines)-most, "more line")
}
