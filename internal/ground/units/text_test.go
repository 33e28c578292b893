package units

import (
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, row := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"two words", 5, "two…"},
		{"größer", 4, "grö…"},
		{"", 1, ""},
	} {
		if got := Cut(row.text, row.most); got != row.want || utf8.RuneCountInString(got) > row.most {
			t.Errorf("%q in %d characters: %q, want %q", row.text, row.most, got, row.want)
		}
	}
}

func TestPrefixEndsWithCompleteCharacter(t *testing.T) {
	for _, row := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"größer", 3, "gr"},
		{"größer", 4, "grö"},
		{"a\U0001F600", 4, "a"},
		{"a\U0001F600", 0, ""},
		{"\U0001F600", 2, ""},
		{"\x80\x80\x80\x80\x80\x80\x80\x80", 6, "\x80\x80"}, // no text: its end is anywhere
	} {
		if got := Prefix(row.text, row.most); got != row.want {
			t.Errorf("%q in %d bytes: %q, want %q", row.text, row.most, got, row.want)
		}
	}
}
