package secret

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonStyle is one way in which an encoder writes the inside of a JSON string, where encoders differ.
type jsonStyle struct {
	slash bool   // \/ for /
	html  bool   // \u003c for < > & (Go), and U+2028, U+2029
	all   string // further ASCII characters written as \u00xx
	ascii bool   // \uxxxx for everything outside ASCII
	upper bool   // hex digits in upper case
}

// The styles of the encoders that agents and their tools are written with. A spelling that none of them makes (\u0061 for
// a plain letter) is not looked for.
var jsonStyles = []jsonStyle{
	{},                         // JavaScript, Rust, Ruby, jq
	{html: true},               // Go
	{ascii: true},              // Python
	{ascii: true, upper: true}, // Java
	{ascii: true, slash: true}, // PHP
	{slash: true},              // Swift, Objective-C
	{html: true, all: "\"'+`", ascii: true, upper: true}, // .NET
}

// escape writes s as it stands between the quotes of a JSON string.
func (st jsonStyle) escape(s string) string {
	var b strings.Builder
	unit := func(u rune) {
		if st.upper {
			fmt.Fprintf(&b, `\u%04X`, u)
		} else {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	for i, r := range s {
		switch {
		case st.all != "" && strings.ContainsRune(st.all, r), st.html && strings.ContainsRune("<>&\u2028\u2029", r):
			unit(r)
		case r == '"' || r == '\\' || r == '/' && st.slash:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			if k := strings.IndexRune("\b\f\n\r\t", r); k >= 0 {
				b.WriteByte('\\')
				b.WriteByte("bfnrt"[k])
			} else {
				unit(r)
			}
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"): // not UTF-8: encoders differ, keep the byte
			b.WriteByte(s[i])
		case r < utf8.RuneSelf || !st.ascii:
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			unit(hi)
			unit(lo)
		default:
			unit(r)
		}
	}
	return b.String()
}

// A spelling is a text under which a value is looked for, and how often a JSON decoder must read it to come to the value.
type spelling struct {
	text  string
	depth int
}

// spellings returns every spelling of value, value itself first: as it is, percent-encoded, inside a JSON string, inside JSON
// that is itself inside a JSON string (tool output, function arguments), and once more.
func spellings(value string) []spelling {
	all := []spelling{{value, 0}}
	if span([]byte(value), tokenDot) == len(value) {
		return all // nobody escapes these
	}
	add := func(text string, depth int) {
		if !slices.ContainsFunc(all, func(s spelling) bool { return s.text == text }) {
			all = append(all, spelling{text, depth})
		}
	}
	add(url.QueryEscape(value), 0)
	add(url.PathEscape(value), 0)
	// The shallowest first: of equal texts the depth is that of the fewest decodings.
	for _, inner := range jsonStyles {
		add(inner.escape(value), 1)
	}
	for depth := 2; depth <= 3; depth++ {
		for _, inner := range jsonStyles {
			once := inner.escape(value)
			for _, outer := range []jsonStyle{inner, jsonStyles[0], jsonStyles[1], jsonStyles[2]} {
				text := outer.escape(once)
				if depth == 2 {
					add(text, 2)
					continue
				}
				add(jsonStyles[0].escape(text), 3)
				add(outer.escape(text), 3)
			}
		}
	}
	return all
}
