package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
)

// style is how a character looks.
type style struct {
	bold, faint, italic, blink, reverse, hidden, strike bool
	underline                                           string // "", "single", "curly" …
	fg, bg, line                                        string // "", "1", "200" or "#a0b0c0"
	link                                                string
}

// fills reports whether a blank in this style is visible.
func (s style) fills() bool { return s.bg != "" || s.reverse || s.underline != "" || s.strike }

func (s style) String() string {
	var words []string
	for _, w := range []struct {
		on   bool
		name string
	}{
		{s.bold, "bold"},
		{s.faint, "faint"},
		{s.italic, "italic"},
		{s.blink, "blink"},
		{s.reverse, "reverse"},
		{s.hidden, "hidden"},
		{s.strike, "strike"},
		{s.underline == "single", "underline"},
		{s.underline != "" && s.underline != "single", "underline=" + s.underline},
		{s.fg != "", "fg=" + s.fg},
		{s.bg != "", "bg=" + s.bg},
		{s.line != "", "line=" + s.line},
		{s.link != "", "link=" + s.link},
	} {
		if w.on {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, " ")
}

var underlines = map[string]string{"0": "", "1": "single", "2": "double", "3": "curly", "4": "dotted", "5": "dashed"}

// set applies the arguments of SGR.
func (s *style) set(arguments string) {
	all := strings.Split(arguments, ";")
	for i := 0; i < len(all); i++ {
		n, sub, _ := strings.Cut(all[i], ":")
		switch n {
		case "", "0":
			*s = style{link: s.link}
		case "38", "48", "58":
			var parts []string
			if sub != "" {
				parts = strings.Split(sub, ":")
				if len(parts) == 5 { // with the number of a colour space
					parts = append(parts[:1], parts[2:]...)
				}
			} else {
				rest := all[i+1:]
				if len(rest) > 0 && rest[0] == "5" {
					parts = rest[:min(2, len(rest))]
				} else {
					parts = rest[:min(4, len(rest))]
				}
				i += len(parts)
			}
			s.colour(n, parts)
		case "4":
			s.underline = "single"
			if sub != "" {
				s.underline = underlines[sub]
			}
		default:
			s.simple(n)
		}
	}
}

func (s *style) colour(n string, parts []string) {
	colour := ""
	switch {
	case len(parts) == 2 && parts[0] == "5":
		colour = parts[1]
	case len(parts) == 4 && parts[0] == "2":
		var c [3]int
		for i := range c {
			c[i], _ = strconv.Atoi(parts[i+1])
		}
		colour = fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
	}
	switch n {
	case "38":
		s.fg = colour
	case "48":
		s.bg = colour
	default:
		s.line = colour
	}
}

func (s *style) simple(argument string) {
	n, _ := strconv.Atoi(argument)
	switch {
	case n == 1:
		s.bold = true
	case n == 2:
		s.faint = true
	case n == 3:
		s.italic = true
	case n == 5 || n == 6:
		s.blink = true
	case n == 7:
		s.reverse = true
	case n == 8:
		s.hidden = true
	case n == 9:
		s.strike = true
	case n == 21:
		s.underline = "double"
	case n == 22:
		s.bold, s.faint = false, false
	case n == 23:
		s.italic = false
	case n == 24:
		s.underline = ""
	case n == 25:
		s.blink = false
	case n == 27:
		s.reverse = false
	case n == 28:
		s.hidden = false
	case n == 29:
		s.strike = false
	case n >= 30 && n <= 37:
		s.fg = strconv.Itoa(n - 30)
	case n == 39:
		s.fg = ""
	case n >= 40 && n <= 47:
		s.bg = strconv.Itoa(n - 40)
	case n == 49:
		s.bg = ""
	case n == 59:
		s.line = ""
	case n >= 90 && n <= 97:
		s.fg = strconv.Itoa(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.bg = strconv.Itoa(n - 100 + 8)
	}
}
