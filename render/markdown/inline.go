package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/render"
)

// inlines returns the text in a block as spans. A newline in a span is a line break.
func (r *renderer) inlines(block ast.Node, style Style) []Span {
	w := inlineWriter{renderer: r}
	w.children(block, style)
	return linked(w.end())
}

type inlineWriter struct {
	*renderer
	spans Line
	text  strings.Builder // of the last span, which has this style
	style Style
}

// end returns the spans.
func (w *inlineWriter) end() Line {
	if w.text.Len() > 0 {
		w.spans = append(w.spans, Span{w.text.String(), w.style})
		w.text.Reset()
	}
	return w.spans
}

func (w *inlineWriter) children(n ast.Node, style Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inline(c, style)
	}
}

func (w *inlineWriter) put(text string, style Style) {
	if text == "" {
		return
	}
	if style != w.style {
		w.end()
		w.style = style
	}
	w.text.WriteString(text)
}

func (w *inlineWriter) inline(n ast.Node, style Style) {
	switch n := n.(type) {
	case *ast.Text:
		w.put(resolved(n.Segment.Value(w.source), n.IsRaw()), style)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.put("\n", style)
		}
	case *ast.String:
		w.put(clean(string(n.Value)), style)
	case *ast.CodeSpan:
		w.code(n, style)
	case *ast.Emphasis:
		w.emphasis(n, style)
	case *extension.Strikethrough:
		style.Struck = true
		w.marked("~~", n, style)
	case *ast.Link:
		w.link(n, string(n.Destination), style)
	case *ast.Image:
		w.put("image: ", Style{Class: Dim})
		w.link(n, string(n.Destination), style)
	case *ast.AutoLink:
		style.Class = Link
		w.put(clean(string(n.Label(w.source))), style)
	case *ast.RawHTML:
		w.html(n)
	case *extension.TaskCheckBox:
		mark := "[ ] "
		if n.IsChecked {
			mark = "[x] "
		}
		w.put(mark, Style{Class: Marker})
	default:
		w.children(n, style)
	}
}

func (w *inlineWriter) emphasis(n *ast.Emphasis, style Style) {
	if n.Level > 1 {
		style.Strong = true
		w.marked("**", n, style)
		return
	}
	style.Emphasis = true
	w.marked("*", n, style)
}

// marked writes children between their marks, if these are kept.
func (w *inlineWriter) marked(mark string, n ast.Node, style Style) {
	if !w.Marks {
		mark = ""
	}
	w.put(mark, style)
	w.children(n, style)
	w.put(mark, style)
}

func (w *inlineWriter) code(n *ast.CodeSpan, style Style) {
	style.Class = Code
	mark := ""
	if w.Marks {
		mark = "`"
	}
	w.put(mark, style)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.put(clean(string(t.Segment.Value(w.source))), style)
		}
	}
	w.put(mark, style)
}

// link writes the text of a link, and its address if the text does not say it.
func (w *inlineWriter) link(n ast.Node, address string, style Style) {
	style.Class = Link
	inner := inlineWriter{renderer: w.renderer}
	inner.children(n, style)
	text := inner.end().String()
	for _, s := range inner.spans {
		w.put(s.Text, s.Style)
	}
	address = clean(resolved([]byte(address), false))
	if plain := strings.TrimPrefix(address, "mailto:"); address != "" && text != address && text != plain {
		if text != "" {
			w.put(" ", style.plain())
		}
		w.put("("+address+")", Style{Class: Dim})
	}
}

func (s Style) plain() Style {
	s.Class = Text
	return s
}

func (w *inlineWriter) html(n *ast.RawHTML) {
	var b strings.Builder
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		b.Write(segment.Value(w.source))
	}
	text := clean(b.String())
	if strings.HasPrefix(strings.ToLower(text), "<br") {
		w.put("\n", Style{})
		return
	}
	w.put(text, Style{Class: Dim})
}

// resolved returns a text with its escapes and references resolved, clean.
func resolved(text []byte, raw bool) string {
	if !raw {
		text = util.UnescapePunctuations(text)
		text = util.ResolveEntityNames(util.ResolveNumericReferences(text))
	}
	return clean(string(text))
}

// clean returns a text of one line without control characters, which references can make.
func clean(text string) string { return render.Clean(text) }

// linked marks the bare addresses in plain text.
func linked(spans []Span) []Span {
	var out Line
	for _, s := range spans {
		for s.Style.Class == Text {
			at, end := address(s.Text)
			if at < 0 {
				break
			}
			link := s.Style
			link.Class = Link
			out = out.with(s.Text[:at], s.Style).with(s.Text[at:end], link)
			s.Text = s.Text[end:]
		}
		out = out.with(s.Text, s.Style)
	}
	return out
}

// address returns the place of the first web address in a text, -1 if there is none.
func address(text string) (at, end int) {
	for from := 0; ; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return -1, 0
		}
		colon := from + i
		from = colon + len("://")
		for _, scheme := range [...]string{"https", "http"} {
			at := colon - len(scheme)
			if at < 0 || text[at:colon] != scheme {
				continue
			}
			end := from + strings.IndexAny(text[from:]+" ", " \n\t<>\"`")
			end = len(strings.TrimRight(text[:end], ".,;:!?'*_~"))
			if strings.HasSuffix(text[:end], ")") && strings.Count(text[at:end], "(") < strings.Count(text[at:end], ")") {
				end--
			}
			if end > from {
				return at, end
			}
		}
	}
}
