package prove

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

// The same seed chooses the same, from all files, of different lines and operators; a larger number
// begins with what a smaller one chooses, so that a proof can be continued with more.
func TestChoose(t *testing.T) {
	files := func() (all [][]event.Mutant) {
		for file := range 3 {
			var found []event.Mutant
			for line := range 10 {
				for _, operator := range []string{"a", "b"} {
					found = append(found, event.Mutant{File: fmt.Sprint(file), Line: line, Operator: operator})
				}
			}
			all = append(all, found)
		}
		return all
	}
	first := choose(files(), 7, 12)
	if diff := cmp.Diff(first, choose(files(), 7, 12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, choose(files(), 7, 60)[:12]); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(first, choose(files(), 8, 12)) {
		t.Error("another seed chooses the same")
	}
	places, counts := map[string]bool{}, map[string]int{}
	for _, m := range first {
		places[fmt.Sprint(m.File, m.Line)] = true
		counts[m.File]++
		counts[m.Operator]++
	}
	if len(places) != 12 || counts["0"] != 4 || counts["1"] != 4 || counts["a"] != 6 {
		t.Errorf("%d places, %v", len(places), counts)
	}
	if all := choose(files(), 7, 1000); len(all) != 60 {
		t.Errorf("there are %d", len(all))
	}
}

// What compilers and interpreters print of a file that they cannot read, and what tests print that
// is about something else.
func TestDoesNotBuild(t *testing.T) {
	for _, c := range []struct {
		file, command, output string
		want                  bool
	}{
		{"a/cart.go", "go test ./...", "# x\n./cart.go:3:2: declared and not used: n\nFAIL\tx [build failed]\n", true},
		{"a/cart.go", "go vet ./...", "# x\n# [x]\nvet: ./cart.go:3:2: undefined: y\n", true},
		{"a/cart.go", "go vet ./...", "# x\n./cart.go:3:2: self-assignment of n to n\n", false},
		{"a/cart.go", "go build ./...", "", true},
		{"a/cart.go", "go build ./... && go test ./...", "--- FAIL: TestX\n    cart_test.go:3: syntax error expected\nFAIL\n", false},
		{"cart.py", "python -m unittest", "  File \"cart.py\", line 3\n    x = \n        ^\nSyntaxError: invalid syntax\n", true},
		{"cart.py", "pytest", "E     File \"/x/cart.py\", line 3\nE       x = \nE           ^\nE   SyntaxError: invalid syntax\n", true},
		{"cart.py", "pytest", "  File \"/x/cart.py\", line 3, in parse\n    ast.parse(text)\nSyntaxError: invalid syntax\n", false},
		{"cart.py", "python -m unittest", "NameError: name 'x' is not defined\n", false},
		{"cart.py", "python -m unittest", "AssertionError: 'SyntaxError: x' != ''\n", false},
		{"src/cart.ts", "npx tsc --noEmit", "", true},
		{"src/cart.ts", "npm test", "src/cart.ts(3,5): error TS2366: Function lacks ending return statement\n", true},
		{"src/cart.js", "node --test", "/x/src/cart.js:3\n  x = ;\n      ^\n\nSyntaxError: Unexpected token ';'\n    at wrapSafe (node:internal)\n", true},
		{"src/cart.js", "node --test", "undefined:1\n{\n\nSyntaxError: Unexpected end of JSON input\n    at JSON.parse (<anonymous>)\n", false},
		{"src/cart.js", "npx jest", "SyntaxError: /x/src/cart.js: Unexpected token (3:5)\n", true},
		{"src/cart.js", "node --test", "not ok 1 - parses\n  error: 'expected a SyntaxError'\n", false},
		{"cart.sh", "sh test.sh", "cart.sh: 3: Syntax error: \"fi\" unexpected\n", true},
		{"cart.sh", "bash test.sh", "./cart.sh: line 3: syntax error near unexpected token `fi'\n", true},
		{"cart.sh", "sh test.sh", "expected 1, got 2\n", false},
		{"src/cart.rs", "cargo test", "error[E0308]: mismatched types\n  --> src/cart.rs:3:5\n", true},
		{"src/cart.rs", "cargo test", "test price ... FAILED\nerror: test failed, to rerun pass `--lib`\n", false},
		{"Cart.java", "mvn test", "[ERROR] /x/Cart.java:[3,5] missing return statement\n", true},
		{"cart.c", "make test", "cart.c:3:5: error: expected ';'\n", true},
		{"cart.lua", "busted", "error\n", false},
	} {
		if got := doesNotBuild(c.file, c.command, outcome{output: c.output}); got != c.want {
			t.Errorf("%s, %q: %v for %q", c.file, c.command, got, c.output)
		}
	}
}

func TestPathsAreMoved(t *testing.T) {
	moved := movedTo("/p/a", "/t/$1", []string{"HOME=/p"})
	for text, want := range map[string]string{
		"PATH=/p/a/bin:/usr/bin:/p/a": "PATH=/t/$1/bin:/usr/bin:/t/$1",
		"/p/ab /p/a.b /p/a-b":         "/p/ab /p/a.b /p/a-b",
		"cd '/p/a' && x":              "cd '/t/$1' && x",
		"x":                           "x",
	} {
		if got := moved(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := movedTo("/p", "/t", []string{"HOME=/p"})("/p/x"); got != "/p/x" {
		t.Errorf("a home folder became %q", got)
	}
}

// Lines that changed, also of files with odd names, and of one that was renamed.
func TestChangedLines(t *testing.T) {
	w := testgit.Unborn(t)
	long := strings.Repeat("a line that is here before and after\n", 10)
	w.Write("old.txt", long)
	w.Write("a", "1\n2\n3\n+++ b/x\n")
	w.Write("gone", "something else altogether\n")
	start := w.Commit("The start.")
	w.Remove("old.txt")
	w.Remove("gone")
	w.Write("new.txt", long+"more\n")
	w.Write("a", "1\n+++ b/y\n3\n4\n+++ b/x")
	w.Write("odd \"ä\t.txt", "x\ny\n")
	got, err := changedLines(t.Context(), repo.In(w.Dir), start, w.Commit("The end."))
	testfile.Must(t, err)
	want := map[string]map[int]bool{
		"a": {2: true, 4: true, 5: true}, "new.txt": {11: true}, "odd \"ä\t.txt": {1: true, 2: true}, "/dev/null": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A check is what a guardrail is to run; a program whose output it judges is none.
func TestChecksAreNamed(t *testing.T) {
	s := states{dir: "sub", commands: []string{"./ci.sh --all", "test \"$(sh price.sh)\" = 3", "cd x && python3 sub/all.py"}}
	for name, want := range map[string]bool{"ci.sh": true, "sub/ci.sh": true, "price.sh": false, "sub/all.py": true, "other/ci.sh": false} {
		if got := s.isNamed(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
