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
