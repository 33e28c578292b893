package plain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// How much of a tool's output, and of the change that it makes, is shown.
const (
	outputLines        = 3
	outputLinesFailed  = 5 // besides the first ones: the end says what failed
	outputLinesVerbose = 40
	diffLines          = 12
)

// tools shows the calls that the present event began or ended.
func (t *Text) tools(e transcript.Entry, b transcript.Tools) {
	margin := 0
	if e.Parent != "" {
		margin = 2
	}
	for _, c := range b.Calls {
		switch t.now.Seq {
		case c.Returned:
			if c.State == transcript.StateFailed {
				t.totals.failed++
			}
			if !t.opt.Quiet {
				t.returned(c, margin)
			}
		case c.Seq:
			if !t.opt.Quiet {
				t.head(cyan, "- ", c.Name, c.About, margin)
				if t.opt.Diffs {
					t.diff(c.Diff, margin+2)
				}
				t.called = c.ID
			}
		}
	}
	if t.now.Type == event.TypeToolProgressed && t.opt.Verbose && !t.opt.Quiet {
		t.progressed(b, margin)
	}
}

// head writes the line of a tool or guardrail, such as "- bash  make test".
func (t *Text) head(style, mark, name, about string, margin int) {
	t.part(work)
	t.blanks(margin)
	t.paint(style, mark)
	t.paint(bold, render.Cut(name, t.left()))
	if about != "" && t.left() > 6 {
		t.raw("  ")
		t.raw(render.Cut(about, t.left()))
	}
	t.newline()
}

// below repeats the line of a call unless it is the last line printed: calls that run at the same
// time return in any order.
func (t *Text) below(c transcript.Call, margin int) {
	if t.called != c.ID || c.ID == "" {
		t.head(dim, "< ", c.Name, c.About, margin)
	}
}

// progressed shows what a tool prints while it runs.
func (t *Text) progressed(b transcript.Tools, margin int) {
	p, err := event.As[event.ToolProgressed](t.now)
	if err != nil {
		return
	}
	text := strings.TrimRight(p.Text.String(), "\r\n")
	if text == "" {
		return
	}
	for _, c := range b.Calls {
		if c.ID == p.ID {
			t.below(c, margin)
		}
	}
	t.entry(dim, "  : ", render.CleanText(text))
	t.called = p.ID
}

// returned: the first lines of the output below the call, and how much more there is.
func (t *Text) returned(c transcript.Call, margin int) {
	t.below(c, margin)
	ok := c.State == transcript.StateOK
	r := result{Text: t, style: dim, margin: margin + 2, lines: splitLines(c.Output), size: c.Size, cut: c.Blob != "", took: c.Took}
	if !ok {
		r.style = red
		r.line("failed")
	}
	r.show(t.outputLines(c.Name, ok))
	if ok && r.size == 0 && r.took < showTook {
		r.line("ok")
	}
	t.called = ""
}

// outputLines returns how many lines of a tool's output are shown, from its beginning and its end:
// none if the tool only read, both after a failure.
func (t *Text) outputLines(name string, ok bool) (head, tail int) {
	first := cmp.Or(t.opt.Lines, outputLines)
	switch {
	case t.opt.Verbose:
		return cmp.Or(t.opt.Lines, outputLinesVerbose), outputLines
	case !ok:
		return first, outputLinesFailed
	case reading[strings.ToLower(name)]:
		return t.opt.Lines, 0
	}
	return first, 0
}

// reading are the tools that only read a file.
var reading = map[string]bool{"read": true, "read_file": true, "readfile": true, "view": true, "notebookread": true, "skill": true}

// result is a tool's output as it is shown.
type result struct {
	*Text
	style  string
	margin int
	lines  []string
	size   int  // of the whole output in bytes
	cut    bool // the event holds only its beginning
	took   time.Duration
}

// showTook is how long a tool has to take for its time to be shown.
const showTook = time.Second

// show writes the first and the last lines, and between them what is left out.
func (r *result) show(head, tail int) {
	left := len(r.lines) - head - tail
	if left <= 1 && head > 0 && !r.cut { // the line that says so would be as long
		head, tail, left = len(r.lines), 0, 0
	}
	for _, line := range r.lines[:min(head, len(r.lines))] {
		r.line(line)
	}
	var about []string
	switch {
	case left > 0 && head > 0:
		about = append(about, "… "+units.Quantity(left, "more line"), units.Bytes(int64(r.size)))
	case left > 0:
		about = append(about, units.Quantity(left, "line"), units.Bytes(int64(r.size)))
	case r.cut:
		about = append(about, "… "+units.Bytes(int64(r.size)))
	}
	if r.took >= showTook {
		about = append(about, units.Span(r.took))
	}
	if len(about) > 0 {
		r.line(strings.Join(about, ", "))
	}
	if left > 0 {
		for _, line := range r.lines[len(r.lines)-tail:] {
			r.line(line)
		}
	}
}

// line writes one line of it, cut where the terminal ends.
func (r *result) line(s string) {
	if s = strings.TrimRight(s, " \t"); s != "" {
		r.blanks(r.margin)
		r.paint(r.style, render.Cut(strings.ReplaceAll(s, "\t", "    "), r.left()))
	}
	r.newline()
}

// splitLines returns the lines of a text without the blank ones around it.
func splitLines(text string) []string {
	if text = strings.Trim(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// diff shows what a call changes, below its line.
func (t *Text) diff(lines []render.DiffLine, margin int) {
	shown := lines
	if len(lines) > diffLines+1 { // the line that says so would be as long
		shown = lines[:diffLines]
	}
	for _, line := range shown {
		style := dim
		switch line.Sign {
		case '+':
			style = green
		case '-':
			style = red
		}
		t.blanks(margin)
		t.line(style, string(line.Sign)+" ", strings.ReplaceAll(line.Text, "\t", "    "))
	}
	if left := len(lines) - len(shown); left > 0 {
		t.blanks(margin)
		t.line(dim, "", "… "+units.Quantity(left, "more line")+" of the change")
	}
}

// planned shows the agent's own list if it differs from the last one shown.
func (t *Text) planned(e transcript.Entry, p transcript.Plan) {
	var b strings.Builder
	for _, todo := range p.Todos {
		mark := "[ ] "
		switch todo.Status {
		case event.TodoDone:
			mark = "[x] "
		case event.TodoActive:
			mark = "[>] "
		}
		fmt.Fprintf(&b, "%s%s\n", mark, todo.Text)
	}
	if t.opt.Quiet || b.String() == t.plan {
		return
	}
	t.plan = b.String()
	t.part(work)
	t.line(bold, "", e.Phrase(t.known()).String())
	for line := range strings.Lines(t.plan) {
		t.line("", "  ", strings.TrimSuffix(line, "\n"))
	}
}

// guardrailCalls is the prefix that separates guardrails from the agent's own calls.
const guardrailCalls = "guardrail\x00"

// guardrail writes a line like a tool's when it starts, since some run for minutes, and then the
// result: of a failure the output, and the file with all of it.
func (t *Text) guardrail(e transcript.Entry, g transcript.Guardrail) {
	name := guardrailCalls + g.Name
	switch {
	case g.State == transcript.StateLost:
		return
	case g.State == transcript.StateRunning:
		t.head(cyan, "- ", "guardrail", render.FirstLine(g.Name), 0)
		t.called = name
		return
	case t.called != name:
		t.head(dim, "< ", "guardrail", render.FirstLine(g.Name), 0)
	}
	t.called = ""
	r := result{Text: t, style: green, margin: 2}
	if g.State == transcript.StateFailed {
		r.style = red
	}
	r.line(g.Verdict() + " (" + strings.Join(e.Phrase(t.known()).Facts, " · ") + ")")
	if g.State == transcript.StateFailed {
		r.lines, r.size = splitLines(g.Output), len(g.Output)
		r.show(t.outputLines("", false))
		if g.Log != "" && g.Warning == "" {
			r.style = dim
			r.line("all of it: " + g.Log)
		}
	}
	if g.Warning != "" {
		r.style = yellow
		r.line("warning: " + strings.ReplaceAll(g.Warning, "\n", " "))
	}
}

// message shows what a person asked for, and then what became of it. A question, and its answer,
// are shown when the loop has them.
func (t *Text) message(e transcript.Entry, m transcript.Message) {
	asked := m.Command == event.CommandAsk || m.Command == event.CommandAnswer
	if m.State == transcript.MessageQueued {
		if !asked {
			t.mark(green, "> ", e.Phrase(t.known()).String())
			if m.Doubt != "" && !t.doubted {
				t.doubted = true
				t.complain(yellow, m.Doubt)
			}
		}
		return
	}
	became := m.Became()
	if m.State == transcript.MessageWithdrawn {
		became.Why = units.FirstLine(m.Text)
	}
	t.say(became)
}

// question shows a question with what to type, and then its answer.
func (t *Text) question(e transcript.Entry, q transcript.Question) {
	switch t.now.Type {
	case event.TypeQuestionAnswered:
		t.say(q.Reply())
	case event.TypeQuestionAsked:
		t.mark(yellow, "? ", e.Phrase(phrase.Known{}).String())
		t.entry(dim, "  ", []byte(t.answers(q.Number)))
	}
}
