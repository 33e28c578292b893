package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// What ralph itself finds out behind a turn: guardrails, files, repositories, limits.

// guardrailCalls parts the calls of guardrails from the agent's own.
const guardrailCalls = "guardrail\x00"

// ofGate shows one event of a check; what is news to nobody is left out.
func (t *Text) ofGate(e event.Event) (shown bool, err error) {
	switch e.Type {
	case event.TypeGuardrailStarted:
		err = t.guardrailStarted(e)
	case event.TypeGuardrailEnded:
		err = t.guardrailEnded(e)
	case event.TypeGuardrailEdited:
		err = told(t, e, t.warn, edited)
	case event.TypeFolderSeen:
		err = told(t, e, t.mark, t.folderSeen)
	case event.TypeRepoSeen:
		err = told(t, e, t.mark, t.repoSeen)
	case event.TypeRepoUnseen:
		err = told(t, e, t.warn, t.repoUnseen)
	case event.TypeRepoCommitted:
		err = told(t, e, t.mark, committed)
	case event.TypeSCMEnded:
		err = t.scmEnded(e)
	case event.TypeBudgetWarned:
		err = told(t, e, t.warn, func(p event.BudgetWarned) string { return colon(p.Limit, p.Why) })
	case event.TypeBreakerTripped:
		err = told(t, e, t.warn, tripped)
	case event.TypeClockJumped:
		err = told(t, e, t.warn, func(p event.ClockJumped) string {
			return "the machine slept or its clock was set, for " + Span(milliseconds(p.By)) + " that count against no limit"
		})
	default:
		return false, nil
	}
	return true, err
}

// guardrailStarted is a line like a tool's: some run for minutes.
func (t *Text) guardrailStarted(e event.Event) error {
	p, err := event.As[event.GuardrailStarted](e)
	if err != nil {
		return err
	}
	t.called = t.guardrail(e, p.Name, cyan, "- ")
	return nil
}

// guardrail writes the line of a guardrail and returns what it is called by.
func (t *Text) guardrail(e event.Event, name, style, marker string) string {
	t.part(e, work)
	t.paint(style, marker)
	t.head(call{name: "guardrail", about: firstLine(name)})
	return guardrailCalls + name
}

// guardrailEnded: how it went, and of a failure what it printed and where the rest is.
func (t *Text) guardrailEnded(e event.Event) error {
	p, err := event.As[event.GuardrailEnded](e)
	if err != nil {
		return err
	}
	if t.called != guardrailCalls+p.Name {
		t.guardrail(e, p.Name, dim, "< ")
	}
	t.called = ""
	r := result{Text: t, style: green, margin: 2}
	took := " in " + Span(milliseconds(p.Took))
	if p.OK {
		r.line("passed" + took)
		r.warning(p.Warning)
		return nil
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
		printed := whole(outputOf(p.Message.Text))
		r.lines, r.size = splitLines(printed), len(printed)
		r.show(t.outputLines("", false))
	}
	if p.Log != "" && p.Warning == "" {
		r.style = dim
		r.line("all of it: " + Clean(p.Log))
	}
	r.warning(p.Warning)
	return nil
}

// warning says what went wrong beside a command.
func (r *result) warning(text string) {
	if text != "" {
		r.style = yellow
		r.line("warning: " + Clean(text))
	}
}

// outputOf returns what a guardrail printed out of what the agent is told of it.
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
	text := what + p.How + when + p.Path
	switch {
	case p.Restored && p.During:
		text += ", put back"
	case p.Restored:
		text += ", put back before the check"
	}
	return colon(text, p.Why)
}

// folderSeen: the files that claim or ask, and the boxes of task.md when their number changed.
func (t *Text) folderSeen(p event.FolderSeen) string {
	var notes []string
	if p.Done {
		notes = append(notes, colon("the file DONE is there", p.Text))
	}
	if p.Wait {
		why := p.Text
		if p.Done {
			why = "" // it is of the other file
		}
		notes = append(notes, colon("the file WAIT_WITHOUT_RESTART is there", why))
	}
	boxes := [2]int{p.Ticked, p.Boxes}
	if p.Boxes > 0 && boxes != t.boxes {
		notes = append(notes, fmt.Sprintf("task.md: %d of %s ticked", p.Ticked, count(p.Boxes, "box", "boxes")))
	}
	t.boxes = boxes
	return strings.Join(notes, "\n")
}

// repoSeen: what an iteration changed. Where a repository stands when one begins is only
// remembered.
func (t *Text) repoSeen(p event.RepoSeen) string {
	stands := p.Head + " " + p.Fingerprint
	before, known := t.repos[p.Root]
	if len(t.repos) >= reposKept {
		clear(t.repos)
	}
	t.repos[p.Root] = stands
	if p.When == "begin" || known && before == stands {
		return ""
	}
	var notes []string
	if p.Commits > 0 {
		notes = append(notes, count(p.Commits, "new commit", "new commits"))
	}
	if p.Files > 0 {
		notes = append(notes, count(p.Files, "file", "files")+" not committed ("+changes(p.Insertions, p.Deletions)+")")
	}
	if len(notes) == 0 {
		return ""
	}
	return colon(repository(p.Root), strings.Join(notes, ", "))
}

// repoUnseen: that a repository cannot be looked at, once as long as the cause is the same.
func (t *Text) repoUnseen(p event.RepoUnseen) string {
	if before, known := t.repos[p.Root]; known && before == p.Error {
		return ""
	}
	if len(t.repos) >= reposKept {
		clear(t.repos)
	}
	t.repos[p.Root] = p.Error
	return colon(repository(p.Root), "what the iteration changes cannot be seen: "+p.Error)
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
	return fmt.Sprintf("committed %.10s %s (%s, %s)", p.SHA, subject, count(p.Files, "file", "files"), changes(p.Insertions, p.Deletions))
}

// scmEnded: the tasks besides the commit, and the one that failed.
func (t *Text) scmEnded(e event.Event) error {
	p, err := event.As[event.SCMEnded](e)
	if err != nil {
		return err
	}
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
	return nil
}

// tripped says what a loop that gets nowhere is told. Its end is the report's to tell.
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

// problemLines are how many lines of a program's complaint are worth a look.
const problemLines = 5

// head returns the first lines of a text, and how many more there are.
func head(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= most+1 {
		return text
	}
	return strings.Join(lines[:most], "\n") + "\n… " + count(len(lines)-most, "more line", "more lines")
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
