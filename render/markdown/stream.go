package markdown

import (
	"strings"
)

// A Stream lays out a text that is being written. Blocks that are complete are laid out once; only
// the last one is laid out again when the text grows. It belongs to one goroutine.
type Stream struct {
	options Options
	settled []Line
	tail    string // the text after what is settled
	lines   []Line // of the tail
	fresh   bool   // lines is up to date
}

// NewStream returns a stream without text.
func NewStream(o Options) *Stream { return &Stream{options: o} }

// Append adds text.
func (s *Stream) Append(text string) {
	if text == "" {
		return
	}
	s.tail += text
	s.fresh = false
	if strings.IndexByte(text, '\n') >= 0 {
		s.settle()
	}
}

// settle lays out the blocks that can no longer change: those before the last one in the complete
// lines, if an empty line is between them.
func (s *Stream) settle() {
	if !strings.Contains(s.tail, "\n\n") && !strings.Contains(s.tail, " \n") && !strings.Contains(s.tail, "\t\n") {
		return // no line is empty
	}
	r := newRenderer(s.tail[:strings.LastIndexByte(s.tail, '\n')+1], s.options)
	document := parse(r.source)
	for last := document.LastChild(); last != nil && last != document.FirstChild(); last = last.PreviousSibling() {
		if last.Pos() <= 0 {
			return
		}
		begin := strings.LastIndexByte(s.tail[:last.Pos()], '\n') + 1
		if !endsEmpty(s.tail[:begin]) {
			continue
		}
		lines := r.blocks(document.FirstChild(), last, r.Width, true)
		s.settled = append(apart(s.settled, lines), lines...)
		s.tail = s.tail[begin:]
		return
	}
}

// endsEmpty reports whether a text ends with an empty line.
func endsEmpty(text string) bool {
	text = strings.TrimSuffix(text, "\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.Trim(line, " \t") == ""
}

// apart returns lines with an empty one at the end, if others follow.
func apart(lines, next []Line) []Line {
	if len(lines) > 0 && len(next) > 0 {
		return append(lines, nil)
	}
	return lines
}

// Lines returns all lines. The first [Stream.Settled] of them never change. The result is valid
// until the next Append.
func (s *Stream) Lines() []Line {
	if !s.fresh {
		s.lines, s.fresh = Render(s.tail, s.options), true
	}
	n := len(s.settled)
	return append(apart(s.settled[:n:n], s.lines), s.lines...)
}

// Settled returns how many lines never change, whatever is appended.
func (s *Stream) Settled() int { return len(s.settled) }
