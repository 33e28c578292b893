package conversation

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/markdown"
)

// Styles besides those of Markdown.
const (
	classGood markdown.Class = iota + 100
	classWarning
	classFailure
	classPerson
	classThought
	classAdded
	classRemoved
)

var (
	plain   = markdown.Style{}
	strong  = markdown.Style{Strong: true}
	faint   = markdown.Style{Class: markdown.Dim}
	border  = markdown.Style{Class: markdown.Border}
	accent  = markdown.Style{Class: markdown.Heading}
	good    = markdown.Style{Class: classGood}
	warning = markdown.Style{Class: classWarning}
	failure = markdown.Style{Class: classFailure}
	person  = markdown.Style{Class: classPerson}
	thought = markdown.Style{Class: classThought}
	added   = markdown.Style{Class: classAdded}
	removed = markdown.Style{Class: classRemoved}
)

// text is a span.
func text(s string, style markdown.Style) markdown.Span { return markdown.Span{Text: s, Style: style} }

// add adds a line, which is cut where it is too long.
func (p *painter) add(spans ...markdown.Span) { p.lines = append(p.lines, cut(spans, p.width)) }

// wrap adds a text in several lines after a mark. The lines after the first are indented by the
// width of the mark.
func (p *painter) wrap(mark markdown.Span, spans ...markdown.Span) {
	indent := render.Columns(mark.Text)
	if p.width-indent < markdown.Narrowest {
		indent = 0
		p.add(mark)
		mark.Text = ""
	}
	for i, line := range markdown.Wrap(spans, p.width-indent) {
		if i == 0 {
			line = append(markdown.Line{mark}, line...)
		} else if len(line) > 0 {
			line = append(markdown.Line{text(strings.Repeat(" ", indent), plain)}, line...)
		}
		p.lines = append(p.lines, line)
	}
}

// most adds the first lines of a text, and how many more there are. Lines that are too long are
// cut.
func (p *painter) most(s string, most int, style markdown.Style) {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	if len(lines) == 1 && strings.TrimSpace(lines[0]) == "" {
		return
	}
	shown := lines
	if len(lines) > most+1 { // the line that says so would be as long
		shown = lines[:most]
	}
	for _, line := range shown {
		p.add(text("    "+tabs(line), style))
	}
	p.left(len(lines) - len(shown))
}

// last adds the last lines of a text.
func (p *painter) last(s string, most int, style markdown.Style) {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	if len(lines) == 1 && strings.TrimSpace(lines[0]) == "" {
		return
	}
	if before := len(lines) - most; before > 1 {
		p.add(text("    … "+units.Quantity(before, "line")+" before", faint))
		lines = lines[before:]
	}
	for _, line := range lines {
		p.add(text("    "+tabs(line), style))
	}
}

// left says how many lines are not shown.
func (p *painter) left(lines int) {
	if lines > 0 {
		p.add(text("    … "+units.Quantity(lines, "more line"), faint))
	}
}

func tabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// cut returns spans of at most so many columns. One that was cut ends with "…".
func cut(spans []markdown.Span, columns int) markdown.Line {
	line := make(markdown.Line, 0, len(spans))
	for i, s := range spans {
		s.Text = strings.ReplaceAll(s.Text, "\n", " ")
		n := render.Columns(s.Text)
		rest := false
		for _, next := range spans[i+1:] {
			rest = rest || next.Text != ""
		}
		switch {
		case s.Text == "":
			continue
		case n > columns || n == columns && rest:
			if s.Text = render.Cut(s.Text+" ", columns); n <= columns {
				s.Text = render.Cut(s.Text+"  ", columns)
			}
			return append(line, s)
		}
		line = append(line, s)
		columns -= n
	}
	return line
}

// sides returns a line with a text at its left, and one at its right that is left out where there
// is no space for it. What is in the middle is cut.
func sides(left []markdown.Span, middle markdown.Span, right []markdown.Span, columns int) markdown.Line {
	fixed := markdown.Line(left).Columns()
	for len(right) > 0 && fixed+markdown.Line(right).Columns()+min(render.Columns(middle.Text), middleLeast) > columns {
		right = right[:len(right)-1]
	}
	middle.Text = strings.ReplaceAll(middle.Text, "\n", " ")
	if space := columns - fixed - markdown.Line(right).Columns(); space <= 0 {
		middle.Text = ""
	} else {
		middle.Text = render.Cut(middle.Text, space)
	}
	return cut(append(append(append([]markdown.Span{}, left...), middle), right...), columns)
}

// middleLeast is how much of a line's middle is worth more than what is at its right.
const middleLeast = 16

// rule adds a line with a title across the width, and a time of day where there is space for it.
func (p *painter) rule(title []markdown.Span, clock string) {
	line := cut(append([]markdown.Span{text("── ", border)}, title...), p.width)
	if left := p.width - line.Columns(); clock != "" && left > render.Columns(clock)+len(" ── ") {
		line = append(line, text(" ── "+clock, border))
	}
	if left := p.width - line.Columns() - 1; left > 0 {
		line = append(line, text(" "+strings.Repeat("─", left), border))
	}
	p.lines = append(p.lines, line)
}
