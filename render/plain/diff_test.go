package plain_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

func TestDiffs(t *testing.T) {
	many := strings.Repeat("x\\n", 40)
	for name, c := range map[string]struct{ name, input, want string }{
		"Claude Code's edit": {
			"Edit", `{"file_path":"x.go","old_string":"a\nb\nc\nd\ne","new_string":"a\nb\nC\nd\ne"}`,
			"- Edit  x.go  -5 +5\n    b\n  - c\n  + C\n    d\n",
		},
		"several": {
			"MultiEdit", `{"file_path":"x.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}`,
			"- MultiEdit  x.go\n  - a\n  + b\n  - c\n",
		},
		"pi's edit": {
			"edit", `{"path":"x.go","edits":[{"oldText":"a","newText":"b"}]}`,
			"- edit  x.go\n  - a\n  + b\n",
		},
		"a file that is written": {"Write", `{"file_path":"x.go","content":"one\n\tif"}`, "- Write  x.go\n  + one\n  +     if\n"},
		"Codex's changes": {
			"apply_patch", `{"changes":[{"path":"n","kind":{"type":"add"},"diff":"new\n"},{"path":"o","kind":{"type":"update"},"diff":"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"}]}`,
			"  + new\n    a\n  - b\n  + c\n",
		},
		"what is long is cut": {"Write", `{"path":"x","content":"` + many + `"}`, "- Write  x\n" + strings.Repeat("  + x\n", 12) + "  … 28 more lines of the change\n"},
		"hostile text is clean": {
			"Write", `{"path":"x","content":"\u001b[2Jred\u001b]0;t\u0007\u0008` + strings.Repeat("y", 100) + `"}`,
			"- Write  x\n  + red␈" + strings.Repeat("y", 51) + "…\n",
		},
		"no change":            {"Bash", `{"command":"make","content":"x","edits":3}`, "- Bash  make\n"},
		"the same":             {"Edit", `{"file_path":"x","old_string":"a","new_string":"a"}`, "- Edit  x  -1 +1\n"},
		"input that is broken": {"Edit", `"x"`, "- Edit  x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, diffs := range []bool{true, false} {
				var out bytes.Buffer
				text := plain.New(&out, render.Options{Width: 60, Diffs: diffs})
				for _, e := range script(event.ToolCalled{ID: "a", Name: c.name, Input: []byte(c.input)}) {
					if err := text.Event(e); err != nil {
						t.Fatal(err)
					}
				}
				if err := text.Close(); err != nil {
					t.Fatal(err)
				}
				switch got := out.String(); {
				case diffs && !strings.HasSuffix(got, c.want):
					t.Errorf("%s\nmust end with\n%s", got, c.want)
				case !diffs && strings.Count(got, "\n") != 1:
					t.Errorf("without diffs:\n%s", got)
				}
			}
		})
	}
}

// A large edit takes no time that a person would notice.
func TestLargeEditsAreNotCompared(t *testing.T) {
	var out bytes.Buffer
	text := plain.New(&out, render.Options{Diffs: true})
	input := fmt.Sprintf(`{"file_path":"x","old_string":%q,"new_string":%q}`, strings.Repeat("a\n", 100_000), strings.Repeat("b\n", 100_000))
	if err := text.Event(script(event.ToolCalled{ID: "a", Name: "Edit", Input: []byte(input)})[0]); err != nil {
		t.Fatal(err)
	}
	if err := text.Close(); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v: %.200s", err, out.String())
	}
}
