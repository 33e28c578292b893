package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// summaryKeys are the members of a tool's input that say most about it, best first. They are those
// of Claude Code 2, pi 0.87, Codex and of common MCP servers.
var summaryKeys = []string{
	"command", "cmd", "pattern", "file_path", "path", "filePath", "notebook_path", "query", "url", "description", "prompt", "subject", "skill", "name", "id",
}

// Summary returns a tool's input in one line.
func Summary(input []byte) string {
	if !jsonscan.IsObject(input) {
		return FirstLine(scalar(input))
	}
	for _, key := range summaryKeys {
		value := jsonscan.Get(input, key)
		if value == nil {
			continue
		}
		text := FirstLine(scalar(value))
		if text == "" {
			continue
		}
		switch key {
		case "pattern":
			if in := scalar(jsonscan.Get(input, "path")); in != "" {
				text += " in " + FirstLine(in)
			}
		case "file_path", "path", "filePath":
			text += extent(input)
		}
		return text
	}
	if text := changedFiles(input); text != "" {
		return text
	}
	return FirstLine(string(input))
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
	text, removed, added := FirstLine(changes[0].Path), 0, 0
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

// FirstLine returns the first line of a foreign text that is not blank, clean.
func FirstLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(Clean(line))
	if more && strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}
