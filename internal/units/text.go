package units

import (
	"fmt"
	"strconv"
	"strings"
)

// Cut shortens a text to so many characters, the last of which is then an ellipsis.
func Cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
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
