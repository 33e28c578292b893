package plan_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

func TestPlaceholdersAreReplaced(t *testing.T) {
	for text, want := range map[string]string{
		"iteration $RALPH_ITERATION of $RALPH_MAX_ITERATIONS": "iteration 3 of 15",
		"${RALPH_ITERATION}/${RALPH_MAX_ITERATIONS}.":         "3/15.",
		"$RALPH_ITERATION$RALPH_ITERATION":                    "33",
		"$RALPH_ITERATIONS $RALPH_ITERATION_LOG $HOME $ $$":   "$RALPH_ITERATIONS $RALPH_ITERATION_LOG $HOME $ $$",
		"${RALPH_ITERATION $RALPH_ITERATION}":                 "${RALPH_ITERATION 3}",
		"":                                                    "",
	} {
		if got := plan.Fill(text, 3, 15); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := plan.Fill("$RALPH_MAX_ITERATIONS", 1, 0); got != "unlimited" {
		t.Errorf("%q", got)
	}
}

func TestAdditionsHaveNoComments(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- a -->\n":                            "",
		"a\n<!-- b\nc -->\nd\n":                   "a\nd",
		"<!-- a --> b":                            "b",
		"<!-- a --><!-- b -->\r\nc":               "c",
		"a <!-- within a line --> b":              "a <!-- within a line --> b",
		"<!-- open\na":                            "<!-- open\na",
		"```html\n<!-- code -->\n```\n<!-- a -->": "```html\n<!-- code -->\n```",
		"~~~\n```\n<!-- code -->\n~~~":            "~~~\n```\n<!-- code -->\n~~~",
		"  <!-- a -->\n\n  b $RALPH_ITERATION":    "b 2",
	} {
		if got := plan.Additions(text, 2, 0); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
