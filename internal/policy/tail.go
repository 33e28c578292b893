package policy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Tail keeps the end of a growing Markdown text in bounded space: between 16 and
// 32 KiB where there is that much. It is cut at the beginning of a line, and
// remembers whether that line stands in a fenced block.
type Tail struct {
	text  []byte
	fence string // the fence that is open where text begins
}

const (
	tailKept = 16 << 10
	tailMost = 32 << 10
)

// Append adds text at the end.
func (t *Tail) Append(text []byte) {
	t.text = append(t.text, text...)
	if len(t.text) <= tailMost {
		return
	}
	cut := len(t.text) - tailKept
	if newline := bytes.IndexByte(t.text[cut:], '\n'); newline >= 0 {
		cut += newline + 1
	}
	for cut < len(t.text) && t.text[cut]&0xC0 == 0x80 {
		cut++
	}
	for line := range strings.Lines(string(t.text[:cut])) {
		t.fence = nextFence(t.fence, line)
	}
	t.text = bytes.Clone(t.text[cut:])
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.text) }

// outsideCode returns the lines that stand in no fenced or indented block, without blank
// lines at the end.
func (t *Tail) outsideCode() []string {
	var lines []string
	fence := t.fence
	for line := range strings.Lines(strings.TrimRight(string(t.text), " \t\r\n")) {
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
	mark := fenceMark(trimmed)
	switch {
	case open == "":
		return mark
	case strings.HasPrefix(mark, open) && trimmed == mark:
		return ""
	}
	return open
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

type tailJSON struct {
	Text  string `json:"text,omitempty"`
	Fence string `json:"fence,omitempty"`
}

// MarshalJSON writes the text as a string, so that a checkpoint can be read.
func (t Tail) MarshalJSON() ([]byte, error) {
	return json.Marshal(tailJSON{string(t.text), t.fence})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Tail) UnmarshalJSON(data []byte) error {
	var j tailJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	t.text, t.fence = nil, j.Fence
	if j.Text != "" {
		t.text = []byte(j.Text)
	}
	return nil
}
