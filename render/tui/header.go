package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// A fact is one part of the header. If there is no room, the parts with the highest rank are left
// out.
type fact struct {
	text  string
	style terminal.Style
	rank  int
}

const between = " · "

// nameLeast is how many columns a loop's name has at least, where the status leaves them.
const nameLeast = 12

// header is the first line: what the loop is and has used.
func (m *model) header(columns int) string {
	v, t := m.view, m.theme
	word, style := m.status()
	clock := 2
	if v.Stories > 0 {
		clock = 4 // how many stories are done says more
	}
	facts := []fact{
		{render.Cut(render.Clean(m.o.Name), max(columns/2, nameLeast)), t.Bar, 0},
		{m.iteration(columns < 60), t.Text, 1},
		{word, style, 0},
		{m.elapsed(), t.Text, clock},
		{m.cost(), t.Text, 3},
		{m.tokens(), t.Dim, 5},
		{m.context(), t.Dim, 6},
		{m.agent(), t.Dim, 4},
	}
	if v.Stories > 0 {
		facts = append(facts, fact{fmt.Sprintf("stories %d/%d", v.StoriesDone, v.Stories), t.Text, 2})
		if v.Open && v.Story != nil && v.Story.ID != "" {
			facts = append(facts, fact{render.Clean(string(v.Story.Mode) + " " + v.Story.ID), t.Dim, 5})
		}
	}
	if v.Boxes > 0 {
		facts = append(facts, fact{fmt.Sprintf("%d of %d boxes", v.Ticked, v.Boxes), t.Dim, 7})
	}
	return fit(facts, columns)
}

// fit joins the facts that have room. Those of rank 0 are cut rather than left out, the first one
// first.
func fit(facts []fact, columns int) string {
	for rank := 9; rank >= 0; rank-- {
		var parts []string
		width := 0
		for i, f := range facts {
			if f.text == "" || f.rank > rank {
				continue
			}
			if len(parts) > 0 {
				width += render.Columns(between)
			}
			if rank == 0 {
				f.text = render.Cut(f.text, max(columns-width-rest(facts[i+1:]), 1))
			}
			width += render.Columns(f.text)
			parts = append(parts, f.style.Render(f.text))
		}
		if width <= columns {
			return strings.Join(parts, between)
		}
	}
	return ""
}

// rest is how many columns the others of rank 0 need.
func rest(facts []fact) (columns int) {
	for _, f := range facts {
		if f.text != "" && f.rank == 0 {
			columns += render.Columns(between + f.text)
		}
	}
	return columns
}

// status is the word that says what the loop does.
func (m *model) status() (string, terminal.Style) {
	v, t := m.view, m.theme
	switch {
	case m.died:
		return "died", t.Failure
	case v.ContinuesOn != "":
		return render.Clean(v.State), t.Warning
	case v.Ended != nil:
		word := v.Ended.Status.String() + ": " + render.Clean(string(v.Ended.Reason))
		switch v.Ended.Status {
		case event.StatusCompleted:
			return word, t.Good
		case event.StatusFailed:
			return word, t.Failure
		}
		return word, t.Warning
	case !m.opened && v.Seq == 0:
		return "opening", t.Dim
	case m.needsPerson():
		return "needs you", t.Warning
	}
	word := v.Status.String()
	if v.Pending != "" {
		word += ", " + render.Clean(v.Pending)
	}
	if v.Status == event.StatusRunning {
		return word, t.Good
	}
	return word, t.Warning
}

func (m *model) iteration(short bool) string {
	v := m.view
	count := units.Count{Begun: max(v.Begun, v.Iteration), Refunded: v.Refunded, Maximum: v.MaximumIterations}
	switch {
	case count.Begun == 0:
		return ""
	case short:
		return count.Short()
	}
	return "iteration " + count.Number()
}

// coarse spells a duration in its largest unit, so that a screen on which nothing else happens is
// drawn again once a minute.
func coarse(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return units.Span(d.Truncate(time.Minute))
}

// elapsed is the time since the loop started, and the part of it in which an iteration was open.
func (m *model) elapsed() string {
	v := m.view
	if v.Since.IsZero() {
		return ""
	}
	until := m.now
	if m.over || v.Ended != nil {
		until = v.At
	}
	all, active := until.Sub(v.Since), m.active
	if began := m.side.began(v.Iteration); v.Open && !began.IsZero() {
		active += until.Sub(began)
	}
	text := coarse(all)
	if active > 0 && all >= time.Minute && coarse(active) != text {
		text += " (" + coarse(active) + " active)"
	}
	return text
}

func (m *model) cost() string {
	if m.view.Cost == nil {
		return "cost unknown"
	}
	return units.Cost(m.view.Cost)
}

func (m *model) tokens() string {
	in, out := m.view.TokensIn, m.view.TokensOut
	if in == nil || out == nil || *in+*out == 0 {
		return ""
	}
	return units.Tokens(*in+*out) + " tokens"
}

func (m *model) context() string {
	if m.use.Context <= 0 {
		return ""
	}
	return "context " + units.Tokens(m.use.Context)
}

func (m *model) agent() string {
	agent := m.view.Agent
	if m.use.Model != "" {
		agent += " " + m.use.Model
	}
	return render.Clean(agent)
}

// activity is the second line: what happens now, and since when or until when.
func (m *model) activity(columns int) string {
	what, since := m.doing()
	if what == "" || m.needsPerson() && m.overlay == nil { // the card says it
		return ""
	}
	took := ""
	if !since.IsZero() && !m.over {
		took = between + coarse(m.now.Sub(since))
	}
	if m.view.Status == event.StatusWaiting && !m.view.Until.IsZero() && !m.over {
		took = between + "in " + coarse(m.view.Until.Sub(m.now)+time.Second)
	}
	return m.theme.Dim.Render(render.Cut(render.Clean(what), max(columns-render.Columns(took), 1)) + took)
}

// doing is what happens now, and since when if that is known.
func (m *model) doing() (string, time.Time) {
	v := m.view
	switch {
	case m.died:
		return "the runner of this loop is gone; 'ralph start " + m.o.Name + " --resume' resumes it", time.Time{}
	case v.Ended != nil:
		return m.endText(), time.Time{}
	case !m.opened:
		return "reading the journal", time.Time{}
	case v.Status == event.StatusPaused:
		return "paused; /resume continues", time.Time{}
	case v.Status == event.StatusWaiting && v.Until.IsZero():
		return m.question(), time.Time{}
	case v.Status == event.StatusWaiting:
		what, _, _ := strings.Cut(units.FirstLine(v.Waiting), " until ")
		return "waits for " + what + " until " + v.Until.In(m.now.Location()).Format("15:04"), time.Time{}
	case !v.Open:
		return "between two iterations", time.Time{}
	}
	if what, since := running(m.recent); what != "" {
		return what, since
	}
	return v.Doing, time.Time{}
}

// lookBack is how many entries may be newer than one that still runs.
const lookBack = 50

// running is the newest tool or guardrail that runs, or what the agent writes.
func running(entries []transcript.Entry) (string, time.Time) {
	for i := len(entries) - 1; i >= max(len(entries)-lookBack, 0); i-- {
		switch b := entries[i].Body.(type) {
		case transcript.Tools:
			for j := len(b.Calls) - 1; j >= 0; j-- {
				if c := b.Calls[j]; c.State == transcript.StateRunning {
					return strings.TrimSpace(c.Name + "  " + c.About), c.Began
				}
			}
		case transcript.Guardrail:
			if b.State == transcript.StateRunning {
				return "guardrail  " + units.FirstLine(b.Name), b.Began
			}
		case transcript.Words:
			if !b.Done {
				return "the agent writes", entries[i].At
			}
		case transcript.Thinking:
			if !b.Done {
				return "the agent thinks", entries[i].At
			}
		case transcript.Iteration:
			return "", time.Time{}
		}
	}
	return "", time.Time{}
}

// endText is why the loop ended, in one line.
func (m *model) endText() string {
	e := m.view.Ended
	if e == nil {
		return ""
	}
	text := "ended: " + string(e.Reason)
	switch {
	case e.Status == event.StatusCompleted:
		text = strings.TrimSuffix(render.Result(m.view)+"; "+m.view.Done, "; ")
	case e.Why != "":
		text = units.FirstLine(e.Why)
	}
	if e.Hint != "" {
		text += "; " + units.FirstLine(e.Hint)
	}
	return render.Clean(text)
}

// State is what the terminal shows outside of the screen.
func (m *model) State() terminal.State {
	v := m.view
	if m.o.Replay != nil {
		return terminal.State{Title: "ralph: replay of " + m.o.Name}
	}
	word, _ := m.status()
	s := terminal.State{Title: "ralph: " + m.o.Name + between + word, Message: m.o.Name + ": " + word, Done: v.Ticked, Total: v.Boxes}
	if v.Stories > 0 {
		s.Done, s.Total = v.StoriesDone, v.Stories
	}
	if n := m.iteration(true); n != "" {
		s.Title += between + n
	}
	switch {
	case !m.opened:
	case m.died:
		s.Status = terminal.StatusError
	case m.needsPerson():
		s.Status, s.Kind, s.Message = terminal.StatusBlocked, terminal.KindQuestion, m.question()
		if v.Ended != nil && v.Ended.Reason == event.ReasonAuth {
			s.Kind = terminal.KindAuth
		}
	case v.Ended != nil && v.Ended.Status == event.StatusCompleted:
		s.Status, s.Message = terminal.StatusDone, m.endText()
	case v.Ended != nil && v.Ended.Status == event.StatusFailed:
		s.Status, s.Message = terminal.StatusError, m.endText()
	case v.Ended != nil, v.Status == event.StatusPaused:
		s.Status = terminal.StatusIdle
	default:
		s.Status = terminal.StatusWorking
	}
	return s
}
