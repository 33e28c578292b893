package units

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cut returns a text of at most so many characters. A shortened one ends with an ellipsis, with no
// blank before it.
func Cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}

// Prefix returns at most so many bytes of a text. It ends with a complete character, where the text
// is valid UTF-8.
func Prefix[T string | []byte](text T, most int) T {
	if len(text) <= most {
		return text
	}
	end := most
	for end > max(most-utf8.UTFMax, 0) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// FirstLine is the first line of a text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Quantity spells a number of things: 1 file, 3 files, 2 boxes.
func Quantity(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"), strings.HasSuffix(what, "x"):
		what += "es"
	case strings.HasSuffix(what, "ry"): // story, entry; a day has days
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Times spells how often something happened: once, 3 times.
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
