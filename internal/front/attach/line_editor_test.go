package attach

import (
	"reflect"
	"strings"
	"testing"
)

// keyResult is the result of typing keys.
type keyResult struct {
	sent   []string
	line   string // typed and not sent
	before string // the part of it before the cursor
	leaves bool
}

// typeKeys types into an editor and settles it after every so many bytes.
func typeKeys(k *lineEditor, typed string, piece int) (got keyResult) {
	for i, b := range []byte(typed) {
		line, does := k.key(b)
		if does == actionSend {
			got.sent = append(got.sent, line)
		}
		got.leaves = got.leaves || does == actionLeave
		if i%piece == 0 {
			k.settle()
		}
	}
	k.settle()
	got.line, got.before = k.line, k.line[:k.pos]
	return got
}

func TestKeyboard(t *testing.T) {
	for name, c := range map[string]struct {
		typed  string
		sent   []string
		left   string // typed and not sent, with | at the cursor
		leaves bool
	}{
		"a line":                               {"go on\r", []string{"go on"}, "|", false},
		"blanks around a line are cut":         {"  go on \n", []string{"go on"}, "|", false},
		"an empty line is nothing":             {"\r \r", nil, "|", false},
		"backspace removes a character":        {"abé\x7fc", nil, "abc|", false},
		"and nothing where there is none":      {"\x7f\x08a", nil, "a|", false},
		"ctrl-u removes the text before it":    {"abc\x15d", nil, "d|", false},
		"ctrl-w removes a word":                {"ab cd  \x17e", nil, "ab e|", false},
		"ctrl-k removes the text after it":     {"abc\x1b[D\x1b[D\x0b", nil, "a|", false},
		"characters of several bytes":          {"値段\r", []string{"値段"}, "|", false},
		"broken UTF-8 is skipped":              {"a\xff\xfeb", nil, "ab|", false},
		"arrows move":                          {"abd\x1b[Dc\x1b[D\x1b[D>\x1b[C", nil, "a>b|cd", false},
		"in application mode too":              {"ab\x1bOD\x1bODx", nil, "x|ab", false},
		"home and end":                         {"bc\x1b[Ha\x1b[Fd\x1b[1~>\x1b[4~<", nil, ">abcd<|", false},
		"by words":                             {"one two\x1bbx \x1b[1;5D\x1b[1;5D|", nil, "||one x two", false},
		"delete removes one character":         {"abc\x1b[D\x1b[D\x1b[3~", nil, "a|c", false},
		"up is the line before":                {"one\rtwo\r\x1b[A\x1b[A\x1b[B", []string{"one", "two"}, "two|", false},
		"and down what was typed":              {"one\rtw\x1b[A\x1b[B", []string{"one"}, "tw|", false},
		"an edited one is sent":                {"one\r\x1b[A!\r", []string{"one", "one!"}, "|", false},
		"other keys do nothing":                {"a\x1b[15~b\x1b[1;2Pc", nil, "abc|", false},
		"a pasted text is one line":            {"\x1b[200~one\rtwo\nthree\x1b[201~\r", []string{"one\ntwo\nthree"}, "|", false},
		"keys in a pasted text do nothing":     {"\x1b[200~one\x03\x04\x1a\x15\x1b[Dtwo\x1b[201~", nil, "onetwo|", false},
		"it comes back complete":               {"\x1b[200~a\nb\x1b[201~\r\x10", []string{"a\nb"}, "a\nb|", false},
		"ctrl-c removes the line":              {"abc\x03", nil, "|", false},
		"ctrl-c with nothing typed leaves":     {"\x03", nil, "|", true},
		"ctrl-d leaves":                        {"abc\r\x04", []string{"abc"}, "|", true},
		"ctrl-d in a line deletes":             {"abc\x1b[D\x04", nil, "ab|", false},
		"and at its end does nothing":          {"abc\x04", nil, "abc|", false},
		"other controls do nothing":            {"a\x0c\x11b\x00", nil, "ab|", false},
		"a tab is a blank":                     {"a\tb", nil, "a b|", false},
		"an endless sequence ends":             {"\x1b[" + strings.Repeat("1", 40) + "x", nil, strings.Repeat("1", 25) + "x|", false},
		"escape and a letter is one keystroke": {"\x1bxa", nil, "a|", false},
		"two lines are two commands":           {"a\rb\r", []string{"a", "b"}, "|", false},
		"a line has no end":                    {strings.Repeat("x", 5000) + "y", nil, strings.Repeat("x", 5000) + "y|", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 4096} {
				got := typeKeys(newLineEditor(), c.typed, piece)
				left := got.before + "|" + got.line[len(got.before):]
				if !reflect.DeepEqual(got.sent, c.sent) || left != c.left || got.leaves != c.leaves {
					t.Errorf("read %d at a time: sent %q, left %q, leaves %v; want %q, %q, %v", piece, got.sent, left, got.leaves, c.sent, c.left, c.leaves)
				}
			}
		})
	}
}

func TestInsertPutsTextFirst(t *testing.T) {
	k := newLineEditor()
	typeKeys(k, "and the tests\x1b[D", 1)
	k.insert("mend the docs,\nplease")
	if k.settle(); k.line != "mend the docs,\nplease and the tests" || k.pos != len(k.line) {
		t.Errorf("%q, cursor at %d", k.line, k.pos)
	}
}

func FuzzKeyboard(f *testing.F) {
	f.Add([]byte("go on\r\x1b[200~a\rb\x1b[201~\x7f\x15"))
	f.Add([]byte("\x1b[A\x1b[1;5D\x14\x0b\x1a\x03\xef\xb7\x90\r"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		k := newLineEditor()
		got := typeKeys(k, string(typed), 7)
		for _, line := range got.sent {
			if line == "" || line != strings.TrimSpace(line) {
				t.Errorf("sent %q", line)
			}
		}
		for _, r := range k.line {
			if r < 0x20 && r != '\n' || r == 0x7F || r == lineBreak {
				t.Errorf("%U is in the line", r)
			}
		}
	})
}
