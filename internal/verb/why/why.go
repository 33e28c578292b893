package why

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Explain prints why the event with a number happened, or without a number why the loop is in its
// present state. Both are as a person typed them, and may be empty.
func Explain(e *cli.Env, loop, number string, asJSON bool) error {
	name, seq, err := parse(e, loop, number)
	if err != nil {
		return err
	}
	path, isLoop, err := e.FindPath(name)
	if err != nil {
		return err
	}
	var a *Answer
	if seq > 0 {
		a, err = explainAt(path, seq)
	} else {
		alive := false
		if isLoop {
			live, probed := registry.Probe(path)
			if probed != nil {
				return probed
			}
			alive = live.Alive
		}
		a, err = explainLast(path, isLoop, alive)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, a, "  ")
	}
	_, err = e.Stdout.Write(a.text(e.Now(), textOptions{e.RenderOptions(), seq > 0}))
	return err
}

// parse reads [NAME] [EVENT] as they were typed. A number alone is an event, unless a loop has that
// name.
func parse(e *cli.Env, loop, number string) (name string, seq event.Seq, err error) {
	if number == "" {
		if n, ok := numberOf(loop); ok {
			if _, err := e.Find(loop); err != nil {
				return "", n, nil
			}
		}
		return loop, 0, nil
	}
	n, ok := numberOf(number)
	if !ok {
		return "", 0, cli.Refuse("write it as 'ralph why', 'ralph why NAME', 'ralph why 412' or 'ralph why NAME 412'",
			"%q is not the number of an event", number)
	}
	return loop, n, nil
}

// numberOf reads the number of an event, with or without a # before it.
func numberOf(word string) (event.Seq, bool) {
	seq, err := event.ParseSeq(strings.TrimPrefix(word, "#"))
	return seq, err == nil && seq > 0
}

const nameColumns = 10

type textOptions struct {
	render.Options
	chain bool // also the events that led to it
}

// text formats an answer for people.
func (a *Answer) text(now time.Time, o textOptions) []byte {
	p := printer{now: now, Options: o.Options}
	if p.Width <= 0 {
		p.Width = -1 // no lines are broken
	}
	p.paragraph(bold, a.named())
	p.out.WriteByte('\n')
	p.paragraph("", a.Answer)
	p.out.WriteByte('\n')
	if a.Event != nil {
		p.notes("event", []Note{*a.Event}, false)
	}
	switch {
	case a.Rule != "":
		p.field("rule", a.Rule)
	case a.Differs:
		p.field("rule", "unknown: today's rules decide something else here; 'ralph replay --verify' compares them")
	}
	name := "settings"
	for _, s := range a.Settings {
		p.field(name, s.String())
		name = ""
	}
	if a.Left > 0 {
		p.field("because", fmt.Sprintf("… %d earlier events", a.Left))
	}
	name = "because"
	if a.Left > 0 {
		name = ""
	}
	p.notes(name, a.Facts, false)
	if o.chain {
		p.notes("causes", a.Chain, true)
	}
	p.notes("then", a.Outcome, false)
	if a.Hint != "" {
		p.field("hint", a.Hint)
	}
	return p.out.Bytes()
}

// String spells a setting with where it comes from.
func (s Setting) String() string {
	text := s.Key
	if s.Value != "" {
		text += " = " + s.Value
	}
	switch {
	case s.From == "":
		return text + " (built-in)"
	case s.Seq > 0:
		return fmt.Sprintf("%s (%s, since event %d)", text, s.From, s.Seq)
	}
	return fmt.Sprintf("%s (%s)", text, s.From)
}

type printer struct {
	render.Options
	now time.Time
	out bytes.Buffer
}

const (
	bold = "\x1b[1m"
	dim  = "\x1b[2m"
	off  = "\x1b[0m"
)

// named is the question with the name of the loop.
func (a *Answer) named() string {
	of := "loop " + a.Loop
	switch {
	case a.Loop == "":
		return a.Question
	case strings.Contains(a.Question, "the loop"):
		return strings.Replace(a.Question, "the loop", of, 1)
	}
	return strings.TrimSuffix(a.Question, "?") + " in " + of + "?"
}

func (p *printer) paint(style, text string) string {
	if !p.Color || style == "" {
		return text
	}
	return style + text + off
}

func (p *printer) paragraph(style, text string) {
	for _, row := range cli.Wrapped(p.local(render.Clean(text)), p.Width) {
		p.out.WriteString(p.paint(style, row) + "\n")
	}
}

// field prints a value after its name, in a column of its own.
func (p *printer) field(name, value string) {
	width := p.Width
	if width > 0 {
		width -= nameColumns
	}
	for _, row := range cli.Wrapped(p.local(render.Clean(value)), width) {
		p.out.WriteString(p.paint(dim, fmt.Sprintf("%-*s", nameColumns, name)) + row + "\n")
		name = ""
	}
}

// notes prints events, each with its number and time, and with the rule that decided it.
func (p *printer) notes(name string, notes []Note, rules bool) {
	digits := 0
	for _, n := range notes {
		digits = max(digits, len(n.Seq.String()))
	}
	for _, n := range notes {
		text := fmt.Sprintf("%*d  %s  %s", digits, n.Seq, cli.Clock(n.At, p.now), n.Text)
		if n.Rule != "" && rules {
			text += " [" + n.Rule + "]"
		}
		p.field(name, text)
		name = ""
	}
}

var moments = units.Pattern(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// local spells the moments in a text as a person here reads them.
func (p *printer) local(text string) string {
	return moments().ReplaceAllStringFunc(text, func(at string) string {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return cli.Clock(moment, p.now)
	})
}
