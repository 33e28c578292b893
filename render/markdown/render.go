package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/highlight"
)

// Options say how Markdown is laid out.
type Options struct {
	Width int // columns of a line, at least Narrowest
	// Marks keeps the marks of emphasis and of code, for a terminal that shows no styles.
	Marks bool
}

// Narrowest is the smallest width.
const Narrowest = 10

// Render returns the lines of a Markdown text. Blocks have an empty line between them.
func Render(source string, o Options) []Line {
	r := newRenderer(source, o)
	return r.blocks(parse(r.source).FirstChild(), nil, r.Width, true)
}

// A renderer lays out one text.
type renderer struct {
	Options
	source []byte
}

func newRenderer(source string, o Options) *renderer {
	o.Width = max(o.Width, Narrowest)
	return &renderer{Options: o, source: []byte(source)}
}

// blocks lays out the blocks from one to before another, apart by an empty line or not.
func (r *renderer) blocks(from, to ast.Node, width int, apart bool) (lines []Line) {
	for n := from; n != nil && n != to; n = n.NextSibling() {
		block := r.block(n, width)
		if len(block) == 0 {
			continue
		}
		if apart && len(lines) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, block...)
	}
	return lines
}

// block lays out one block.
func (r *renderer) block(n ast.Node, width int) []Line {
	switch n := n.(type) {
	case *ast.Heading:
		mark := strings.Repeat("#", n.Level) + " "
		prefix := Line{{mark, Style{Class: Dim}}}
		return hang(Wrap(r.inlines(n, Style{Class: Heading, Strong: true}), width-len(mark)), prefix, len(mark))
	case *ast.Paragraph, *ast.TextBlock:
		return Wrap(r.inlines(n, Style{}), width)
	case *ast.ThematicBreak:
		return []Line{{{strings.Repeat("─", width), Style{Class: Border}}}}
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = clean(string(n.Info.Segment.Value(r.source)))
		}
		return CodeBlock(r.raw(n), info, width)
	case *ast.CodeBlock:
		return CodeBlock(r.raw(n), "", width)
	case *ast.HTMLBlock:
		code := r.raw(n)
		if n.HasClosure() {
			code += string(n.ClosureLine.Value(r.source))
		}
		return Wrap([]Span{{string(render.CleanText(strings.TrimRight(code, "\n"))), Style{Class: Dim}}}, width)
	case *ast.Blockquote:
		mark := Line{{"┃ ", Style{Class: Quote}}}
		return prefixed(mark, width, func(width int) []Line { return r.blocks(n.FirstChild(), nil, width, true) })
	case *ast.List:
		return r.list(n, width)
	case *extension.Table:
		return r.table(n, width)
	}
	return r.blocks(n.FirstChild(), nil, width, true)
}

// raw returns the text of a block of code.
func (r *renderer) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return b.String()
}

// prefixed lays out what has a mark at the beginning of each line, if there is space for the mark.
func prefixed(mark Line, width int, lay func(width int) []Line) []Line {
	inner := width - mark.Columns()
	if inner < Narrowest {
		return lay(width)
	}
	lines := lay(inner)
	for i, line := range lines {
		lines[i] = join(mark, line)
	}
	return lines
}

// hang puts a prefix before the first line, and blanks before the others.
func hang(lines []Line, prefix Line, columns int) []Line {
	blanks := Line{{strings.Repeat(" ", columns), Style{}}}
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = join(prefix, line)
		case len(line) > 0:
			lines[i] = join(blanks, line)
		}
	}
	return lines
}

func (r *renderer) list(list *ast.List, width int) (lines []Line) {
	number, marks := list.Start, 1
	if list.IsOrdered() {
		marks = len(strconv.Itoa(list.Start + list.ChildCount() - 1))
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := r.bullet(list)
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + string(list.Marker)
			mark = strings.Repeat(" ", marks+1-len(mark)) + mark
			number++
		}
		columns := render.Columns(mark) + 1
		inner := width - columns
		if inner < Narrowest {
			columns, inner = 0, width
		}
		content := r.blocks(item.FirstChild(), nil, inner, !list.IsTight)
		switch {
		case columns > 0 && len(content) == 0:
			content = []Line{{{mark, Style{Class: Marker}}}}
		case columns > 0:
			content = hang(content, Line{{mark + " ", Style{Class: Marker}}}, columns)
		}
		if !list.IsTight && len(lines) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, content...)
	}
	return lines
}

// bullet is the mark of a list without numbers, by its depth.
func (r *renderer) bullet(list *ast.List) string {
	depth := 0
	for n := list.Parent(); n != nil; n = n.Parent() {
		if other, ok := n.(*ast.List); ok && !other.IsOrdered() {
			depth++
		}
	}
	return [...]string{"•", "◦", "-"}[min(depth, 2)]
}

// CodeBlock lays out code in a frame, with its language above. Lines that are too long continue
// below after another mark.
func CodeBlock(code, info string, width int) []Line {
	border := Style{Class: Border}
	width = max(width, Narrowest)
	top := Line{{"╭─", border}}
	if info = render.Cut(strings.TrimSpace(info), width-4); info != "" {
		top = top.with(" "+info, Style{Class: Dim})
	}
	lines := []Line{top}
	for _, line := range CodeLines(highlight.ByName(info), code) {
		for i, part := range Break(line, width-2) {
			mark := "│ "
			if i > 0 {
				mark = "┆ "
			}
			lines = append(lines, join(Line{{mark, border}}, part))
		}
	}
	return append(lines, Line{{"╰─", border}})
}

// CodeLines returns the lines of a code in the colours of its language, which may be nil. They are
// not broken.
func CodeLines(language *highlight.Language, code string) (lines []Line) {
	scanner := language.Scanner()
	code = string(render.CleanText(code))
	for text := range strings.SplitSeq(strings.TrimRight(code, "\n"), "\n") {
		var line Line
		for _, token := range scanner.Line(text) {
			line = line.with(token.Text, Style{Class: Block, Token: token.Class})
		}
		lines = append(lines, line)
	}
	return lines
}
