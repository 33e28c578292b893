package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/render"
)

func TestWelcomeFitsTerminal(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for _, known := range preflight.Agents() {
		whole := welcome(known.Program, 0)
		for _, want := range []string{"ralph doctor", "ralph init", "ralph start -a " + known.Program + " -p 'TASK'", "ralph help"} {
			if !strings.Contains(whole, want) {
				t.Errorf("%q is missing in\n%s", want, whole)
			}
		}
		for _, width := range []int{40, 80, 200} {
			got := welcome(known.Program, width)
			for line := range strings.Lines(got) {
				if n := render.Columns(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			if words(got) != words(whole) {
				t.Errorf("in %d columns it says\n%s\nand not\n%s", width, got, whole)
			}
		}
	}
}
