package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func (t *Text) commandReceived(e event.Event, p event.CommandReceived) {
	if len(t.commands) >= commandsKept {
		clear(t.commands)
	}
	t.commands[p.ID] = string(p.Kind)
	text := string(p.Kind)
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
}

func (t *Text) commandDelivered(e event.Event, p event.CommandDelivered) {
	how := string(p.How)
	switch p.How {
	case event.DeliveredLive:
		how = "delivered into the running turn"
	case event.DeliveredPrompt:
		how = fmt.Sprintf("delivered with the prompt of iteration %d", p.Iteration)
	case event.DeliveredLoop:
		how = "done"
	}
	kind := t.command(p.ID)
	switch {
	case kind == "wait" || kind == "blocked":
		how = "noted" // it takes effect only when a person comes
	case kind == "stop" && t.current > 0:
		how = fmt.Sprintf("taken: stopping after iteration %d", t.current)
	case kind == "pause" && t.current > 0:
		how = fmt.Sprintf("taken: pausing after iteration %d", t.current)
	}
	t.note(e, green, "> ", kind+" "+how)
}

func (t *Text) commandRefused(e event.Event, p event.CommandRefused) {
	t.warn(e, t.command(p.ID)+" refused: "+p.Why)
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

// planned shows the agent's own list if it differs from the last one shown.
func (t *Text) planned(e event.Event, p event.AgentPlanned) {
	done := 0
	var b strings.Builder
	for _, todo := range p.Todos {
		mark := "[ ] "
		switch todo.Status {
		case event.TodoDone:
			mark = "[x] "
			done++
		case event.TodoActive:
			mark = "[>] "
		}
		fmt.Fprintf(&b, "%s%s\n", mark, Clean(todo.Text))
	}
	if b.String() == t.plan || len(p.Todos) == 0 {
		return
	}
	t.plan = b.String()
	t.part(e, work)
	t.line(bold, "", fmt.Sprintf("plan  %d of %d done", done, len(p.Todos)))
	for line := range strings.Lines(t.plan) {
		t.line("", "  ", strings.TrimSuffix(line, "\n"))
	}
}

// rare shows what the agent and ralph report now and then.
func (t *Text) rare(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.AgentLimited:
		text := string(p.Kind) + " limit"
		if p.Until != "" {
			text += " until " + t.clock(p.Until)
		}
		t.fail(e, colon(text, p.Text))
	case event.AgentRetried:
		t.warn(e, retried(p))
	case event.AgentCompacted:
		text := "the agent compacted its context"
		if p.Before > 0 {
			text += fmt.Sprintf(" from %s to %s tokens", Tokens(p.Before), Tokens(p.After))
		}
		t.warn(e, text)
	case event.AgentAsked:
		t.warn(e, "the agent asked: "+p.What+"\nand was answered: "+p.Answer)
	case event.AgentFinished:
		how := string(p.Outcome)
		if p.Kind == event.KindRefusal {
			how = "a refusal of the model"
		}
		if p.Outcome != event.TurnOK {
			t.fail(e, colon("the agent's turn ended with "+how, p.Error))
		}
	case event.AgentNoticed:
		if !important[string(e.Field("what"))] {
			return false
		}
		t.warn(e, p.Text)
	case event.AgentExited:
		t.warn(e, exited(p))
	case event.AgentReplaced:
		t.warn(e, t.replaced(p))
	case event.CompletionClaimed:
		t.mark(e, "completion claimed by "+string(p.How))
	case event.CompletionAccepted:
		t.mark(e, "completion accepted")
		t.warn(e, p.Warning)
	case event.CompletionRefused:
		t.warn(e, colon("completion refused", strings.Join(p.Missing, "; ")))
	case event.CompletionIgnored:
		t.warn(e, colon(cmp.Or(p.Text, "the "+string(p.How))+" did not count as a claim", p.Why))
	case event.EffectFailed:
		text := colon(string(p.Do)+" failed", p.Error)
		if p.Hint != "" {
			text += "\nhint: " + p.Hint
		}
		t.fail(e, text)
	case event.FaultRaised:
		t.fail(e, colon("ralph: "+p.Where, p.Error))
	case event.TimerFired:
		t.warn(e, timeouts[p.Name])
	default:
		return false
	}
	return true
}

// important are the notices that every reader sees, as their events spell them.
var important = map[string]bool{
	`"` + event.NoticeLingering + `"`: true, `"` + event.NoticeFallback + `"`: true, `"` + event.NoticeUnreadUsage + `"`: true,
}

// mark is a note about something good.
func (t *Text) mark(e event.Event, text string) { t.note(e, green, "> ", text) }

func retried(p event.AgentRetried) string {
	text := fmt.Sprintf("the agent tries again, attempt %d", p.Attempt)
	if p.Max > 0 {
		text += fmt.Sprintf(" of %d", p.Max)
	}
	if p.Delay > 0 {
		text += " in " + Span(milliseconds(p.Delay))
	}
	if p.Kind != "" {
		text += " (" + string(p.Kind) + ")"
	}
	return colon(text, p.Text)
}

// exited describes the end of a process that did not end well or left other processes running;
// empty otherwise.
func exited(p event.AgentExited) string {
	var notes []string
	switch {
	case p.Signal != "":
		notes = append(notes, colon("the agent's process was ended by signal "+p.Signal, lastLines(p.Stderr, 5)))
	case p.Code != 0:
		notes = append(notes, colon(fmt.Sprintf("the agent's process exited with code %d", p.Code), lastLines(p.Stderr, 5)))
	}
	if p.Strays > 0 {
		notes = append(notes, colon("ended "+units.Quantity(p.Strays, "process")+" that the agent left behind", strings.Join(p.Ended, ", ")))
	}
	return strings.Join(notes, "\n")
}

// replaced says which agent works from now on, and what becomes of the one before.
func (t *Text) replaced(p event.AgentReplaced) string {
	t.totals.worker = p.Name
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

// timeouts explains the deadlines that cut an iteration short. The others concern the loop alone.
var timeouts = map[string]string{
	"idle":      "the agent said nothing for as long as limits.idle allows",
	"tool":      "one of the agent's tools said nothing for as long as limits.tool allows",
	"iteration": "the iteration took as long as limits.iteration allows",
	"exitGrace": "the agent's process lived on after its final result for as long as limits.exitGrace allows",
}

// clock formats an RFC 3339 time as a time of day, with the date if that is not the current one.
// Any other text is returned unchanged.
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

// colon joins a statement and its explanation, if there is one.
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
