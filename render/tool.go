package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
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
	outputLinesFailed  = 5 // besides the first ones: the end says what failed
	outputLinesVerbose = 40
)

// toolCalled: one line, such as "- bash  make test".
func (t *Text) toolCalled(e event.Event, p event.ToolCalled) {
	c := call{name: Clean(p.Name), about: t.within(Summary(p.Input)), at: e.At, nested: p.Parent != ""}
	if len(t.calls) >= callsKept {
		clear(t.calls)
	}
	t.calls[p.ID] = c
	t.part(e, work)
	t.blanks(c.margin())
	t.paint(cyan, "- ")
	t.head(c)
	if t.opt.Diffs {
		t.diff(p.Input, c.margin()+2)
	}
	t.called = p.ID
}

// within makes a path in the loop's project relative to it.
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
func (t *Text) toolProgressed(e event.Event, p event.ToolProgressed) {
	text := strings.TrimRight(p.Text.String(), "\r\n")
	if text == "" {
		return
	}
	t.below(e, p.ID)
	t.entry(dim, "  : ", CleanText(text))
	t.called = p.ID
}

// toolReturned: the first lines of the output below the call, and how much more
// there is.
func (t *Text) toolReturned(e event.Event, p event.ToolReturned) {
	c := t.below(e, p.ID)
	delete(t.calls, p.ID)
	var own Cleaner
	t.scratch = p.Output.AppendTo(t.scratch[:0])
	t.cleaned = own.Append(t.cleaned[:0], t.scratch)
	took := milliseconds(p.Took)
	if took == 0 && !c.at.IsZero() {
		took = e.At.Sub(c.at)
	}
	r := result{
		Text: t, style: dim, margin: c.margin() + 2, lines: splitLines(t.cleaned),
		size: max(p.Bytes, len(t.scratch)), cut: p.Blob != "", took: took,
	}
	if !p.OK {
		r.style = red
		r.line("failed")
	}
	r.show(t.outputLines(c.name, p.OK))
	if p.OK && r.size == 0 && took < showTook {
		r.line("ok")
	}
	t.called = ""
}

// below repeats the line of a call unless it is the last line printed: calls that run at the same
// time return in any order.
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

// outputLines returns how many lines of a tool's output are shown, from its beginning and its end:
// none if the tool only read, both after a failure.
func (t *Text) outputLines(name string, ok bool) (head, tail int) {
	first := cmp.Or(t.opt.Lines, outputLines)
	switch {
	case t.opt.Verbose:
		return cmp.Or(t.opt.Lines, outputLinesVerbose), outputLines
	case !ok:
		return first, outputLinesFailed
	case Reads(name):
		return t.opt.Lines, 0
	}
	return first, 0
}

// Reads reports whether a tool of this name only reads a file.
func Reads(name string) bool { return reading[strings.ToLower(name)] }

var reading = map[string]bool{"read": true, "read_file": true, "readfile": true, "view": true, "notebookread": true, "skill": true}

// result is a tool's output as it is shown.
type result struct {
	*Text
	style  string
	margin int
	lines  [][]byte
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
		r.line(string(line))
	}
	var about []string
	switch {
	case left > 0 && head > 0:
		about = append(about, "… "+units.Quantity(left, "more line"), Bytes(int64(r.size)))
	case left > 0:
		about = append(about, units.Quantity(left, "line"), Bytes(int64(r.size)))
	case r.cut:
		about = append(about, "… "+Bytes(int64(r.size)))
	}
	if r.took >= showTook {
		about = append(about, Span(r.took))
	}
	if len(about) > 0 {
		r.line(strings.Join(about, ", "))
	}
	if left > 0 {
		for _, line := range r.lines[len(r.lines)-tail:] {
			r.line(string(line))
		}
	}
}

// line writes one line of it, cut where the terminal ends.
func (r *result) line(s string) {
	if s = strings.TrimRight(s, " \t"); s != "" {
		r.blanks(r.margin)
		r.paint(r.style, Cut(strings.ReplaceAll(s, "\t", "    "), r.left()))
	}
	r.newline()
}

// splitLines returns the lines of a text without the blank ones around it.
func splitLines(text []byte) [][]byte {
	if text = bytes.Trim(text, "\n"); len(text) == 0 {
		return nil
	}
	return bytes.Split(text, []byte{'\n'})
}

// summaryKeys are the members of a tool's input that say most about it, best first. They are those
// of Claude Code 2, pi 0.87, Codex and of common MCP servers.
var summaryKeys = []string{
	"command", "cmd", "pattern", "file_path", "path", "filePath", "notebook_path", "query", "url", "description", "prompt", "subject", "skill", "name", "id",
}

// summary returns a tool's input in one line.
func Summary(input []byte) string {
	if !jsonscan.IsObject(input) {
		return firstLine(scalar(input))
	}
	for _, key := range summaryKeys {
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
	if text := changedFiles(input); text != "" {
		return text
	}
	return firstLine(string(input))
}

// changedFiles names the first file of Codex's list of changes, and says how much all of them
// change.
func changedFiles(input []byte) string {
	var changes []struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(jsonscan.Get(input, "changes"), &changes) != nil || len(changes) == 0 {
		return "" // another tool's
	}
	text, removed, added := firstLine(changes[0].Path), 0, 0
	if more := len(changes) - 1; more > 0 {
		text += " and " + units.Quantity(more, "more file")
	}
	for _, line := range Diff(input) {
		switch line.Sign {
		case '-':
			removed++
		case '+':
			added++
		}
	}
	if removed+added > 0 {
		text += fmt.Sprintf("  -%d +%d", removed, added)
	}
	return text
}

// extent returns which part of a file is read, or how much is changed.
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
