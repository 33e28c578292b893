package shellguard

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is parsed. The parser recurses, and Go cannot recover from a stack overflow: each
// character of openers may be one level.
const (
	maxText    = 2 << 20
	maxOpeners = 30_000
)

var errTooLong = errors.New("it is too long")

// variants are the languages that are tried. Nearly every text of the others is one of the first.
var variants = []syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangPOSIX}

// parse is the only place where text becomes a syntax tree.
func parse(text string) (*syntax.File, error) {
	if len(text) > maxText || openers(text) > maxOpeners {
		return nil, errTooLong
	}
	var first error
	for _, variant := range variants {
		file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(text), "")
		if err == nil {
			return file, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// openers counts what may begin a nested construct.
func openers(text string) int {
	count := 0
	for _, opener := range []string{"(", "{", "`", "!", "~", "?", "=", "- ", "[", "+", "*", "|", "&&", "if", "while", "until", "for", "case", "time", "coproc", "select", "function"} {
		count += strings.Count(text, opener)
	}
	return count
}

// Join makes a command of words: each is one word of it, whatever it contains.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		text, err := syntax.Quote(word, syntax.LangBash)
		if err != nil { // NUL bytes, which no program can be given
			text, _ = syntax.Quote(strings.ReplaceAll(word, "\x00", ""), syntax.LangBash)
		}
		quoted[i] = text
	}
	return strings.Join(quoted, " ")
}

// PatchFiles returns the files that a patch of the tool apply_patch changes.
func PatchFiles(patch string) []string {
	var files []string
	for line := range strings.Lines(patch) {
		for _, prefix := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(line, prefix); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}
