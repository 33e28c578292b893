package render

import (
	"io"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Options say how and how much is shown. The zero value is for a file: without colours and without
// line breaks.
type Options struct {
	Color bool // escape sequences of this package's own
	// columns of a line, at least Narrowest; 0 leaves lines and tabs as they are
	Width    int
	Verbose  bool           // also prompts, decisions, notices, what tools print as they run
	Quiet    bool           // nothing of what the agent says and does
	Diffs    bool           // the first lines of what a tool changes in a file
	Lines    int            // of a tool's output, at most and not negative; 0 is 3, and 40 if Verbose
	Time     bool           // the time of day before each entry
	Location *time.Location // of times of day; nil is the system's
}

// Narrowest is the smallest width. A smaller Width is the same as this.
const Narrowest = 20

// Viewer shows events. What it holds back is written on Flush, and all on Close.
type Viewer interface {
	Event(event.Event) error
	Flush() error
	Close() error
}

const (
	batch = 16 << 10 // the size from which output is written without a Flush

	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

// Log shows each event as one line: the time, seq, iteration, type and the fields
// of its data. It belongs to one goroutine.
type Log struct {
	w   io.Writer
	opt Options
	out []byte
	now []byte // the fields of the present event

	label string // before each line
}

// NewLog returns a Log that writes to w. Of the options it uses Color, Width and Location.
func NewLog(w io.Writer, opt Options) *Log {
	if opt.Location == nil {
		opt.Location = time.Local
	}
	return &Log{w: w, opt: opt}
}

// Label begins each line from now on with a text and a blank; without one, lines begin with their
// time. It has to be clean.
func (l *Log) Label(text string) { l.label = text }

// Event shows an event. The error is the writer's.
func (l *Log) Event(e event.Event) error {
	l.now = data(l.now[:0], e)
	return l.line(e, Cut(string(l.now), l.left()))
}

// EventText shows an event with a text in place of its fields. The text has to be clean and at most
// as wide as Left; it may have styles.
func (l *Log) EventText(e event.Event, text string) error { return l.line(e, text) }

// Separator shows that events were left out.
func (l *Log) Separator() error {
	l.paint(dim, func() { l.out = append(l.out, "--"...) })
	l.out = append(l.out, '\n')
	return nil
}

// Left returns how many columns of a line are left for fields; 0 means any number.
func (l *Log) Left() int { return l.left() }

func (l *Log) line(e event.Event, text string) error {
	if l.label != "" {
		l.paint(bold, func() { l.out = append(l.out, l.label...) })
		l.out = append(l.out, ' ')
	}
	l.paint(dim, func() {
		l.out = e.At.In(l.opt.Location).AppendFormat(l.out, "2006-01-02 15:04:05.000 ")
	})
	l.out = padded(l.out, e.Seq.String(), -6)
	l.out = padded(append(l.out, ' '), strconv.Itoa(e.Iter), -3)
	l.out = append(l.out, ' ')
	name := Clean(string(e.Type))
	l.paint(cyan, func() { l.out = append(l.out, name...) })
	if text != "" {
		l.out = padded(l.out, "", 21-min(Columns(name), 20))
		l.out = append(l.out, text...)
	}
	l.out = append(l.out, '\n')
	if len(l.out) >= batch {
		return l.Flush()
	}
	return nil
}

// left is the space after time, seq, iteration and type.
func (l *Log) left() int {
	if l.opt.Width <= 0 {
		return 0
	}
	left := l.opt.Width - 57
	if l.label != "" {
		left -= Columns(l.label) + 1
	}
	return max(left, 20)
}

func (l *Log) paint(style string, write func()) {
	if !l.opt.Color {
		write()
		return
	}
	l.out = append(l.out, style...)
	write()
	l.out = append(l.out, reset...)
}

// Flush writes all lines so far.
func (l *Log) Flush() error {
	if len(l.out) == 0 {
		return nil
	}
	_, err := l.w.Write(l.out)
	l.out = l.out[:0]
	return err
}

// Close is Flush. The writer is not closed.
func (l *Log) Close() error { return l.Flush() }

// padded appends s in at least n columns, to the right where n is negative.
func padded(dst []byte, s string, n int) []byte {
	blanks := max(n, -n) - Columns(s)
	if n > 0 {
		dst = append(dst, s...)
	}
	for ; blanks > 0; blanks-- {
		dst = append(dst, ' ')
	}
	if n < 0 {
		dst = append(dst, s...)
	}
	return dst
}

// Fields returns the members of an event's data as key=value on one clean line.
func Fields(e event.Event) string { return string(data(nil, e)) }

// fieldMost is the length at which a field is cut, so that the fields after it are shown too.
const fieldMost = 400

// data appends the members of an event's data as key=value: strings without quotes
// where they need none, everything else as JSON.
func data(dst []byte, e event.Event) []byte {
	object := e.Data()
	if !jsonscan.IsObject(object) {
		return dst
	}
	members := jsonscan.Object(object)
	for {
		key, value, ok := members.Next()
		if !ok {
			return dst
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, Clean(string(key))...)
		dst = append(dst, '=')
		if jsonscan.IsString(value) && plainWord(value[1:len(value)-1]) {
			value = value[1 : len(value)-1]
		}
		dst = append(dst, Cut(Clean(string(value[:min(len(value), 4*fieldMost)])), fieldMost)...)
	}
}

// plainWord reports whether a string value reads the same without quotes.
func plainWord(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= 0x7F {
			return false
		}
	}
	return len(b) > 0
}
