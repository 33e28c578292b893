package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Events of the verification after a turn: guardrails, files, repositories, limits.

// guardrailCalls is the prefix that separates guardrails from the agent's own calls.
const guardrailCalls = "guardrail\x00"

// ofVerification shows one event of a verification. Events without news are left out.
func (t *Text) ofVerification(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.GuardrailStarted: // a line like a tool's: some run for minutes
		t.called = t.guardrail(e, p.Name, cyan, "- ")
	case event.GuardrailEnded:
		t.guardrailEnded(e, p)
	case event.GuardrailEdited:
		t.warn(e, edited(p))
	case event.FolderInspected:
		t.mark(e, t.folderInspected(p))
	case event.RepoInspected:
		t.mark(e, t.repoInspected(p))
	case event.RepoUnreadable:
		t.warn(e, t.repoUnreadable(p))
	case event.RepoCommitted:
		t.mark(e, committed(p))
	case event.SCMEnded:
		t.scmEnded(e, p)
	case event.BudgetWarned:
		t.warn(e, colon(p.Limit, p.Why))
	case event.BreakerTripped:
		t.warn(e, tripped(p))
	case event.ClockJumped:
		t.warn(e, "the machine slept or its clock was set forward; no limit counts these "+Span(milliseconds(p.By)))
	default:
		return false
	}
	return true
}

// guardrail writes the line of a guardrail and returns what it is called by.
func (t *Text) guardrail(e event.Event, name, style, marker string) string {
	t.part(e, work)
	t.paint(style, marker)
	t.head(call{name: "guardrail", about: firstLine(name)})
	return guardrailCalls + name
}

// guardrailEnded: the result, and of a failure the output and the file with all of it.
func (t *Text) guardrailEnded(e event.Event, p event.GuardrailEnded) {
	if t.called != guardrailCalls+p.Name {
		t.guardrail(e, p.Name, dim, "< ")
	}
	t.called = ""
	r := result{Text: t, style: green, margin: 2}
	took := " in " + Span(milliseconds(p.Took))
	if p.OK {
		r.line("passed" + took)
		r.warning(p.Warning)
		return
	}
	r.style = red
	action := ""
	if p.Action != "" {
		action = ", fail action " + Clean(p.Action)
	}
	switch {
	case p.TimedOut:
		r.line("timed out after " + Span(milliseconds(p.Took)) + action)
	case p.Code < 0:
		r.line("failed" + took + ", ended by a signal" + action)
	default:
		r.line(fmt.Sprintf("failed with exit code %d%s%s", p.Code, took, action))
	}
	if p.Message != nil {
		printed := cleanText(outputOf(p.Message.Text))
		r.lines, r.size = splitLines(printed), len(printed)
		r.show(t.outputLines("", false))
	}
	if p.Log != "" && p.Warning == "" {
		r.style = dim
		r.line("all of it: " + Clean(p.Log))
	}
	r.warning(p.Warning)
}

// warning says what went wrong beside a command.
func (r *result) warning(text string) {
	if text != "" {
		r.style = yellow
		r.line("warning: " + Clean(text))
	}
}

// outputOf returns a guardrail's output from the message to the agent.
func outputOf(message string) string {
	_, printed, _ := strings.Cut(message, "\nOutput (truncated):\n")
	return printed
}

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
	return colon(text, p.Why)
}

// folderInspected: the marker files, and the boxes of task.md if their number changed.
func (t *Text) folderInspected(p event.FolderInspected) string {
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
	if p.Boxes > 0 && boxes != t.boxes {
		notes = append(notes, fmt.Sprintf("task.md: %d of %s ticked", p.Ticked, units.Quantity(p.Boxes, "box")))
	}
	t.boxes = boxes
	return strings.Join(notes, "\n")
}

// repoInspected: what an iteration changed. The state at its beginning is only remembered.
func (t *Text) repoInspected(p event.RepoInspected) string {
	state := p.Head + " " + p.Fingerprint
	before, known := t.repos[p.Root]
	if len(t.repos) >= reposKept {
		clear(t.repos)
	}
	t.repos[p.Root] = state
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

// repoUnreadable: a repository cannot be inspected; not repeated while the cause is the same.
func (t *Text) repoUnreadable(p event.RepoUnreadable) string {
	if before, known := t.repos[p.Root]; known && before == p.Error {
		return ""
	}
	if len(t.repos) >= reposKept {
		clear(t.repos)
	}
	t.repos[p.Root] = p.Error
	return colon(repository(p.Root), "the changes of the iteration are unknown: "+p.Error)
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
func (t *Text) scmEnded(e event.Event, p event.SCMEnded) {
	if p.Nothing {
		t.mark(e, "nothing to commit")
	}
	var others []string
	for _, task := range p.Tasks {
		if name, _, _ := strings.Cut(task, " "); name != "commit" {
			others = append(others, task)
		}
	}
	if len(others) > 0 {
		t.mark(e, "done: "+strings.Join(others, ", "))
	}
	if p.Error != "" {
		what := "version control failed"
		switch p.Failed {
		case "":
		case "message": // what comes before a commit
			what = "commit failed"
		default:
			what = p.Failed + " failed"
		}
		problem := p.Error
		if !t.opt.Verbose {
			problem = head(problem, problemLines)
		}
		t.fail(e, colon(what, problem))
	}
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

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
