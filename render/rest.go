package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

func (t *Text) commandReceived(e event.Event) error {
	p, err := event.As[event.CommandReceived](e)
	if err != nil {
		return err
	}
	if len(t.commands) >= commandsKept {
		clear(t.commands)
	}
	t.commands[p.ID] = p.Kind
	text := p.Kind
	if p.Key != "" {
		text += " " + p.Key + "=" + p.Val
	}
	if p.From != "" {
		text += " (" + p.From + ")"
	}
	if p.Text != "" {
		text += ": " + p.Text
	}
	t.note(e, green, "> ", text)
	return nil
}

func (t *Text) commandDelivered(e event.Event) error {
	p, err := event.As[event.CommandDelivered](e)
	if err != nil {
		return err
	}
	how := p.How
	switch p.How {
	case "live":
		how = "delivered into the running turn"
	case "prompt":
		how = fmt.Sprintf("delivered with the prompt of iteration %d", p.Iteration)
	case "loop":
		how = "done"
	}
	kind := t.command(p.ID)
	switch {
	case kind == "wait" || kind == "blocked":
		how = "noted" // nothing of it is done before a person is there
	case kind == "stop" && t.current > 0:
		how = fmt.Sprintf("taken: stopping after iteration %d", t.current)
	case kind == "pause" && t.current > 0:
		how = fmt.Sprintf("taken: pausing after iteration %d", t.current)
	}
	t.note(e, green, "> ", kind+" "+how)
	return nil
}

func (t *Text) commandRefused(e event.Event) error {
	p, err := event.As[event.CommandRefused](e)
	if err != nil {
		return err
	}
	t.warn(e, t.command(p.ID)+" refused: "+p.Why)
	return nil
}

// command names a command that was answered.
func (t *Text) command(id string) string {
	kind, known := t.commands[id]
	if !known {
		return "command " + id
	}
	delete(t.commands, id)
	return kind
}

// planned shows the agent's own list when it is another than the last one shown.
func (t *Text) planned(e event.Event) error {
	p, err := event.As[event.AgentPlanned](e)
	if err != nil {
		return err
	}
	done := 0
	var b strings.Builder
	for _, todo := range p.Todos {
		mark := "[ ] "
		switch todo.Status {
		case "done":
			mark = "[x] "
			done++
		case "active":
			mark = "[>] "
		}
		fmt.Fprintf(&b, "%s%s\n", mark, Clean(todo.Text))
	}
	if b.String() == t.plan || len(p.Todos) == 0 {
		return nil
	}
	t.plan = b.String()
	t.part(e, work)
	t.line(bold, "", fmt.Sprintf("plan  %d of %d done", done, len(p.Todos)))
	for line := range strings.Lines(t.plan) {
		t.line("", "  ", strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// ofRest shows what is rare, and what only a verbose reader wants.
func (t *Text) ofRest(e event.Event) error {
	switch e.Type {
	case event.TypeAgentLimited:
		return told(t, e, t.fail, func(p event.AgentLimited) string {
			text := p.Kind + " limit"
			if p.Until != "" {
				text += " until " + t.clock(p.Until)
			}
			return colon(text, p.Text)
		})
	case event.TypeAgentRetried:
		return told(t, e, t.warn, retried)
	case event.TypeAgentCompacted:
		return told(t, e, t.warn, func(p event.AgentCompacted) string {
			text := "the agent compacted its context"
			if p.Before > 0 {
				text += fmt.Sprintf(" from %s to %s tokens", Tokens(p.Before), Tokens(p.After))
			}
			return text
		})
	case event.TypeAgentAsked:
		return told(t, e, t.warn, func(p event.AgentAsked) string {
			return "the agent asked: " + p.What + "\nand was answered: " + p.Answer
		})
	case event.TypeAgentFinished:
		return told(t, e, t.fail, func(p event.AgentFinished) string {
			if p.Outcome == "ok" {
				return ""
			}
			how := p.Outcome
			if p.Kind == event.KindRefusal {
				how = "a refusal of the model"
			}
			return colon("the agent's turn ended with "+how, p.Error)
		})
	case event.TypeAgentNoticed:
		// Not decoded before it is known to be wanted: some agents report at each step.
		if what := string(e.Field("what")); what == lingering || what == fallback || what == unreadUsage {
			return told(t, e, t.warn, func(p event.AgentNoticed) string { return p.Text })
		}
	case event.TypeAgentExited:
		return told(t, e, t.warn, exited)
	case event.TypeAgentReplaced:
		return told(t, e, t.warn, t.replaced)
	case event.TypeCompletionClaimed:
		return told(t, e, t.mark, func(p event.CompletionClaimed) string { return "completion claimed by " + p.How })
	case event.TypeCompletionAccepted:
		err := told(t, e, t.mark, func(event.CompletionAccepted) string { return "completion accepted" })
		if err != nil {
			return err
		}
		return told(t, e, t.warn, func(p event.CompletionAccepted) string { return p.Warning })
	case event.TypeCompletionRefused:
		return told(t, e, t.warn, func(p event.CompletionRefused) string {
			return colon("completion refused", strings.Join(p.Missing, "; "))
		})
	case event.TypeCompletionIgnored:
		return told(t, e, t.warn, func(p event.CompletionIgnored) string {
			return colon(cmp.Or(p.Text, "the "+p.How)+" did not count as a claim", p.Why)
		})
	case event.TypeEffectFailed:
		return told(t, e, t.fail, func(p event.EffectFailed) string {
			text := colon(p.Do+" failed", p.Error)
			if p.Hint != "" {
				text += "\nhint: " + p.Hint
			}
			return text
		})
	case event.TypeFaultRaised:
		return told(t, e, t.fail, func(p event.FaultRaised) string { return colon("ralph: "+p.Where, p.Error) })
	case event.TypeTimerFired:
		return told(t, e, t.warn, timeout)
	}
	if t.opt.Verbose {
		t.detail(e)
	}
	return nil
}

// The notices that are shown to everybody, as their events spell them.
const (
	lingering   = `"` + event.NoticeLingering + `"`
	fallback    = `"` + event.NoticeFallback + `"`
	unreadUsage = `"` + event.NoticeUnreadUsage + `"`
)

// told shows one note about a payload; none where there is nothing to say.
func told[P event.Payload](t *Text, e event.Event, note func(event.Event, string), say func(P) string) error {
	p, err := event.As[P](e)
	if err != nil {
		return err
	}
	if text := say(p); text != "" {
		note(e, text)
	}
	return nil
}

// mark is a note about something good.
func (t *Text) mark(e event.Event, text string) { t.note(e, green, "> ", text) }

func retried(p event.AgentRetried) string {
	text := fmt.Sprintf("the agent tries again, attempt %d", p.Attempt)
	if p.Max > 0 {
		text += fmt.Sprintf(" of %d", p.Max)
	}
	if p.Delay > 0 {
		text += " in " + Span(time.Duration(p.Delay)*time.Millisecond)
	}
	if p.Kind != "" {
		text += " (" + p.Kind + ")"
	}
	return colon(text, p.Text)
}

// exited is worth a line where the process did not end well or left others behind.
func exited(p event.AgentExited) string {
	var notes []string
	switch {
	case p.Signal != "":
		notes = append(notes, colon("the agent's process was ended by signal "+p.Signal, lastLines(p.Stderr, 5)))
	case p.Code != 0:
		notes = append(notes, colon(fmt.Sprintf("the agent's process exited with code %d", p.Code), lastLines(p.Stderr, 5)))
	}
	if p.Strays > 0 {
		notes = append(notes, colon("ended "+count(p.Strays, "process", "processes")+" that the agent left behind", strings.Join(p.Ended, ", ")))
	}
	return strings.Join(notes, "\n")
}

// replaced says which agent works from now on, and what becomes of the one before.
func (t *Text) replaced(p event.AgentReplaced) string {
	t.sum.worker = p.Name
	text := p.Name + " takes over from " + p.Was
	if p.NotBefore != "" {
		text += ", not before " + t.clock(p.NotBefore)
	}
	text = colon(text, p.Why)
	switch {
	case p.Reason != "":
		text += "\n" + p.Was + " is not tried again before the loop is resumed"
		if p.Hint != "" {
			text += "\nhint: " + p.Hint
		}
	case p.Until != "":
		text += "\n" + p.Was + " is tried again at " + t.clock(p.Until)
	}
	return text
}

// timeout explains the deadlines that cut an iteration short. The others are the
// loop's own affair.
func timeout(p event.TimerFired) string {
	switch p.Name {
	case "idle":
		return "the agent said nothing for as long as limits.idle allows"
	case "tool":
		return "one of the agent's tools said nothing for as long as limits.tool allows"
	case "iteration":
		return "the iteration took as long as limits.iteration allows"
	case "afterResult":
		return "the agent's process lived on after its final result for as long as limits.afterResult allows"
	}
	return ""
}

// detail is one dim line about an event that has no words of its own here.
func (t *Text) detail(e event.Event) {
	t.part(e, work)
	t.line(dim, "  ", string(fields(nil, e)))
}

// clock spells an RFC 3339 time as a time of day, with the date where that is not
// the present one; what is no such time stays as it is.
func (t *Text) clock(rfc3339 string) string {
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	at = at.In(t.opt.Location)
	if t.day.IsZero() || at.YearDay() == t.day.YearDay() && at.Year() == t.day.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

// colon joins a statement and what there is to say about it.
func colon(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return "\n" + strings.Join(lines[max(0, len(lines)-n):], "\n")
}
