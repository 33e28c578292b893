package mutant_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/prove/mutant"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

func all(int) bool { return true }

// show is a mutant as the golden files have it.
func show(m event.Mutant) string {
	now := "  + " + strings.ReplaceAll(m.Now, "\n", "\n  + ")
	if m.Now == "" {
		now = "  (removed)"
	}
	return fmt.Sprintf("%d %s\n  - %s\n%s\n", m.Line, m.Operator, strings.ReplaceAll(m.Was, "\n", "\n  - "), now)
}

// The golden file of each source has its mutants, all of its lines being changed. What is not there
// is a line that has none: imports, comments, logs, declarations.
func TestMutantsOfLanguages(t *testing.T) {
	sources, err := filepath.Glob("testdata/source.*")
	if err != nil || len(sources) < 12 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, name := range sources {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, m := range mutant.Find(filepath.Base(name), string(text), all) {
				got.WriteString(show(m))
				changed, ok := mutant.Apply(string(text), m)
				if !ok || changed == string(text) {
					t.Errorf("%s does not change the text", show(m))
				}
			}
			golden.Check(t, name+".golden", got.String())
		})
	}
}

// Only lines that changed have mutants; a function that did not change altogether is not emptied.
func TestOnlyChangedLines(t *testing.T) {
	const text = "def f(a):\n    b = a + 1\n    c = b * 2\n    return c\n"
	for _, m := range mutant.Find("f.py", text, func(line int) bool { return line == 3 }) {
		if m.Line != 3 || m.Operator == mutant.EmptiedBody {
			t.Errorf("a mutant of another line:\n%s", show(m))
		}
	}
	if got := mutant.Find("f.py", text, func(int) bool { return false }); len(got) > 0 {
		t.Errorf("nothing changed, and there are %d", len(got))
	}
}

// What removes folders or ends processes is not changed: a mutant would do it elsewhere.
func TestHarmIsNotDone(t *testing.T) {
	for name, text := range map[string]string{
		"a.sh": "dir=$1\nrm -f -r \"$dir/x\"\n", "b.sh": "n=1\nkill -9 \"$n\"\n", "c.sh": "n=1\nfind \"$n\" -name x -delete\n",
		"a.py": "import shutil\nd = 'x'\nshutil.rmtree(d)\n", "a.go": "package a\n\nfunc f(d string) { os.RemoveAll(d + \"/x\") }\n",
		"a.js": "const d = 'x';\nfs.rmSync(d, { recursive: true });\n", "a.rs": "fn f() {\n    let n = 1;\n    fs::remove_dir_all(n);\n}\n",
	} {
		if got := mutant.Find(name, text, all); len(got) > 0 {
			t.Errorf("%s: %s", name, show(got[0]))
		}
	}
	for name, text := range map[string]string{"d.sh": "n=1\nrm -f \"$n\"\n", "b.js": "const d = 'x';\nfs.mkdirSync(d, { recursive: true });\n"} {
		if got := mutant.Find(name, text, all); len(got) == 0 {
			t.Errorf("%s does no harm, and has no mutant", name)
		}
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		text, want string
		m          event.Mutant
	}{
		{"a\nb\nc\n", "a\nX\nc\n", event.Mutant{Line: 2, Was: "b", Now: "X"}},
		{"a\nb\nc\n", "a\nc\n", event.Mutant{Line: 2, Was: "b"}},
		{"a\r\nb\r\nc\r\n", "a\r\nX\r\nc\r\n", event.Mutant{Line: 2, Was: "b", Now: "X"}},
		{"a\nb\nc", "a\nX", event.Mutant{Line: 2, Was: "b\nc", Now: "X"}},
		{"a\nbb\n", "", event.Mutant{Line: 2, Was: "b", Now: "X"}},
		{"a\n", "", event.Mutant{Line: 9, Was: "b", Now: "X"}},
	} {
		got, ok := mutant.Apply(c.text, c.m)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q with %v: %q, %v", c.text, c.m, got, ok)
		}
	}
}

// Any text in any language has mutants that can be applied, and no panic.
func FuzzFind(f *testing.F) {
	names := []string{"x.go", "x.py", "x.ts", "x.sh", "x.rb", "x.rs", "x.java", "x.php", "x.kt", "x.swift", "x.cs", "x.c", "x"}
	for i := range names {
		f.Add(i, "if (a < b) {\n\treturn 'x' + `y`;\n}\ncat <<E\nx\nE\n")
		f.Add(i, "x = 1\r")
		f.Add(i, "func f(\n\ta int) {\n\tx = 1\n\ty = 2\n}")
		f.Add(i, "def f():\n  '''x\n\n  '''\n  return 1\n  # '")
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		name := names[max(which, -which)&0xff%len(names)]
		for _, m := range mutant.Find(name, text, all) {
			if changed, ok := mutant.Apply(text, m); !ok || strings.TrimSpace(changed) == strings.TrimSpace(text) {
				t.Fatalf("%s: %q is not changed by %s", name, text, show(m))
			}
		}
	})
}
