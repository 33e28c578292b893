package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// call is what is remembered of a tool until it returns.
type call struct {
	name, about string // clean
	at          time.Time
	nested      bool
}

func (c call) margin() int {
	if c.nested {
		return 2
	}
	return 0
}

// How much of a tool's output is shown.
const (
	outputLines        = 3
	outputLinesFailed  = 8
	outputLinesVerbose = 40
)

// toolCalled: one line, such as "- bash  make test".
func (t *Text) toolCalled(e event.Event) error {
	p, err := event.As[event.ToolCalled](e)
	if err != nil {
		return err
	}
	c := call{name: Clean(p.Name), about: t.within(summary(p.Input)), at: e.At, nested: p.Parent != ""}
	if len(t.calls) >= callsKept {
		clear(t.calls)
	}
	t.calls[p.ID] = c
	t.part(e, work)
	t.blanks(c.margin())
	t.paint(cyan, "- ")
	t.head(c)
	t.called = p.ID
	return nil
}

// within writes a path in the loop's project as it stands from there.
func (t *Text) within(about string) string {
	if t.project == "" {
		return about
	}
	return strings.TrimPrefix(about, t.project+"/")
}

// head writes the rest of a tool's line.
func (t *Text) head(c call) {
	t.paint(bold, Cut(c.name, t.left()))
	if c.about != "" && t.left() > 6 {
		t.raw("  ")
		t.raw(Cut(c.about, t.left()))
	}
	t.newline()
}

// toolProgressed shows what a tool prints while it runs, where that is wanted.
func (t *Text) toolProgressed(e event.Event) error {
	if !t.opt.Verbose {
		return nil
	}
	p, err := event.As[event.ToolProgressed](e)
	if err != nil {
		return err
	}
	text := strings.TrimRight(p.Text.String(), "\r\n")
	if text == "" {
		return nil
	}
	t.below(e, p.ID)
	t.entry(dim, "  : ", whole(text))
	t.called = p.ID
	return nil
}

// toolReturned: the first lines of the output below the call, and how much more
// there is.
func (t *Text) toolReturned(e event.Event) error {
	p, err := event.As[event.ToolReturned](e)
	if err != nil {
		return err
	}
	c := t.below(e, p.ID)
	delete(t.calls, p.ID)
	var own cleaner
	t.scratch = p.Output.AppendTo(t.scratch[:0])
	t.cleaned = own.append(t.cleaned[:0], t.scratch)
	size := max(p.Bytes, len(t.scratch))
	style, most := dim, t.outputLines(c.name)
	if !p.OK {
		style, most = red, max(outputLinesFailed, most)
		t.blanks(c.margin() + 2)
		t.paint(red, "failed")
		t.newline()
	}
	left := t.output(style, c.margin()+2, most)
	took := time.Duration(p.Took) * time.Millisecond
	if took == 0 && !c.at.IsZero() {
		took = e.At.Sub(c.at)
	}
	if about := outcome(left, size, p.Blob != "", p.OK, took); about != "" {
		t.blanks(c.margin() + 2)
		t.paint(style, Cut(about, t.left()))
		t.newline()
	}
	t.called = ""
	return nil
}

// below makes sure that the line of the call stands right above: calls that run at
// the same time return in any order.
func (t *Text) below(e event.Event, id string) call {
	c, known := t.calls[id]
	if known && t.called == id {
		return c
	}
	if !known {
		c.name = "a tool that was called before"
	}
	t.part(e, work)
	t.blanks(c.margin())
	t.paint(dim, "< ")
	t.head(c)
	return c
}

// outcome says what is not shown of an output, its size and a time worth telling.
// It is empty where everything was shown.
func outcome(left, size int, more, ok bool, took time.Duration) string {
	var parts []string
	switch {
	case left > 0:
		parts = append(parts, "… "+count(left, "more line", "more lines"), Bytes(int64(size)))
	case more:
		parts = append(parts, "… "+Bytes(int64(size)))
	case size == 0 && ok:
		parts = append(parts, "ok")
	}
	if took >= time.Second {
		parts = append(parts, Span(took))
	}
	return strings.Join(parts, ", ")
}

// outputLines says how many lines of a tool's output are worth a look: none of
// what was only read.
func (t *Text) outputLines(name string) int {
	switch {
	case t.opt.Verbose:
		return outputLinesVerbose
	case reading[strings.ToLower(name)]:
		return 0
	}
	return outputLines
}

var reading = map[string]bool{"read": true, "read_file": true, "readfile": true, "view": true, "notebookread": true, "skill": true}

// output shows the first lines of t.cleaned and returns how many it left out.
func (t *Text) output(style string, margin, most int) (left int) {
	text := bytes.Trim(t.cleaned, "\n")
	if len(text) == 0 {
		return 0
	}
	total := bytes.Count(text, []byte{'\n'}) + 1
	if most > 0 && total == most+1 {
		most++ // the line that says how much is left out would be as long
	}
	for range min(most, total) {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		}
		if line = bytes.TrimRight(line, " \t"); len(line) > 0 {
			t.blanks(margin)
			t.paint(style, Cut(strings.ReplaceAll(string(line), "\t", "    "), t.left()))
		}
		t.newline()
	}
	return total - min(most, total)
}

// telling are the members of a tool's input that say most about it, best first.
// They are those of Claude Code 2, pi 0.87, Codex and of common MCP servers.
var telling = []string{
	"command", "cmd", "pattern", "file_path", "path", "filePath", "notebook_path", "query", "url", "description", "prompt", "subject", "skill", "name", "id",
}

// summary says in a line what a tool was given.
func summary(input []byte) string {
	if !jsonscan.IsObject(input) {
		return firstLine(scalar(input))
	}
	for _, key := range telling {
		value := jsonscan.Get(input, key)
		if value == nil {
			continue
		}
		text := firstLine(scalar(value))
		if text == "" {
			continue
		}
		switch key {
		case "pattern":
			if in := scalar(jsonscan.Get(input, "path")); in != "" {
				text += " in " + firstLine(in)
			}
		case "file_path", "path", "filePath":
			text += extent(input)
		}
		return text
	}
	return firstLine(string(input))
}

// extent says which part of a file is read or how much is changed.
func extent(input []byte) string {
	offset, some := jsonscan.Int(jsonscan.Get(input, "offset"))
	limit, bounded := jsonscan.Int(jsonscan.Get(input, "limit"))
	switch {
	case some && bounded && limit > 0:
		return fmt.Sprintf(":%d-%d", offset, offset+limit-1)
	case some:
		return fmt.Sprintf(":%d-", offset)
	}
	before, after := jsonscan.Get(input, "old_string"), jsonscan.Get(input, "new_string")
	if before == nil || after == nil {
		before, after = jsonscan.Get(input, "oldText"), jsonscan.Get(input, "newText")
	}
	if before != nil && after != nil {
		return fmt.Sprintf("  -%d +%d", lines(before), lines(after))
	}
	return ""
}

// lines counts the lines of a string value.
func lines(value []byte) int {
	text := strings.TrimRight(jsonscan.Unquote(value), "\n")
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}

// scalar returns a string, the words of an array of strings, or the JSON as it is.
func scalar(value []byte) string {
	switch {
	case jsonscan.IsString(value):
		return jsonscan.Unquote(value)
	case jsonscan.IsArray(value):
		var words []string
		if json.Unmarshal(value, &words) == nil {
			return strings.Join(words, " ")
		}
	}
	return string(value)
}

// firstLine returns the first line of a foreign text that is not blank, clean.
func firstLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(Clean(line))
	if more && strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}
