package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/highlight"
	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/transcript"
)

// How many lines are shown: of a tool that is folded, and of one that is not.
const (
	diffFolded   = 6
	errorFolded  = 4
	outputRuns   = 3
	thinkingRuns = 5
	mostUnfolded = 200
	eachUnfolded = 12 // of each tool of a group
)

// tools lays out a tool, or a group of reading tools.
func (p *painter) tools(t transcript.Tools) {
	if len(t.Calls) == 1 {
		p.call(t.Calls[0], mostUnfolded)
		return
	}
	mark, word, style := stateMark(t.State())
	failed := 0
	for _, c := range t.Calls {
		if c.State == transcript.StateFailed || c.State == transcript.StateLost {
			failed++
		}
	}
	left := []markdown.Span{text(marked(mark, word), style)}
	took := p.took(t.Calls)
	if failed > 0 {
		took = append([]markdown.Span{text(fmt.Sprintf(" · %d failed", failed), failure)}, took...)
	}
	p.lines = append(p.lines, sides(left, text(grouped(t.Calls), plain), took, p.width))
	for _, c := range t.Calls {
		if p.unfolded || c.State == transcript.StateFailed {
			before := len(p.lines)
			p.call(c, eachUnfolded)
			for i := before; i < len(p.lines); i++ {
				p.lines[i] = cut(append([]markdown.Span{text("  ", plain)}, p.lines[i]...), p.width)
			}
		}
	}
}

// grouped says what a group of tools did: "read 5 files, searched twice".
func grouped(calls []transcript.Call) string {
	verbs := []string{"read", "listed", "searched", "fetched", "used"}
	counts := make([]int, len(verbs))
	files := map[string]bool{}
	for _, c := range calls {
		at := verbOf(c.Name)
		if at == 0 {
			name := c.About
			if len(c.Paths) > 0 {
				name = c.Paths[0]
			}
			if files[name] {
				continue
			}
			files[name] = true
		}
		counts[at]++
	}
	var parts []string
	for at, n := range counts {
		switch {
		case n == 0:
		case at == 0:
			parts = append(parts, "read "+units.Quantity(n, "file"))
		case at == len(verbs)-1:
			parts = append(parts, "used "+units.Quantity(n, "tool"))
		case n == 2:
			parts = append(parts, verbs[at]+" twice")
		default:
			parts = append(parts, verbs[at]+" "+units.Times(n))
		}
	}
	return strings.Join(parts, ", ")
}

func verbOf(name string) int {
	name = strings.ToLower(name)
	for at, parts := range [][]string{{"read", "view", "notebook"}, {"ls", "list", "dir"}, {"grep", "glob", "search", "find"}, {"fetch", "web"}} {
		for _, part := range parts {
			if strings.Contains(name, part) {
				return at
			}
		}
	}
	return 4
}

// took is how long a group of tools took.
func (p *painter) took(calls []transcript.Call) []markdown.Span {
	var end time.Time
	for _, c := range calls {
		ended := c.Began.Add(c.Took)
		if c.State == transcript.StateRunning {
			ended = p.now
		}
		if ended.After(end) {
			end = ended
		}
	}
	return right(end.Sub(calls[0].Began), 0)
}

// right is what is at the right of a tool's line, what matters most first.
func right(took time.Duration, size int) (spans []markdown.Span) {
	if took >= 100*time.Millisecond {
		spans = append(spans, text(" · "+units.Span(took), faint))
	}
	if size > 0 {
		spans = append(spans, text(" · "+units.Bytes(int64(size)), faint))
	}
	return spans
}

// stateMark returns the mark and the word of a state.
func stateMark(s transcript.State) (mark, word string, style markdown.Style) {
	switch s {
	case transcript.StateRunning:
		return "●", "running", warning
	case transcript.StateOK:
		return "✓", "", good // the mark says it
	case transcript.StateLost:
		return "✗", "no result", failure
	}
	return "✗", string(s), failure
}

// marked is a mark with its word, if it has one, before what it is about.
func marked(mark, word string) string {
	if word != "" {
		mark += " " + word
	}
	return mark + " "
}

// call lays out one tool.
func (p *painter) call(c transcript.Call, most int) {
	mark, word, style := stateMark(c.State)
	took := c.Took
	if c.State == transcript.StateRunning && p.now.After(c.Began) {
		took = p.now.Sub(c.Began)
	}
	left := []markdown.Span{text(marked(mark, word), style), text(render.Cut(c.Name, max(p.width/2, 8)), strong), text(" ", plain)}
	about := c.About
	if changes := c.Changes(); changes != "" {
		about += "  " + changes
	}
	p.lines = append(p.lines, sides(left, text(about, plain), right(took, c.Size), p.width))
	if p.unfolded {
		p.details(c, most)
		return
	}
	p.diff(c, diffFolded)
	switch c.State {
	case transcript.StateRunning:
		p.last(c.Output, outputRuns, faint)
	case transcript.StateFailed:
		p.most(c.Output, errorFolded, failure)
	}
}

// details lays out input, change and output of a tool that is unfolded.
func (p *painter) details(c transcript.Call, most int) {
	if len(c.Diff) > 0 {
		p.diff(c, most)
	} else if most == mostUnfolded {
		p.input(c)
	}
	switch {
	case strings.TrimSpace(c.Output) != "":
		p.part("output")
		if c.Reads && len(c.Paths) == 1 {
			p.code(highlight.ByFile(c.Paths[0]), c.Output, most)
		} else {
			p.output(c, most)
		}
		if c.Blob != "" && c.Size > len(c.Output) {
			p.add(text("    all of it, "+units.Bytes(int64(c.Size))+", is in blobs/"+string(c.Blob), faint))
		}
	case c.State == transcript.StateOK && len(c.Diff) == 0:
		p.add(text("    no output", faint))
	}
}

// input adds what a call was given, unless its line says all of it.
func (p *painter) input(c transcript.Call) {
	members := membersOf(c)
	if len(members) == 0 || len(members) == 1 && members[0].value == c.About {
		return
	}
	p.part("input")
	for _, m := range members {
		if !strings.Contains(m.value, "\n") {
			m.name += " "
			p.rows([]string{m.value}, mostUnfolded, func(line string) markdown.Line {
				return markdown.Line{text(m.name, faint), text(line, plain)}
			})
			continue
		}
		p.add(text("    "+m.name, faint))
		p.rows(strings.Split(strings.Trim(m.value, "\n"), "\n"), mostUnfolded, func(line string) markdown.Line {
			return markdown.Line{text("  "+tabs(line), plain)}
		})
	}
}

// A member is a part of a tool's input.
type member struct{ name, value string }

// membersOf returns the members of a call's input in their order; of an input that is not an
// object, all of it without a name.
func membersOf(c transcript.Call) (members []member) {
	in := json.NewDecoder(bytes.NewReader(c.Input))
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		if input := c.InputText(); len(c.Input) > 0 && input != "null" {
			members = append(members, member{"", input})
		}
		return members
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return members
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return members
		}
		said := string(value)
		var plain string
		if json.Unmarshal(value, &plain) == nil {
			said = plain
		}
		members = append(members, member{render.Clean(fmt.Sprint(name)), strings.TrimSpace(string(render.CleanText(said)))})
	}
	return members
}

func (p *painter) part(name string) { p.add(text("  "+name, faint)) }

// output adds what a tool printed, wrapped.
func (p *painter) output(c transcript.Call, most int) {
	style := plain
	if c.State == transcript.StateFailed {
		style = failure
	}
	p.rows(strings.Split(strings.Trim(c.Output, "\n"), "\n"), most, func(line string) markdown.Line {
		return markdown.Line{text(tabs(line), style)}
	})
}

// code adds code in the colours of its language.
func (p *painter) code(language *highlight.Language, code string, most int) {
	scanner := language.Scanner()
	p.rows(strings.Split(strings.Trim(code, "\n"), "\n"), most, func(line string) markdown.Line {
		return tokens(&scanner, tabs(line), markdown.Block)
	})
}

// rows adds lines that are broken where they are too long, up to a number of lines.
func (p *painter) rows(rows []string, most int, lay func(string) markdown.Line) {
	for i, row := range rows {
		if i >= most && i+1 < len(rows) {
			p.left(len(rows) - i)
			return
		}
		line := lay(row)
		parts := markdown.Break(line, max(p.width-4, 1))
		for _, part := range parts[:min(len(parts), most)] {
			p.add(append([]markdown.Span{text("    ", plain)}, part...)...)
		}
	}
}

// tokens returns a line of code in the colours of its language.
func tokens(scanner *highlight.Scanner, line string, class markdown.Class) (spans markdown.Line) {
	for _, token := range scanner.Line(line) {
		spans = append(spans, text(token.Text, markdown.Style{Class: class, Token: token.Class}))
	}
	return spans
}

// diff adds the first lines of what a call changes.
func (p *painter) diff(c transcript.Call, most int) {
	if len(c.Diff) == 0 {
		return
	}
	var language *highlight.Language
	if len(c.Paths) > 0 {
		language = highlight.ByFile(c.Paths[0])
	}
	if len(c.Paths) > 0 && !strings.Contains(c.About, path.Base(c.Paths[0])) {
		p.add(text("    "+c.Paths[0], strong))
	}
	shown := c.Diff
	if len(shown) > most+1 { // the line that says so would be as long
		shown = shown[:most]
	}
	digits := 0
	for _, line := range shown {
		digits = max(digits, len(strconv.Itoa(line.Line)))
	}
	// What was there and what is there are two codes, each with its own strings and comments.
	before, after := language.Scanner(), language.Scanner()
	for _, line := range shown {
		code := tabs(string(render.CleanText(line.Text)))
		number := "  "
		if line.Line > 0 {
			number = fmt.Sprintf("  %*d ", digits, line.Line)
		}
		var spans markdown.Line
		switch line.Sign {
		case '+':
			spans = append(markdown.Line{text(number, faint), text("+ ", added)}, tokens(&after, code, classAdded)...)
		case '-':
			spans = append(markdown.Line{text(number, faint), text("- ", removed)}, tokens(&before, code, classRemoved)...)
		default:
			before.Line(code)
			spans = append(markdown.Line{text(number+"  ", faint)}, tokens(&after, code, markdown.Block)...)
		}
		p.add(spans...)
	}
	p.left(len(c.Diff) - len(shown))
}
