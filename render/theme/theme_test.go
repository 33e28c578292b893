package theme

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

func TestColorsFollowEnvironment(t *testing.T) {
	for _, tt := range []struct {
		environ string
		want    Colors
	}{
		{"TERM=xterm-256color", colorprofile.ANSI256},
		{"TERM=xterm-256color COLORTERM=truecolor", colorprofile.TrueColor},
		{"TERM=xterm-256color NO_COLOR=yes", colorprofile.ASCII},
		{"TERM=xterm-256color NO_COLOR=1 CLICOLOR_FORCE=1", colorprofile.ASCII},
		{"TERM=dumb", colorprofile.NoTTY},
		{"TERM=dumb CLICOLOR_FORCE=1", colorprofile.ANSI},
	} {
		if got := ColorsOf(strings.Fields(tt.environ)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.environ, got, tt.want)
		}
	}
}

// Each style of a theme is different from plain text where there are colours, and no style has a
// colour without.
func TestThemesHaveAllStyles(t *testing.T) {
	for _, dark := range []bool{true, false} {
		full, plain, none := New(dark, colorprofile.TrueColor), New(dark, colorprofile.ASCII), New(dark, colorprofile.NoTTY)
		eachStyle(reflect.ValueOf(full), func(name string, s Style) {
			if name != "Text" && s.Open() == "" {
				t.Errorf("style %s has no look", name)
			}
		})
		eachStyle(reflect.ValueOf(plain), func(name string, s Style) {
			if strings.ContainsAny(s.Open(), "34") && s.Open() != "\x1b[3m" && s.Open() != "\x1b[4m" && s.Open() != "\x1b[3;2m" {
				t.Errorf("style %s has a colour: %q", name, s.Open())
			}
		})
		if none != (Theme{Dark: dark}) {
			t.Errorf("a terminal without styles gets %+v", none)
		}
	}
}

func eachStyle(v reflect.Value, visit func(string, Style)) {
	for i := range v.NumField() {
		switch field := v.Field(i).Interface().(type) {
		case Style:
			visit(v.Type().Field(i).Name, field)
		case Code:
			eachStyle(v.Field(i), visit)
		}
	}
}

func TestStyleEndsWithLine(t *testing.T) {
	s := Style{"\x1b[1m"}
	if got := s.Render("a\nb"); got != "\x1b[1ma\x1b[m\n\x1b[1mb\x1b[m" {
		t.Errorf("%q", got)
	}
	if got := s.Render("") + (Style{}).Render("c"); got != "c" {
		t.Errorf("%q", got)
	}
}
