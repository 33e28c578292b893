package highlight

import "strings"

// Languages that the table cannot describe.

var markupDelimiters = []*delimiter{arrowed}

// inTag are the strings within a tag.
var inTag = &Language{names: "tag", letters: "-:", delimiters: []*delimiter{
	{open: `"`, close: `"`, class: String, lines: true},
	{open: `'`, close: `'`, class: String, lines: true},
}}

// markup reads HTML and XML: tags, their attributes and strings, comments; style sheets and scripts
// in their own language.
func (s *Scanner) markup() {
	at := 0
	if s.open != nil && s.inner == nil {
		s.begin(s.open.class, 0)
		at = s.within(0)
	}
	for at < len(s.line) {
		switch {
		case s.inner != nil:
			at = s.element(at)
		case s.tag:
			at = s.attribute(at)
		case strings.HasPrefix(s.line[at:], arrowed.open):
			at = s.delimited(arrowed, at)
		case s.line[at] == '<' && at+1 < len(s.line) && (isLetter(s.line[at+1]) || strings.IndexByte("/!?", s.line[at+1]) >= 0):
			end := inTag.wordEnd(s.line, at+2)
			s.begin(Keyword, at)
			s.tag = true
			if name := strings.ToLower(s.line[at+1 : end]); name == "script" || name == "style" {
				s.fence = "</" + name
			}
			at = end
		default:
			s.begin(Plain, at)
			at++
		}
	}
}

// attribute reads the next part of a tag.
func (s *Scanner) attribute(at int) int {
	switch c := s.line[at]; {
	case c == '>':
		s.begin(Keyword, at)
		s.tag = false
		if s.fence != "" && (at == 0 || s.line[at-1] != '/') {
			s.inner = ByName("js")
			if s.fence == "</style" {
				s.inner = ByName("css")
			}
		} else {
			s.fence = ""
		}
		return at + 1
	case inTag.delimiterAt(s.line, at) != nil:
		return s.delimited(inTag.delimiterAt(s.line, at), at)
	case inTag.inWord(c):
		s.begin(Type, at)
		return inTag.wordEnd(s.line, at)
	}
	s.begin(Plain, at)
	return at + 1
}

// element reads a script or a style sheet up to its end.
func (s *Scanner) element(at int) int {
	end := indexFold(s.line[at:], s.fence)
	if end < 0 {
		s.embedded(at, len(s.line))
		return len(s.line)
	}
	s.embedded(at, at+end)
	s.inner, s.fence, s.open = nil, "", nil
	s.begin(Keyword, at+end)
	s.tag = true
	return min(len(s.line), at+end+len("</script"))
}

// indexFold returns the first place of a tag's beginning, in capital letters or not; -1 if there is
// none.
func indexFold(s, tag string) int {
	for i := 0; i+len(tag) <= len(s); i++ {
		if s[i] == '<' && strings.EqualFold(s[i:i+len(tag)], tag) {
			return i
		}
	}
	return -1
}

// embedded reads a part of the line in the inner language.
func (s *Scanner) embedded(from, to int) {
	if from >= to {
		return
	}
	inner := Scanner{lang: s.inner, open: s.open, depth: s.depth}
	for _, token := range inner.Line(s.line[from:to]) {
		s.begin(token.Class, from)
		from += len(token.Text)
	}
	s.open, s.depth = inner.open, inner.depth
}

// diff reads a line of a diff in the unified format.
func (s *Scanner) diff() {
	class := Plain
	switch line := s.line; {
	case strings.HasPrefix(line, "@@"):
		class = Heading
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		class = Comment
	case line[0] == '+':
		class = Added
	case line[0] == '-':
		class = Removed
	}
	s.begin(class, 0)
}

// console reads what a terminal shows: commands after a prompt, and what they print.
func (s *Scanner) console() {
	for _, prompt := range [...]string{"$ ", "# ", "% ", "> "} {
		if strings.HasPrefix(s.line, prompt) {
			s.begin(Comment, 0)
			s.flush(len(prompt))
			s.inner, s.open = ByName("shell"), nil
			s.embedded(len(prompt), len(s.line))
			s.open = nil
			return
		}
	}
}

// sections reads a file of sections in brackets and keys.
func (s *Scanner) sections() {
	if line := strings.TrimLeft(s.line, " "); s.open == nil && strings.HasPrefix(line, "[") && !strings.ContainsAny(line, "=,") {
		s.begin(Heading, 0)
		return
	}
	s.code(0)
}

// markdown reads headings, fences with their own language, quotes, list markers and code in a line.
func (s *Scanner) markdown() {
	line := strings.TrimLeft(s.line, " ")
	indent := len(s.line) - len(line)
	mark := fenceOf(line)
	switch {
	case s.fence != "":
		if strings.HasPrefix(mark, s.fence) && strings.TrimRight(line[len(mark):], " ") == "" {
			s.begin(Comment, 0)
			s.fence, s.inner, s.open = "", nil, nil
			return
		}
		if s.inner != nil {
			s.embedded(0, len(s.line))
		}
	case mark != "":
		s.begin(Comment, 0)
		s.fence, s.inner = mark, ByName(strings.TrimSpace(line[len(mark):]))
		if s.inner != nil && s.inner.special != table {
			s.inner = nil // its state would not fit into this scanner
		}
	case strings.HasPrefix(line, "#"):
		s.begin(Heading, 0)
	case strings.HasPrefix(line, ">"):
		s.begin(Comment, 0)
	default:
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
			s.begin(Keyword, 0)
			s.begin(Plain, indent+1)
		}
		s.codeSpans(indent)
	}
}

// codeSpans reads code within a line of prose.
func (s *Scanner) codeSpans(at int) {
	for at < len(s.line) {
		begin := strings.IndexByte(s.line[at:], '`')
		if begin < 0 {
			break
		}
		end := strings.IndexByte(s.line[at+begin+1:], '`')
		if end < 0 {
			break
		}
		s.begin(String, at+begin)
		at += begin + end + 2
		s.begin(Plain, at)
	}
}

// fenceOf returns the fence that a line begins with.
func fenceOf(line string) string {
	for _, mark := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return line[:len(line)-len(strings.TrimLeft(line, mark[:1]))]
		}
	}
	return ""
}
