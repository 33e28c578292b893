package render_test

import (
	"testing"

	"github.com/ralph-loop/ralph/render"
)

func TestCut(t *testing.T) {
	for got, want := range map[string]string{
		render.Cut("short", 10): "short", render.Cut("exactly ten", 11): "exactly ten", render.Cut("too long a text", 8): "too lon…",
		render.Cut("値段の計算", 6): "値段…", render.Cut("値段の", 6): "値段の", render.Cut("any", 0): "any", render.Cut("any", 1): "…",
		render.CutStart("the end", 3): "end", render.CutStart("値段の", 5): "段の", render.CutStart("short", 10): "short",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
