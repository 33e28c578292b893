package highlight

import "strings"

// A Scanner reads code line by line, and remembers strings and comments that continue on the next
// line. It belongs to one goroutine. A copy continues from the same place.
type Scanner struct {
	lang  *Language
	open  *delimiter // the string or comment that began on an earlier line
	depth int        // how many nested comments are open
	tag   bool       // within a tag of HTML
	inner *Language  // the language within an element or a fence
	fence string     // what ends inner

	line   string
	tokens []Token
	from   int // where the token begins that is being read
	last   Class
}

// Scanner returns a scanner at the beginning of a code. The receiver may be nil: all is plain then.
func (l *Language) Scanner() Scanner { return Scanner{lang: l} }

// Line returns the tokens of the next line, which is given without its newline. They refer to the
// line's memory.
func (s *Scanner) Line(line string) []Token {
	if line == "" {
		return nil
	}
	s.line, s.tokens, s.from, s.last = line, nil, 0, Plain
	if s.lang != nil {
		s.read()
	}
	s.flush(len(line))
	return s.tokens
}

// read reads the line in the terms of its language.
func (s *Scanner) read() {
	switch s.lang.special {
	case table:
		s.code(0)
	case console:
		s.console()
	case diff:
		s.diff()
	case markdown:
		s.markdown()
	case markup:
		s.markup()
	case sections:
		s.sections()
	}
}

// class is the class of a line's end.
func (s *Scanner) class() Class {
	if s.open != nil {
		return s.open.class
	}
	return Plain
}

// begin begins a token at a position of the line.
func (s *Scanner) begin(class Class, at int) {
	if class == s.last {
		return
	}
	s.flush(at)
	s.last = class
}

// flush ends the token that is being read.
func (s *Scanner) flush(at int) {
	if at > s.from {
		if n := len(s.tokens); n > 0 && s.tokens[n-1].Class == s.last {
			s.tokens[n-1].Text = s.line[s.from-len(s.tokens[n-1].Text) : at]
		} else {
			s.tokens = append(s.tokens, Token{s.last, s.line[s.from:at]})
		}
		s.from = at
	}
}

// code reads the rest of the line in the table's terms.
func (s *Scanner) code(at int) {
	if s.open != nil {
		s.begin(s.open.class, at)
		at = s.within(at)
	}
	for at < len(s.line) {
		c := s.line[at]
		switch d := s.lang.delimiterAt(s.line, at); {
		case d != nil:
			at = s.delimited(d, at)
		case isDigit(c):
			s.begin(Number, at)
			at = number(s.line, at)
		case s.lang.inWord(c):
			at = s.word(at)
		case c == s.lang.variable && at+1 < len(s.line):
			at = s.variable(at)
		case (c == s.lang.directive || c == s.lang.decorator) && c != 0 && at+1 < len(s.line) && isLetter(s.line[at+1]):
			class := Keyword
			if c == s.lang.decorator {
				class = Function
			}
			s.begin(class, at)
			at = s.lang.wordEnd(s.line, at+1)
		default:
			s.begin(Plain, at)
			at++
		}
	}
}

// delimited reads a string or comment that begins here.
func (s *Scanner) delimited(d *delimiter, at int) int {
	s.begin(d.class, at)
	s.open, s.depth = d, 1
	end := s.within(at + len(d.open))
	if s.open == nil && d.class == String && s.lang.keyAfter(s.line, end) {
		s.last = Type
	}
	return end
}

// within reads up to the end of the open string or comment, or of the line.
func (s *Scanner) within(at int) int {
	d := s.open
	for ; at < len(s.line); at++ {
		switch rest := s.line[at:]; {
		case d.escape != 0 && rest[0] == d.escape:
			at++
		case d.close != "" && strings.HasPrefix(rest, d.close):
			if s.depth--; s.depth == 0 || !d.nested {
				s.open = nil
				return at + len(d.close)
			}
			at += len(d.close) - 1
		case d.nested && strings.HasPrefix(rest, d.open):
			s.depth++
			at += len(d.open) - 1
		}
	}
	if !d.lines {
		s.open = nil
	}
	return len(s.line)
}

// word reads a word and decides what it is.
func (s *Scanner) word(at int) int {
	end := s.lang.wordEnd(s.line, at)
	class := s.lang.classOf(s.line[at:end])
	switch {
	case s.lang.keyAfter(s.line, end):
		class = Type
	case class != Plain:
	case s.lang.calls && end < len(s.line) && s.line[end] == '(':
		class = Function
	case s.lang.upper && 'A' <= s.line[at] && s.line[at] <= 'Z':
		class = Type
	}
	s.begin(class, at)
	return end
}

// variable reads what follows the mark of a variable.
func (s *Scanner) variable(at int) int {
	end := at + 1
	switch c := s.line[end]; {
	case c == '{' || c == '(' && s.lang.name() == "make":
		shut := byte('}')
		if c == '(' {
			shut = ')'
		}
		i := strings.IndexByte(s.line[end:min(len(s.line), end+variableMost)], shut)
		if i < 0 {
			s.begin(Plain, at)
			return end
		}
		end += i + 1
	case isLetter(c) || c == '_':
		for end < len(s.line) && (isLetter(s.line[end]) || isDigit(s.line[end]) || s.line[end] == '_') {
			end++
		}
	case c == '(':
		s.begin(Plain, at)
		return end
	default: // $1, $?, $@
		end++
		if c >= 0x80 {
			s.begin(Plain, at)
			return at + 1
		}
	}
	s.begin(Type, at)
	return end
}

// variableMost is the longest name of a variable in braces.
const variableMost = 80

// number returns where a number ends.
func number(line string, at int) int {
	for at < len(line) {
		c := line[at]
		if !isDigit(c) && !isLetter(c) && c != '_' && (c != '.' || at+1 >= len(line) || !isDigit(line[at+1])) {
			break
		}
		at++
	}
	return at
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
