package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// The lines around a change, and the largest input that is searched for one.
const (
	diffContext = 1
	diffMost    = 256 << 10
)

// fileChange is what a tool's input says of a change to a file: the members of Claude Code 2, pi
// 0.87 and Codex.
type fileChange struct {
	textEdit
	Edits []textEdit `json:"edits"`

	Path     string  `json:"path"`
	FilePath string  `json:"file_path"`
	Content  *string `json:"content"` // of a file that is written whole

	Changes []struct {
		Kind struct {
			Type string `json:"type"`
		} `json:"kind"`
		Diff string `json:"diff"`
	} `json:"changes"`
}

// textEdit puts one text in the place of another.
type textEdit struct {
	OldString *string `json:"old_string"`
	NewString *string `json:"new_string"`
	OldText   *string `json:"oldText"`
	NewText   *string `json:"newText"`
}

func (e textEdit) texts() (before, after string, ok bool) {
	switch {
	case e.OldString != nil && e.NewString != nil:
		return *e.OldString, *e.NewString, true
	case e.OldText != nil && e.NewText != nil:
		return *e.OldText, *e.NewText, true
	}
	return "", "", false
}

// DiffLine is one line of a change: '+', '-', or ' ' where it stays. The text is foreign and not
// clean.
type DiffLine struct {
	Sign byte
	Text string
	Line int `json:",omitempty"` // in the new file, of a '-' in the old one; from 1, 0 if not known
}

// Diff returns the lines of the changes that a tool's input describes; none if it describes no
// change, or an unknown kind of change, or is larger than 256 KiB.
func Diff(input []byte) (diff []DiffLine) {
	var e fileChange
	if len(input) > diffMost {
		return nil
	}
	// A member of another type is another tool's, and ignored; Unmarshal still reads the rest.
	_ = json.Unmarshal(input, &e)
	for _, edit := range append([]textEdit{e.textEdit}, e.Edits...) {
		if before, after, ok := edit.texts(); ok {
			diff = append(diff, between(before, after)...)
		}
	}
	if e.Content != nil && e.Path+e.FilePath != "" {
		diff = append(diff, numbered(all('+', *e.Content))...)
	}
	for _, change := range e.Changes {
		switch change.Kind.Type {
		case "add":
			diff = append(diff, numbered(all('+', change.Diff))...)
		case "delete":
			diff = append(diff, numbered(all('-', change.Diff))...)
		default:
			diff = append(diff, unified(change.Diff)...)
		}
	}
	return diff
}

// between compares two texts by line.
func between(before, after string) []DiffLine {
	before, after = endLine(before), endLine(after)
	text, err := udiff.ToUnified("", "", before, udiff.Lines(before, after), diffContext)
	if err != nil {
		return append(all('-', before), all('+', after)...)
	}
	diff := unified(text)
	for i := range diff {
		diff[i].Line = 0 // the texts are parts of a file
	}
	return diff
}

// endLine returns a text whose last line ends with a newline.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func all(sign byte, text string) (diff []DiffLine) {
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		diff = append(diff, DiffLine{Sign: sign, Text: line})
	}
	return diff
}

// numbered numbers the lines of a complete file.
func numbered(diff []DiffLine) []DiffLine {
	for i := range diff {
		diff[i].Line = i + 1
	}
	return diff
}

// unified reads the lines of a diff in the unified format. The lines before the first hunk name the
// files.
func unified(text string) (diff []DiffLine) {
	within := false
	var before, after int // the numbers of the next lines, 0 if they are not known
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			within = true
			if n, err := fmt.Sscanf(line, "@@ -%d", &before); n != 1 || err != nil {
				before = 0
			}
			after = 0
			if _, plus, ok := strings.Cut(line, " +"); ok {
				if n, err := fmt.Sscanf(plus, "%d", &after); n != 1 || err != nil {
					after = 0
				}
			}
		case within && line != "" && strings.IndexByte("+- ", line[0]) >= 0:
			number := after
			if line[0] == '-' {
				number = before
			}
			diff = append(diff, DiffLine{line[0], line[1:], number})
			if before > 0 && line[0] != '+' {
				before++
			}
			if after > 0 && line[0] != '-' {
				after++
			}
		}
	}
	return diff
}
