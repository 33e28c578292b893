package conversation

import (
	"strings"

	"github.com/ralph-loop/ralph/render/highlight"
	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/theme"
)

// draw returns a line with the theme's styles. It is cut at the columns.
func (v *View) draw(line markdown.Line, chosen bool) string {
	if v.columns <= gutter {
		return ""
	}
	var b strings.Builder
	switch {
	case chosen:
		b.WriteString(v.theme.Accent.Render("▌") + " ")
	case len(line) > 0:
		b.WriteString("  ")
	}
	if line.Columns() > v.columns-gutter { // narrower than anything can be laid out in
		line = cut(line, v.columns-gutter)
	}
	match := v.theme.Match
	if chosen {
		match = v.theme.Current
	}
	if v.mark != "" {
		v.marked(&b, line, match)
		return b.String()
	}
	for i := 0; i < len(line); {
		look, said := style(v.theme, line[i].Style), line[i].Text
		for i++; i < len(line) && style(v.theme, line[i].Style) == look; i++ {
			said += line[i].Text
		}
		b.WriteString(look.Render(said))
	}
	return b.String()
}

// marked writes a line in which the highlighted text differs.
func (v *View) marked(b *strings.Builder, line markdown.Line, match theme.Style) {
	all := lower(line.String())
	at, from, to := 0, -1, -1
	next := func() {
		from = strings.Index(all[at:], v.mark)
		if from >= 0 {
			from += at
			to = from + len(v.mark)
		}
	}
	next()
	for _, s := range line {
		look := style(v.theme, s.Style)
		for rest := s.Text; rest != ""; {
			n, use := len(rest), look
			switch {
			case from < 0 || at+n <= from: // all before the match
			case at < from:
				n = from - at
			default:
				n, use = min(n, to-at), look.With(match)
			}
			b.WriteString(use.Render(rest[:n]))
			rest = rest[n:]
			if at += n; from >= 0 && at >= to {
				next()
			}
		}
	}
}

// Highlight marks a text wherever it is shown, in any case of letters; empty marks nothing.
func (v *View) Highlight(text string) { v.mark = lower(text) }

// lower returns a text of the same length with small letters, so that places in it are those of the
// text.
func lower(s string) string {
	if small := strings.ToLower(s); len(small) == len(s) {
		return small
	}
	return s
}

// style returns how a theme shows a style.
func style(t theme.Theme, s markdown.Style) theme.Style {
	look := classStyle(t, s)
	if s.Strong {
		look = t.Bold.With(look)
	}
	if s.Emphasis {
		look = t.Italic.With(look)
	}
	if s.Struck {
		look = t.Dim.With(look)
	}
	return look
}

func classStyle(t theme.Theme, s markdown.Style) theme.Style {
	switch s.Class {
	case markdown.Heading:
		return t.Accent
	case markdown.Code:
		return t.Code.Inline
	case markdown.Block:
		return tokenStyle(t, s.Token, t.Text)
	case markdown.Link:
		return t.Code.Link
	case markdown.Dim:
		return t.Dim
	case markdown.Quote, markdown.Border:
		return t.Border
	case markdown.Marker:
		return t.Accent
	case classGood:
		return t.Good
	case classWarning:
		return t.Warning
	case classFailure:
		return t.Failure
	case classPerson:
		return t.Person
	case classThought:
		return t.Thought
	case classAdded:
		return tokenStyle(t, s.Token, t.Added)
	case classRemoved:
		return tokenStyle(t, s.Token, t.Removed)
	}
	return t.Text
}

// tokenStyle returns how a theme shows a token of code; a plain one looks as given.
func tokenStyle(t theme.Theme, class highlight.Class, plain theme.Style) theme.Style {
	switch class {
	case highlight.Keyword:
		return t.Code.Keyword
	case highlight.String:
		return t.Code.Text
	case highlight.Comment:
		return t.Code.Comment
	case highlight.Number:
		return t.Code.Number
	case highlight.Type:
		return t.Code.Type
	case highlight.Function:
		return t.Code.Function
	case highlight.Heading:
		return t.Accent
	case highlight.Added:
		return t.Added
	case highlight.Removed:
		return t.Removed
	}
	return plain
}
