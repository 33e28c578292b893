package logs

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A pattern is a text that is searched for in the texts of events.
type pattern struct {
	expr *regexp.Regexp
	// anchor is a part of the pattern that the JSON of a match contains as it is, unless that JSON
	// escapes characters; empty if no part is known.
	anchor []byte
	fold   bool // the case of anchor does not matter
	rare   int  // the index in anchor of its least frequent character
	reach  int  // no match is longer than so many bytes; 0 if that is not known
}

// The values of Options.Case.
const (
	CaseSmart  = "smart" // of a text without a capital letter the case does not matter
	CaseIgnore = "ignore"
	CaseMatch  = "match"
)

// newPattern compiles a text, or a regular expression.
func newPattern(text string, expression bool, letters string) (*pattern, error) {
	p := &pattern{fold: letters == CaseIgnore || letters != CaseMatch && !strings.ContainsFunc(text, unicode.IsUpper)}
	source := regexp.QuoteMeta(text)
	if expression {
		source = text
	} else {
		p.anchor, p.reach = anchorOf(text), 3*len(text) // the other case of a letter may be longer
	}
	if p.fold {
		source = "(?i)" + source
		p.anchor = bytes.ToLower(p.anchor)
	}
	for i, c := range p.anchor {
		if frequency(c) < frequency(p.anchor[p.rare]) {
			p.rare = i
		}
	}
	var err error
	if p.expr, err = regexp.Compile(source); err != nil {
		return nil, cli.Refuse("write it as Go's package regexp has it, or leave --regexp out", "--grep: %w", err)
	}
	return p, nil
}

// anchorOf returns the longest part of a text that JSON has no need to escape. Characters beyond
// ASCII, and those that some encoders escape, may be written in several ways.
func anchorOf(text string) []byte {
	longest := ""
	plain := func(c byte) bool { return c >= ' ' && c < 0x7F && !strings.ContainsRune(`"\/<>&'`, rune(c)) }
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && plain(text[j]) {
			j++
		}
		if j-i > len(longest) {
			longest = text[i:j]
		}
		i = j + 1
	}
	return []byte(longest)
}

// frequency ranks characters by how often text has them.
func frequency(c byte) int {
	const frequent = ` etaoinsrhldcumfpgwy":,.bvk-_`
	return len(frequent) - strings.IndexByte(frequent+string(c), c)
}

var escaped = []byte(`\u`)

// maybeIn reports whether a decoded text may contain the pattern. False is certain.
func (p *pattern) maybeIn(text []byte) bool {
	switch {
	case len(p.anchor) == 0:
		return true
	case p.fold:
		return containsFold(text, p.anchor, p.rare)
	}
	return bytes.Contains(text, p.anchor)
}

// maybe reports whether the texts of a line may contain the pattern. False is certain.
func (p *pattern) maybe(line []byte) bool {
	return p.maybeIn(line) || bytes.Contains(line, escaped)
}

// containsFold reports whether a text contains a word in lower case, whatever the case of the text.
// rare is the index of the word's least frequent character.
func containsFold(text, word []byte, rare int) bool {
	lower := word[rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	next := func(c byte, from int) int {
		if at := bytes.IndexByte(text[from:], c); at >= 0 {
			return from + at
		}
		return len(text)
	}
	low, up := next(lower, 0), len(text)
	if upper != lower {
		up = next(upper, 0)
	}
	for low < len(text) || up < len(text) {
		at := min(low, up)
		if from := at - rare; from >= 0 && from+len(word) <= len(text) && bytes.EqualFold(text[from:from+len(word)], word) {
			return true
		}
		if at == low {
			low = next(lower, at+1)
		} else {
			up = next(upper, at+1)
		}
	}
	return false
}

// find returns the places of the pattern in a text, at most so many; none of them is empty.
func (p *pattern) find(text string, most int) [][]int {
	found := p.expr.FindAllStringIndex(text, most)
	for i := 0; i < len(found); {
		if found[i][0] == found[i][1] {
			found = append(found[:i], found[i+1:]...)
			continue
		}
		i++
	}
	return found
}
