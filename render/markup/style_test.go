package markup_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/render/markup"
)

var colour = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6});`)

// palettes returns the colours of light and of dark screens.
func palettes(t *testing.T) (light, dark map[string]string) {
	t.Helper()
	css := markup.Stylesheet()
	before, after, ok := strings.Cut(css, "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there is no dark palette")
	}
	after, _, _ = strings.Cut(after, "}")
	read := func(css string) map[string]string {
		colours := map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(css, -1) {
			colours[m[1]] = m[2]
		}
		return colours
	}
	return read(before), read(after)
}

// What a person reads has a contrast of at least 4.5 to its background: WCAG 2.2, level AA.
func TestContrast(t *testing.T) {
	light, dark := palettes(t)
	if len(light) < 15 || len(light) != len(dark) {
		t.Fatalf("%d light and %d dark colours", len(light), len(dark))
	}
	for name, colours := range map[string]map[string]string{"light": light, "dark": dark} {
		for _, ground := range []string{"page", "block"} {
			for _, text := range []string{"text", "dim", "link", "good", "bad", "warning", "keyword", "string", "comment", "number", "type", "function"} {
				if c := contrast(colours[text], colours[ground]); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, c)
				}
			}
		}
		for _, ground := range []string{"added", "removed", "marked"} {
			for _, text := range []string{"text", "link"} {
				if c := contrast(colours[text], colours[ground]); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, c)
				}
			}
		}
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) float64 {
	part := func(from int) float64 {
		n, err := strconv.ParseUint(hex[from:from+2], 16, 8)
		if err != nil {
			return 0
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(0) + 0.7152*part(2) + 0.0722*part(4)
}

func TestStylesheetLoadsNothing(t *testing.T) {
	for _, word := range []string{"url(", "@import", "http:", "https:"} {
		if strings.Contains(markup.Stylesheet(), word) {
			t.Errorf("the style sheet has %s", word)
		}
	}
}
