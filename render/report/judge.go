package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/reading"
)

// Facts are what is known of a loop besides its events.
type Facts struct {
	Name  string // how a person here names the loop; empty is its own name
	Alive bool   // it has a runner
	Copy  bool   // it is a copy of a loop's folder, so that nothing is known of a runner
	Now   time.Time
	// Said is its status as another file than the journal has it; of use if that is damaged.
	Said string
	// Reading is what a person has to read of the work; nil if nothing is known of it.
	Reading *reading.List
}

// Judge sets the sentence that says how the loop went, and what a person has to do. What a loop
// with a runner does at its last event, it does until now. It is called once.
func (r *Report) Judge(f Facts) {
	r.Needs = []Need{}
	j := judge{Report: r, Facts: f, name: cmp.Or(f.Name, r.Name)}
	if more := f.Now.Sub(r.At).Milliseconds(); f.Alive && r.Last > 0 && more > 0 {
		r.Wall += more
		if r.Open != nil {
			r.Open.Took += more
			r.Active += more
		}
		for i := range r.Waits {
			if r.Waits[i].For == r.waits {
				r.Waits[i].Took += more
			}
		}
	}
	r.Died = r.Last > 0 && !r.Status.Ended() && !f.Alive && !f.Copy && r.Damage == ""
	r.Sentence = j.sentence()
	if f.Reading != nil {
		r.Reading = f.Reading.WithoutFiles()
	}
	j.needs()
}

type judge struct {
	*Report
	Facts

	name string
}

// sentence says in one sentence how the loop went and why.
func (j judge) sentence() string {
	switch {
	case j.Last == 0:
		return "The journal has no event that can be read."
	case j.Damage != "":
		return j.damaged()
	case j.Status.Ended():
		return j.ended()
	case j.Died:
		return fmt.Sprintf("Its runner died %s: nothing works on it now, and the work was not verified as done%s.", j.after(), j.because())
	case j.Status == event.StatusWaiting && j.Waiting != "":
		return sentence(fmt.Sprintf("%s it waits for %s", capital(j.after()), j.Waiting))
	case j.Status == event.StatusPaused:
		return fmt.Sprintf("It is paused %s.", j.after())
	case j.Open != nil:
		return fmt.Sprintf("It works on iteration %s, %s after it began; this is its report so far.", j.number(), units.Span(units.Milliseconds(j.Wall)))
	}
	return fmt.Sprintf("It is %s %s; this is its report so far.", j.Status, j.after())
}

func (j judge) damaged() string {
	said := fmt.Sprintf("The journal is damaged and cannot be read after event %d, %s", j.Last, j.after())
	switch {
	case j.Status.Ended():
		said += "; up to there the loop was " + string(j.Status)
	case j.Said != "":
		said += "; its state file says " + j.Said
	}
	return said + "."
}

func (j judge) ended() string {
	said := fmt.Sprintf("%s %s%s", capital(string(j.Status)), j.after(), j.reason())
	switch {
	case j.Status != event.StatusCompleted:
		return said + "; the work was not verified as done" + j.because() + "."
	case len(j.Edited) > 0:
		return said + ", but the agent changed " + j.Edited[0].Path + others(len(j.Edited)-1) + " and no person has accepted that."
	case j.Doubtful != "":
		return said + ", but that is doubtful: " + strings.TrimSuffix(j.Doubtful, ".") + "."
	case j.Strength != nil:
		return said + "; " + j.Strength.Done() + "."
	case len(j.Checks) == 0:
		return said + "; no guardrail verified it."
	}
	return said + "; " + j.passed() + "."
}

// reason is why the loop ended, as a clause.
func (j judge) reason() string {
	why := strings.TrimSuffix(j.Why, ".")
	switch j.Reason {
	case event.ReasonIterations, event.ReasonCost, event.ReasonTokens, event.ReasonDuration, event.ReasonStop, event.ReasonKill,
		event.ReasonInterrupt, event.ReasonBlocked, event.ReasonFenced:
		return " because " + why
	case event.ReasonWait:
		return " because the agent waits for a person: " + why
	}
	if why == "" {
		return ""
	}
	return ": " + why
}

// after says after how many iterations, and how long.
func (j judge) after() string {
	n := units.Count{Begun: j.Begun, Refunded: j.Refunded, Maximum: j.Maximum}
	said := "before its first iteration"
	switch {
	case j.Begun == 0:
	case j.Open != nil:
		said = "in iteration " + n.Number()
	case n.Maximum > 0 && n.Used() != n.Maximum && j.Status != event.StatusCompleted:
		said = fmt.Sprintf("after %d of %s", n.Used(), units.Quantity(n.Maximum, "iteration"))
	default:
		said = "after " + units.Quantity(n.Used(), "iteration")
	}
	if j.Begun == 0 || j.Open != nil {
		return said + ", " + units.Span(units.Milliseconds(j.Wall)) + " after it began"
	}
	return said + " and " + units.Span(units.Milliseconds(j.Wall))
}

func (j judge) number() string {
	return units.Count{Begun: j.Begun, Refunded: j.Refunded, Maximum: j.Maximum}.Number()
}

// because says what speaks against the work, as far as that is known.
func (j judge) because() string {
	var failing []string
	for _, c := range j.Checks {
		if !c.OK {
			failing = append(failing, units.Cut(c.Name, 60))
		}
	}
	switch {
	case len(failing) == 1:
		return ": " + failing[0] + " still fails"
	case len(failing) > 1:
		return ": " + failing[0] + others(len(failing)-1) + " still fail"
	case len(j.Verdict) > 0:
		return ": its last claim was refused, because " + strings.TrimSuffix(j.Verdict[0], ".") + others(len(j.Verdict)-1)
	case j.Boxes > 0 && j.Ticked < j.Boxes:
		return fmt.Sprintf(": %d of %d boxes are ticked", j.Ticked, j.Boxes)
	case j.Claims == 0:
		return ": the agent never claimed that it is"
	}
	return ""
}

// passed says what verified the work.
func (j judge) passed() string {
	failing := 0
	for _, c := range j.Checks {
		if !c.OK {
			failing++
		}
	}
	switch {
	case failing > 0:
		return fmt.Sprintf("%d of %s failed when they ran last", failing, units.Quantity(len(j.Checks), "guardrail"))
	case len(j.Checks) == 1:
		return "its guardrail passed"
	}
	return fmt.Sprintf("all %d guardrails passed", len(j.Checks))
}

func others(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func (j judge) need(n Need) {
	n.What = capital(n.What)
	j.Report.Needs = append(j.Report.Needs, n)
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(s string) string {
	if s = strings.TrimSpace(s); strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// needs collects what only a person can do, the most urgent first.
func (j judge) needs() {
	resume := "ralph start " + j.name + " --resume"
	switch {
	case j.Died:
		j.need(Need{What: "Its runner died, and nothing works on it now.", Command: resume, Seq: j.Last})
	case j.Status == event.StatusWaiting && j.awaited > 0: // the need of that question says it
	case j.Status == event.StatusWaiting && strings.HasPrefix(j.Waiting, "a person"):
		what := strings.TrimPrefix(strings.TrimPrefix(j.Waiting, "a person"), ": ")
		j.need(Need{What: "It waits for your answer: " + cmp.Or(what, "it does not say what for"), Command: "ralph resume " + j.name, Seq: j.Last})
	case j.Status == event.StatusPaused:
		j.need(Need{What: "It is paused.", Command: "ralph resume " + j.name, Seq: j.Last})
	case j.Reason == event.ReasonBlocked, j.Reason == event.ReasonWait:
		j.need(Need{What: j.Why, Command: resume, Seq: j.Last})
	case j.Status.Ended() && j.Reason.ExitCode() == event.ExitPerson, j.Status == event.StatusFailed:
		j.need(Need{What: cmp.Or(j.Hint, j.Why), Command: resume, Seq: j.Last})
	}
	for _, q := range j.Questions {
		n := Need{What: fmt.Sprintf("Question %d: %s", q.Number, units.Cut(q.Text, 400)), Command: fmt.Sprintf("ralph answer %s %d TEXT", j.name, q.Number)}
		if j.Status.Ended() || j.Died {
			n.What = fmt.Sprintf("Question %d has no answer: %s", q.Number, units.Cut(q.Text, 400))
		}
		j.need(n)
	}
	if len(j.Edited) > 0 {
		var what []string
		for _, edited := range j.Edited {
			what = append(what, edited.String())
		}
		j.need(Need{What: units.Cut(strings.Join(what, "; "), 400), Command: resume + " --accept-changes"})
	}
	if j.Status != event.StatusCompleted {
		j.needsOfChecks()
	}
	if limit := raises[j.Reason]; limit != "" && j.Status == event.StatusStopped {
		j.need(Need{What: "More work needs a higher limit.", Command: resume + " --set " + limit + "=…"})
	}
	if n := len(j.Done); n > 0 && j.Done[n-1].Unkept != "" {
		j.need(Need{What: "The work was not committed: " + j.Done[n-1].Unkept, Seq: j.Done[n-1].Last})
	}
	if n := len(j.Pending); n > 0 && (j.Status.Ended() || j.Died) {
		j.need(Need{What: units.Quantity(n, "message") + " never reached the agent: " + said(j.Pending), Command: resume})
	}
	if j.Damage != "" {
		j.need(Need{What: "The journal is damaged: " + j.Damage, Command: "ralph journal verify " + j.name})
	}
}

func (j judge) needsOfChecks() {
	for _, c := range j.Checks {
		if !c.OK {
			j.need(Need{What: fmt.Sprintf("The guardrail %s %s in iteration %d.", c.Name, c.How, c.Iteration), Seq: c.Seq})
		}
	}
}

// raises are the limits that end a loop, by reason.
var raises = map[event.Reason]string{
	event.ReasonIterations: "maximumIterations", event.ReasonCost: "limits.cost", event.ReasonTokens: "limits.tokens",
	event.ReasonDuration: "limits.duration", event.ReasonRestarts: "restart.max",
}

func said(commands []event.CommandReceived) string {
	var texts []string
	for _, c := range commands {
		texts = append(texts, render.Clean(cmp.Or(c.Text, string(c.Kind))))
	}
	return units.Cut(strings.Join(texts, "; "), 200)
}
