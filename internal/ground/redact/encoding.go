package redact

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonStyle is how an encoder writes the inside of a JSON string, where encoders differ.
type jsonStyle struct {
	slash bool   // \/ for /
	html  bool   // \u003c for < > & (Go), and U+2028, U+2029
	all   string // further ASCII characters written as \u00xx
	ascii bool   // \uxxxx for everything outside ASCII
	upper bool   // hex digits in upper case
}

// jsonStyles are those of the languages in which agents and their tools are written. An encoding
// that none of them writes (\u0061 for a plain letter) is not searched for.
var jsonStyles = []jsonStyle{
	{},                         // JavaScript, Rust, Ruby, jq
	{html: true},               // Go
	{ascii: true},              // Python
	{ascii: true, upper: true}, // Java
	{ascii: true, slash: true}, // PHP
	{slash: true},              // Swift, Objective-C
	{html: true, all: "\"'+`", ascii: true, upper: true}, // .NET
}

// escape writes s as the inside of a JSON string.
func (st jsonStyle) escape(s string) string {
	format := `\u%04x`
	if st.upper {
		format = `\u%04X`
	}
	var b strings.Builder
	for i, r := range s {
		short := strings.IndexRune("\b\f\n\r\t\"\\/", r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"): // not UTF-8: encoders differ, keep the byte
			b.WriteByte(s[i])
		case short >= 0 && (r != '/' || st.slash) && !strings.ContainsRune(st.all, r):
			b.WriteByte('\\')
			b.WriteByte(`bfnrt"\/`[short])
		case r < ' ', strings.ContainsRune(st.all, r), st.html && strings.ContainsRune("<>&\u2028\u2029", r), st.ascii && r >= utf8.RuneSelf:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, format, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// An encoding is a text by which a value is searched for.
type encoding struct {
	text  string
	depth int // how many times it has to be decoded as JSON to get the value
}

// mostDepth covers JSON inside a JSON string (tool output, function arguments), and once more.
const mostDepth = 3

// encodings returns the encodings of value, value itself first: as it is, percent-encoded, and
// inside JSON strings up to mostDepth. Of equal texts the first has the least depth.
func encodings(value string) []encoding {
	all := []encoding{{value, 0}}
	if span([]byte(value), tokenDot) == len(value) {
		return all // no encoder escapes these
	}
	seen := map[string]bool{value: true}
	add := func(text string, depth int) bool {
		known := seen[text]
		if !known {
			seen[text] = true
			all = append(all, encoding{text, depth})
		}
		return !known
	}
	add(url.QueryEscape(value), 0)
	add(url.PathEscape(value), 0)
	inner := []string{value}
	for depth := 1; depth <= mostDepth; depth++ {
		var next []string
		for _, text := range inner {
			for _, style := range jsonStyles {
				if outer := style.escape(text); add(outer, depth) {
					next = append(next, outer)
				}
			}
		}
		inner = next
	}
	return all
}
