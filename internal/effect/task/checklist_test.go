package task_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/effect/task"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

func TestChecklist(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want task.Boxes
	}{
		"an empty text has none":                       {"", task.Boxes{}},
		"open and ticked boxes":                        {"- [ ] a\n- [x] b\n", task.Boxes{Total: 2, Ticked: 1, Open: []string{"a"}}},
		"a large X ticks as well":                      {"* [X] a", task.Boxes{Total: 1, Ticked: 1}},
		"every kind of list has boxes":                 {"* [ ] a\n\n+ [x] b\n\n- [ ] c\n\n1. [ ] d\n2) [x] e", task.Boxes{Total: 5, Ticked: 2, Open: []string{"a", "c", "d"}}},
		"nested lists count":                           {"- [x] a\n  - [ ] b\n    1. [ ] c\n- d\n  - [x] e\n", task.Boxes{Total: 4, Ticked: 2, Open: []string{"b", "c"}}},
		"a list with empty lines within counts":        {"- [ ] a\n\n- [x] b\n\n  more of b\n", task.Boxes{Total: 2, Ticked: 1, Open: []string{"a"}}},
		"a fenced block does not":                      {"```\n- [ ] a\n```\n~~~ md\n- [ ] b\n~~~\n", task.Boxes{}},
		"an indented block does not":                   {"text\n\n    - [ ] a\n", task.Boxes{}},
		"a fence that is never closed hides the rest":  {"- [ ] a\n\n```\n- [ ] b\n", task.Boxes{Total: 1, Open: []string{"a"}}},
		"a fence in an item ends with the item":        {"- [ ] a\n  ```\n  - [ ] b\n- [ ] c\n", task.Boxes{Total: 2, Open: []string{"a", "c"}}},
		"a code span does not":                         {"- `[ ] a`\n- `- [ ] b`\n", task.Boxes{}},
		"a quote does not":                             {"> - [ ] a\n>   - [ ] b\n", task.Boxes{}},
		"a quote within a list does not":               {"- [ ] a\n  > - [ ] b\n  > > 1. [ ] c\n- [ ] d\n", task.Boxes{Total: 2, Open: []string{"a", "d"}}},
		"a list within a quote within a list does not": {"- > a\n  >\n  > - [ ] b\n", task.Boxes{}},
		"a comment does not":                           {"<!--\n- [ ] a\n\n- [ ] b\n-->\n- [ ] c\n", task.Boxes{Total: 1, Open: []string{"c"}}},
		"an HTML block does not":                       {"<ul>\n- [ ] a\n</ul>\n\n<pre>\n\n- [ ] b\n</pre>\n", task.Boxes{}},
		"Markdown between HTML blocks does":            {"<details>\n\n- [ ] a\n\n</details>\n", task.Boxes{Total: 1, Open: []string{"a"}}},
		"a box without text counts":                    {"- [ ]\n- [x]\n- [ ] \n", task.Boxes{Total: 3, Ticked: 1, Open: []string{"", ""}}},
		"a box on the line below its bullet counts":    {"-\n  [ ] a\n", task.Boxes{Total: 1, Open: []string{"a"}}},
		"no list, no box":                              {"[ ] a\n\n[x] b\n", task.Boxes{}},
		"not at the beginning, no box":                 {"- a [ ]\n- a\n  [ ] b\n- a\n\n  [ ] c\n", task.Boxes{}},
		"a heading in an item is no box":               {"- # [ ] a\n", task.Boxes{}},
		"something else in the brackets is no box":     {"- [] a\n- [  ] b\n- [y] c\n- [✓] d\n- [-] e\n- \\[ ] f\n", task.Boxes{}},
		"a link is no box":                             {"- [x](page.md)\n- [ ](page.md)\n- [x]: page.md\n- [x][y]\n", task.Boxes{}},
		"a tab may replace the spaces":                 {"-\t[ ]\ta\n-\t[x]\tb\n", task.Boxes{Total: 2, Ticked: 1, Open: []string{"a"}}},
		"lines may end as on Windows":                  {"- [ ] a\r\n- [x] b\r\n\r\n- [ ] c\r\n", task.Boxes{Total: 3, Ticked: 1, Open: []string{"a", "c"}}},
		"a byte order mark is not text":                {"\ufeff- [ ] a\n", task.Boxes{Total: 1, Open: []string{"a"}}},
		"the text is that of the box's own line":       {"- [ ]   **a** `b`  \n  and more\n", task.Boxes{Total: 1, Open: []string{"**a** `b`"}}},
		"any number of empty lines changes nothing":    {"- [ ] a\n\n\n\n\n\n  - [ ] b\n\n\n \n\t\n\n- [x] c\n", task.Boxes{Total: 3, Ticked: 1, Open: []string{"a", "b"}}},
		"bytes that are no UTF-8 are replaced":         {"- [ ] a\xffb\n", task.Boxes{Total: 1, Open: []string{"a\ufffdb"}}},
		"a long text is cut":                           {"- [ ] " + strings.Repeat("é", 150), task.Boxes{Total: 1, Open: []string{strings.Repeat("é", 98) + "…"}}},
		"a text of exactly the bound is not":           {"- [ ] " + strings.Repeat("é", 100), task.Boxes{Total: 1, Open: []string{strings.Repeat("é", 100)}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, task.Checklist([]byte(row.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenBoxesAreBounded(t *testing.T) {
	var text strings.Builder
	for n := range task.MaxOpen + 5 {
		fmt.Fprintf(&text, "- [ ] step %d\n", n)
	}
	boxes := task.Checklist([]byte(text.String()))
	if boxes.Total != task.MaxOpen+5 || len(boxes.Open) != task.MaxOpen || boxes.Open[task.MaxOpen-1] != fmt.Sprintf("step %d", task.MaxOpen-1) {
		t.Errorf("%+v", boxes)
	}
}

// Each of these would take hours, gigabytes or all of the stack if it were parsed without bounds.
func TestHostileTextsCostLittle(t *testing.T) {
	const size = 128 << 10
	again := func(head, s string) []byte { return []byte(head + strings.Repeat(s, size/len(s))) }
	var staircase bytes.Buffer
	for n := 0; staircase.Len() < size; n++ {
		fmt.Fprintf(&staircase, "%*s- [ ] a\n", 2*n, "")
	}
	for name, text := range map[string][]byte{
		"lists within lists on one line":       again("", "+ "),
		"stars, which may be a thematic break": append(again("", "* "), 'x'),
		"quotes within quotes":                 again("", ">"),
		"lists and quotes in turns":            again("", "> - "),
		"empty items":                          again("", "-\n"),
		"empty lines below a deep list":        again(strings.Repeat("+ ", 500)+"a\n", "\n"),
		"blank lines below a deep list":        again(strings.Repeat("+ ", 500)+"a\n", " \n"),
		"lines deep within a list":             again(strings.Repeat("+ ", 500)+"a\n", strings.Repeat("\t", 16)+"a\n"),
		"a staircase":                          staircase.Bytes(),
		"boxes":                                again("", "- [ ] a\n"),
		"one line":                             again("- [ ] ", "a"),
		"headings":                             again("", "a\n-\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			boxes := task.Checklist(text)
			runtime.ReadMemStats(&after)
			// Allocated in all, of which the tree is what is held at once.
			if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text)); each > 400 {
				t.Errorf("%d bytes were allocated for each of the text", each)
			}
			for _, open := range boxes.Open {
				if len(open) > task.MaxOpenText {
					t.Errorf("%d bytes of text", len(open))
				}
			}
		})
	}
}

// fragments are what random documents are made of.
var fragments = []string{
	"- ", "* ", "+ ", "1. ", "2) ", "[ ] ", "[x] ", "[X] ", "a", "b c", "\n", "\n", "\n\n", "  ", "    ", "\t", "> ", "```", "~~~", "`",
	"<!--", "-->", "<div>", "</div>", "# ", "---", "===", "\\", "é", "\xff", "\r\n",
}

// All of goldmark with its own task lists is the oracle.
func TestBoxesMatchGoldmarkExtension(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.TaskList))
	rapid.Check(t, func(t *rapid.T) {
		source := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 40).Draw(t, "fragments"), ""))
		var want task.Boxes
		err := ast.Walk(md.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if n.Kind() == ast.KindBlockquote {
				return ast.WalkSkipChildren, nil
			}
			// The extension wants no white space after a box, and finds one in a heading too.
			box, ok := n.(*extast.TaskCheckBox)
			if ok && entering && n.Parent().Kind() != ast.KindHeading && spaceBehind(n.Parent().Lines().Value(source)) {
				want.Total++
				if box.IsChecked {
					want.Ticked++
				}
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := task.Checklist(source); got.Total != want.Total || got.Ticked != want.Ticked {
			t.Fatalf("%q: %d of %d, want %d of %d", source, got.Ticked, got.Total, want.Ticked, want.Total)
		}
	})
}

func spaceBehind(paragraph []byte) bool {
	paragraph = bytes.TrimSpace(paragraph)
	return len(paragraph) == 3 || len(bytes.TrimSpace(paragraph[3:4])) == 0
}

func FuzzChecklist(f *testing.F) {
	f.Add([]byte("- [ ] a\n  - [x] b\n> - [ ] c\n"))
	f.Add([]byte("-\n\n\n  [ ] a\n1.\t[X]\n<!-- - [ ] b -->\n```\n- [ ] c"))
	f.Fuzz(func(t *testing.T, source []byte) {
		boxes := task.Checklist(source)
		if boxes.Ticked > boxes.Total || len(boxes.Open) != min(boxes.Total-boxes.Ticked, task.MaxOpen) {
			t.Errorf("%+v", boxes)
		}
		for _, open := range boxes.Open {
			if len(open) > task.MaxOpenText || !utf8.ValidString(open) || strings.Contains(open, "\n") {
				t.Errorf("%q", open)
			}
		}
		// One more item before the text adds one box, and changes no other.
		more := task.Checklist(append([]byte("- [ ] first\n\n---\n\n"), bytes.TrimPrefix(source, []byte("\ufeff"))...))
		if more.Total != boxes.Total+1 || more.Ticked != boxes.Ticked {
			t.Errorf("%q: one more box makes %+v of %+v", source, more, boxes)
		}
	})
}
