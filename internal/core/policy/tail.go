package policy

import (
	"bytes"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Tail keeps the end of a growing Markdown text: between 16 and 32 KiB if there is that much. It is
// cut at the beginning of a line, and remembers whether that line is in a fenced block. The
// beginning of a line longer than about 8 KiB may be replaced by an ellipsis.
type Tail struct {
	Text  tailText `json:"text,omitempty"`
	Fence string   `json:"fence,omitempty"` // the fence that is open where Text begins
}

const (
	tailKept = 16 << 10
	tailMost = 32 << 10
)

// Append adds text at the end.
func (t *Tail) Append(text []byte) {
	t.Text = append(t.Text, text...)
	t.trim()
}

// AppendText is Append for a text in JSON.
func (t *Tail) AppendText(text event.Text) {
	t.Text = text.AppendTo(t.Text)
	t.trim()
}

func (t *Tail) trim() {
	if len(t.Text) <= tailMost {
		return
	}
	cut := len(t.Text) - tailKept
	var begins string
	// Keep less than tailMost, so that not every Append cuts again.
	from := cut - (tailMost-tailKept)/2
	if newline := bytes.LastIndexByte(t.Text[from:cut], '\n'); newline >= 0 {
		cut = from + newline + 1
	} else {
		for cut < len(t.Text) && t.Text[cut]&0xC0 == 0x80 {
			cut++
		}
		// The ellipsis keeps the rest of a line from looking like a fence, indented code or a lone
		// marker.
		begins = "…"
	}
	for line := range strings.Lines(string(t.Text[:cut])) {
		t.Fence = nextFence(t.Fence, line)
	}
	t.Text = append([]byte(begins), t.Text[cut:]...)
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.Text) }

// outsideCode returns the lines outside fenced and indented blocks, without blank lines at the end.
func (t *Tail) outsideCode() []string {
	var lines []string
	fence := t.Fence
	for line := range strings.Lines(strings.TrimRight(string(t.Text), " \t\r\n")) {
		before := fence
		fence = nextFence(fence, line)
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if before != "" || fence != "" || indented {
			lines = append(lines, "")
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// nextFence returns the fence that is open after the line.
func nextFence(open, line string) string {
	trimmed := strings.TrimSpace(line)
	if open != "" {
		if mark := fenceMark(trimmed); strings.HasPrefix(mark, open) && trimmed == mark {
			return ""
		}
		return open
	}
	trimmed = pastItems(trimmed)
	mark := fenceMark(trimmed)
	if strings.HasPrefix(mark, "`") && strings.Contains(trimmed[len(mark):], "`") {
		return "" // a code span
	}
	return mark
}

// pastItems returns what follows the marks of the list items that begin on a line.
func pastItems(line string) string {
	for {
		mark := strings.TrimLeft(line, "0123456789")
		if digits := len(line) - len(mark); digits > 0 && digits < 10 {
			if !strings.HasPrefix(mark, ". ") && !strings.HasPrefix(mark, ") ") {
				return line
			}
		} else if !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "* ") && !strings.HasPrefix(line, "+ ") {
			return line
		}
		line = strings.TrimLeft(mark[1:], " \t")
	}
}

// fenceMark returns the run of three or more backticks or tildes that a line begins with.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// tailText is written as a string, so that a checkpoint can be read.
type tailText []byte

func (t tailText) MarshalText() ([]byte, error) { return t, nil }

func (t *tailText) UnmarshalText(text []byte) error {
	*t = bytes.Clone(text)
	return nil
}
