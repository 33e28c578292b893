package conversation

import (
	"strings"

	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Selected returns the selected entry.
func (v *View) Selected() (transcript.Entry, bool) {
	at, found := v.index(v.selected)
	if v.selected == 0 || !found {
		return transcript.Entry{}, false
	}
	return v.items[at].Entry, true
}

// SelectedText is the text of the selected entry as it would be copied, without styles: words as
// the agent wrote them, and of a tool its input and output.
func (v *View) SelectedText() string {
	e, ok := v.Selected()
	if !ok {
		return ""
	}
	switch b := e.Body.(type) {
	case transcript.Words:
		return b.Text
	case transcript.Thinking:
		return b.Text
	case transcript.Tools:
		var parts []string
		for _, c := range b.Calls {
			parts = append(parts, strings.TrimSpace(callText(c)))
		}
		return strings.Join(parts, "\n\n")
	case transcript.Message:
		if b.Text != "" {
			return b.Text
		}
	}
	// All of the entry, on lines as long as it takes.
	p := &painter{layout: layout{width: 1 << 12, unfolded: true, marks: true}, now: v.now, item: &item{Entry: e}}
	p.entry()
	return plainText(p.lines)
}

func plainText(lines []markdown.Line) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line.String(), " ─") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

// callText is what a person copies of a tool.
func callText(c transcript.Call) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(c.Name+" "+c.About) + "\n")
	for _, line := range c.Diff {
		b.WriteString(string(line.Sign) + " " + line.Text + "\n")
	}
	if output := strings.Trim(c.Output, "\n"); output != "" {
		b.WriteString("\n" + output + "\n")
	}
	return b.String()
}

// SelectedFiles are the files that the selected entry names, as the agent wrote them.
func (v *View) SelectedFiles() (files []string) {
	e, _ := v.Selected()
	tools, _ := e.Body.(transcript.Tools)
	seen := map[string]bool{}
	for _, c := range tools.Calls {
		for _, path := range c.Paths {
			if !seen[path] {
				seen[path] = true
				files = append(files, path)
			}
		}
	}
	return files
}
