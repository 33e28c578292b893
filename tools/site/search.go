package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// stopWords are in nearly every section. A search leaves them out.
var stopWords = strings.Fields("a an and are as at be but by for from has have if in is it its no not of on or so than that the then there to was what when which with")

// The index is a script, because a page on a disk may not read a file. Each line of words is a word
// and the sections that have it, in order: the first number, then differences, in base 36.
type index struct {
	Pages    [][]string `json:"pages"`    // address, title, shelf
	Sections [][]any    `json:"sections"` // number of the page, anchor, title
	Stop     []string   `json:"stop"`
	Words    string     `json:"words"`
}

// searchIndex has the words of all sections. The pages of the shelves come first.
func (s *site) searchIndex() []byte {
	found := index{Stop: stopWords}
	postings := map[string][]int{}
	for _, name := range s.names() {
		p := s.pages[name]
		found.Pages = append(found.Pages, []string{address(name), p.title, s.shelf(name)})
		for _, section := range p.sections {
			at := len(found.Sections)
			found.Sections = append(found.Sections, []any{len(found.Pages) - 1, section.Anchor, section.Title})
			for word := range words(section.Title + " " + section.text) {
				postings[word] = append(postings[word], at)
			}
		}
	}
	var b strings.Builder
	for _, word := range slices.Sorted(maps.Keys(postings)) {
		b.WriteString(word)
		last := 0
		for _, at := range postings[word] {
			b.WriteString(" " + strconv.FormatInt(int64(at-last), 36))
			last = at
		}
		b.WriteByte('\n')
	}
	found.Words = b.String()
	text, err := json.Marshal(found)
	if err != nil {
		panic(err) // strings and numbers
	}
	return slices.Concat([]byte("searchIndex("), text, []byte(");\n"))
}

// shelf names the shelf of a page, or its folder.
func (s *site) shelf(name string) string {
	for _, shelf := range s.shelves {
		for _, group := range shelf.Groups {
			if slices.ContainsFunc(group.Entries, func(e entry) bool { return e.Path == name }) {
				return shelf.Name
			}
		}
	}
	if parts := strings.Split(name, "/"); len(parts) > 2 {
		return capital(parts[1])
	}
	return ""
}

// words are those that a search finds: in small letters, each once. Of numbers they are the short
// ones, such as those of exit codes and requirements.
func words(text string) map[string]bool {
	found := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
		if len(word) < 40 && (len(word) <= 3 || strings.ContainsFunc(word, unicode.IsLetter)) && !slices.Contains(stopWords, word) {
			found[word] = true
		}
	}
	return found
}
