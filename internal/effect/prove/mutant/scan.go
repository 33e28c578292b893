package mutant

import "strings"

// What a byte of code becomes in line.code where it is no code.
const (
	inString  = '\x01'
	inComment = ' '
)

// line is one line of a file.
type line struct {
	text string
	// code is text with comments as spaces and strings as inString, byte by byte.
	code    string
	strings []span // those of one line, with their quotes
}

type span struct{ from, to int }

// scanner reads a text from its beginning, because comments and strings may have several lines.
type scanner struct {
	*language
	src    string
	at     int
	code   []byte
	quoted []span
	last   byte // the last byte of code that is no space
	ends   []string
}

// scan splits a text into lines.
func scan(l *language, src string) []line {
	s := &scanner{language: l, src: src, code: []byte(src)}
	for s.at < len(src) {
		s.next()
	}
	var lines []line
	at, quoted := 0, s.quoted
	for text := range strings.Lines(src) {
		end := at + len(text)
		if ended, ok := strings.CutSuffix(text, "\n"); ok {
			text = strings.TrimSuffix(ended, "\r")
		}
		found := line{text: text, code: string(s.code[at : at+len(text)])}
		for len(quoted) > 0 && quoted[0].from < end {
			found.strings = append(found.strings, span{quoted[0].from - at, quoted[0].to - at})
			quoted = quoted[1:]
		}
		lines = append(lines, found)
		at = end
	}
	return lines
}

// cover overwrites code up to an offset, except for ends of lines.
func (s *scanner) cover(to int, with byte) {
	for ; s.at < to; s.at++ {
		if s.src[s.at] != '\n' {
			s.code[s.at] = with
		}
	}
}

// until returns the offset after the next text from an offset, or the end.
func (s *scanner) until(from int, text string) int {
	if from > len(s.src) {
		return len(s.src)
	}
	if i := strings.Index(s.src[from:], text); i >= 0 {
		return from + i + len(text)
	}
	return len(s.src)
}

func (s *scanner) next() {
	rest := s.src[s.at:]
	if s.block[0] != "" && strings.HasPrefix(rest, s.block[0]) {
		s.cover(s.until(s.at+len(s.block[0]), s.block[1]), inComment)
		return
	}
	for _, begin := range s.line {
		if strings.HasPrefix(rest, begin) && s.maybeComment(begin) {
			s.cover(s.until(s.at, "\n"), inComment)
			return
		}
	}
	for _, quote := range s.long {
		if strings.HasPrefix(rest, quote) {
			s.cover(s.endOfString(s.at+len(quote), quote, true), inString)
			s.last = inString
			return
		}
	}
	c := rest[0]
	switch {
	case c == '\n' && len(s.ends) > 0:
		s.hereDocument()
		return
	case s.name == "shell" && c == '\\':
		s.cover(min(s.at+2, len(s.src)), inString)
		return
	case s.name == "shell" && strings.HasPrefix(rest, "<<") && !strings.HasPrefix(rest, "<<<"):
		s.beginHere()
		return
	case strings.IndexByte(s.quotes, c) >= 0:
		from := s.at
		end := s.endOfString(s.at+1, string(c), s.name == "shell")
		if !strings.Contains(s.src[from:end], "\n") {
			s.quoted = append(s.quoted, span{from, end})
		}
		s.cover(end, inString)
		s.last = inString
		return
	case c == '\'' && s.chars:
		if end := s.endOfChar(); end > 0 {
			s.cover(end, inString)
			s.last = inString
			return
		}
	case c == '/' && s.regex && s.maybeRegex():
		if end := s.endOfString(s.at+1, "/", false); s.src[end-1] == '/' {
			s.cover(end, inString)
			s.last = inString
			return
		}
	}
	if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
		s.last = c
	}
	s.at++
}

// maybeComment reports whether # begins a comment: in a shell not in $# and ${#name}.
func (s *scanner) maybeComment(begin string) bool {
	return begin != "#" || s.at == 0 || s.name != "shell" || strings.IndexByte(" \t\n;(", s.src[s.at-1]) >= 0
}

// maybeRegex reports whether a slash can begin a regular expression: where no value is before it.
func (s *scanner) maybeRegex() bool {
	return s.last == 0 || strings.IndexByte("(,=:[!&|?{};", s.last) >= 0
}

// endOfString returns the offset after the closing quote, or after the line where it has none.
func (s *scanner) endOfString(at int, quote string, lines bool) int {
	raw := quote == "`" && s.name == "go" || quote == "'" && s.name == "shell"
	for ; at < len(s.src); at++ {
		switch {
		case s.src[at] == '\\' && !raw:
			at++
		case s.src[at] == '\n' && !lines:
			return at
		case strings.HasPrefix(s.src[at:], quote):
			return at + len(quote)
		}
	}
	return len(s.src)
}

// endOfChar returns the offset after a literal of one character; 0 if the quote begins none, such
// as that of a lifetime in Rust.
func (s *scanner) endOfChar() int {
	rest := s.src[s.at+1:]
	end := strings.IndexByte(rest, '\'')
	if strings.HasPrefix(rest, `\'`) {
		end = 2
	}
	const longest = 10 // '\u{10ffff}'
	if end < 1 || end > longest || end >= len(rest) || rest[end] != '\'' || strings.Contains(rest[:end], "\n") ||
		end > 4 && rest[0] != '\\' {
		return 0
	}
	return s.at + 1 + end + 1
}

// beginHere reads the beginning of a document that is in a shell's own text.
func (s *scanner) beginHere() {
	rest := strings.TrimLeft(strings.TrimPrefix(s.src[s.at+2:], "-"), " ")
	word := strings.Trim(rest[:len(rest)-len(strings.TrimLeft(rest, `'"\ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789`))], `'"\`)
	if word != "" && strings.IndexByte("0123456789", word[0]) < 0 {
		s.ends = append(s.ends, word)
	}
	s.at += 2
}

// hereDocument covers the lines up to the one that ends it.
func (s *scanner) hereDocument() {
	s.at++
	for s.at < len(s.src) && len(s.ends) > 0 {
		end := s.until(s.at, "\n")
		if strings.TrimSpace(s.src[s.at:end]) == s.ends[0] {
			s.ends = s.ends[1:]
		}
		s.cover(end, inString)
	}
}
