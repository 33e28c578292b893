package render

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func edited(p event.GuardrailEdited) string {
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
	return colon(text, p.Why)
}

// folderInspected: the marker files, and the boxes of task.md if their number changed.
func (n *Notes) folderInspected(p event.FolderInspected) string {
	var notes []string
	if p.Done {
		notes = append(notes, colon("the file DONE is there", p.Text))
	}
	if p.Wait {
		why := p.Text
		if p.Done {
			why = "" // the text is that of DONE
		}
		notes = append(notes, colon("the file WAIT_WITHOUT_RESTART is there", why))
	}
	boxes := [2]int{p.Ticked, p.Boxes}
	if p.Boxes > 0 && boxes != n.boxes {
		notes = append(notes, fmt.Sprintf("task.md: %d of %s ticked", p.Ticked, units.Quantity(p.Boxes, "box")))
	}
	n.boxes = boxes
	return strings.Join(notes, "\n")
}

// repoInspected: what an iteration changed. The state at its beginning is only remembered.
func (n *Notes) repoInspected(p event.RepoInspected) string {
	state := p.Head + " " + p.Fingerprint
	before, known := n.repos[p.Root]
	n.remember(p.Root, state)
	if p.When == event.MomentBegin || known && before == state {
		return ""
	}
	var notes []string
	if p.Commits > 0 {
		notes = append(notes, units.Quantity(p.Commits, "new commit"))
	}
	if p.Files > 0 {
		notes = append(notes, units.Quantity(p.Files, "file")+" not committed ("+changes(p.Insertions, p.Deletions)+")")
	}
	if len(notes) == 0 {
		return ""
	}
	return colon(repository(p.Root), strings.Join(notes, ", "))
}

// leftBranch: the branch that an iteration left, once.
func (n *Notes) leftBranch(p event.RepoInspected) string {
	away, key := p.Away(), "branch of "+p.Root
	if away == n.repos[key] {
		return ""
	}
	n.remember(key, away)
	if away == "" {
		return colon(repository(p.Root), "back on the loop's branch "+p.Branch)
	}
	return colon(repository(p.Root), away)
}

// repoUnreadable: a repository cannot be inspected; not repeated while the cause is the same.
func (n *Notes) repoUnreadable(p event.RepoUnreadable) string {
	if before, known := n.repos[p.Root]; known && before == p.Error {
		return ""
	}
	n.remember(p.Root, p.Error)
	return colon(repository(p.Root), "the changes of the iteration are unknown: "+p.Error)
}

// reposKept is how many repositories are remembered.
const reposKept = 256

func (n *Notes) remember(root, state string) {
	if n.repos == nil || len(n.repos) >= reposKept {
		n.repos = map[string]string{}
	}
	n.repos[root] = state
}

func repository(root string) string {
	if root == "." || root == "" {
		return "repository"
	}
	return "repository " + root
}

func changes(insertions, deletions int) string { return fmt.Sprintf("+%d/-%d", insertions, deletions) }

func committed(p event.RepoCommitted) string {
	subject, _, _ := strings.Cut(p.Message, "\n")
	if p.SHA == "" {
		return "committed: " + subject + " (which commit is not known)"
	}
	return fmt.Sprintf("committed %.10s %s (%s, %s)", p.SHA, subject, units.Quantity(p.Files, "file"), changes(p.Insertions, p.Deletions))
}

// scmEnded: the tasks besides the commit, and the one that failed.
func (n *Notes) scmEnded(p event.SCMEnded) (notes []Note) {
	if p.Nothing {
		notes = append(notes, good("nothing to commit")...)
	}
	if len(p.Left) > 0 {
		notes = append(notes, warning(units.Quantity(len(p.Left), "new file")+" in no commit: "+units.Cut(strings.Join(p.Left, ", "), 200)+" (scm.addUntracked commits new files)")...)
	}
	var others []string
	for _, task := range p.Tasks {
		if name, _, _ := strings.Cut(task, " "); name != "commit" {
			others = append(others, task)
		}
	}
	if len(others) > 0 {
		notes = append(notes, good("done: "+strings.Join(others, ", "))...)
	}
	if p.PR != "" {
		notes = append(notes, good("pull request: "+p.PR)...)
	}
	if p.Error == "" {
		return notes
	}
	what := "version control failed"
	switch p.Failed {
	case "":
	case "message": // what comes before a commit
		what = "commit failed"
	default:
		what = p.Failed + " failed"
	}
	problem := p.Error
	if !n.Verbose {
		problem = head(problem, problemLines)
	}
	return append(notes, failure(colon(what, problem))...)
}

// tripped describes a step of the circuit breaker. The report describes a stop.
func tripped(p event.BreakerTripped) string {
	text := "no progress: " + p.Evidence
	if p.Rule == "sameError" {
		if p.Count < 2 {
			return "" // it is the error right above
		}
		text = fmt.Sprintf("%d iterations in a row ended with this error", p.Count)
	}
	switch p.Step {
	case "hint":
		return text + "\nthe next prompt says so"
	case "backoff":
		return text + "\nthe next iteration waits " + Span(milliseconds(p.Delay)) + ", and its prompt says so"
	}
	return ""
}

// problemLines are how many lines of a program's error output are shown.
const problemLines = 5

// head returns the first lines of a text, and how many more there are.
func head(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= most+1 {
		return text
	}
	return strings.Join(lines[:most], "\n") + "\n… " + units.Quantity(len(lines)-most, "more line")
}
