package render_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/render"
)

func TestDiffLinesAreNumbered(t *testing.T) {
	for input, want := range map[string][]int{
		`{"path":"a","content":"x\ny\n"}`:     {1, 2},
		`{"old_string":"x","new_string":"y"}`: {0, 0},
		`{"changes":[{"kind":{"type":"update"},"diff":"@@ -10,3 +20,3 @@ f\n a\n-b\n+c\n d\n@@ -40 +50 @@\n-e\n"}]}`: {20, 11, 21, 22, 40},
		`{"changes":[{"kind":{"type":"update"},"diff":"@@ odd\n+a\n"}]}`:                                             {0},
	} {
		var got []int
		for _, line := range render.Diff([]byte(input)) {
			got = append(got, line.Line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", input, got, want)
		}
	}
}
