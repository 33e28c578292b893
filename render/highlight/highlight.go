package highlight

import "strings"

// A Class is what a token is.
type Class uint8

// The classes.
const (
	Plain Class = iota
	Keyword
	String
	Comment
	Number
	Type     // the name of a type or a constant; a key in data; a variable in a shell
	Function // the name of what is called, a decorator
	Heading  // a section of a document, the position in a diff
	Added    // a line that a diff adds
	Removed  // a line that a diff removes
)

// String returns the class in one lower-case word.
func (c Class) String() string {
	names := [...]string{"plain", "keyword", "string", "comment", "number", "type", "function", "heading", "added", "removed"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// A Token is a piece of code.
type Token struct {
	Class Class
	Text  string
}

// Tokens returns all of a code. Neighbours differ in class. A nil Language returns one plain token.
func (l *Language) Tokens(code string) []Token {
	if code == "" {
		return nil
	}
	if l == nil {
		return []Token{{Plain, code}}
	}
	var tokens []Token
	scanner := l.Scanner()
	at := 0
	add := func(class Class, length int) {
		if n := len(tokens); n > 0 && tokens[n-1].Class == class {
			tokens[n-1].Text = code[at-len(tokens[n-1].Text) : at+length]
		} else if length > 0 {
			tokens = append(tokens, Token{class, code[at : at+length]})
		}
		at += length
	}
	for line := range strings.Lines(code) {
		text := strings.TrimSuffix(line, "\n")
		for _, token := range scanner.Line(text) {
			add(token.Class, len(token.Text))
		}
		add(scanner.class(), len(line)-len(text))
	}
	return tokens
}
