package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

func TestIgnoreAddsOneLine(t *testing.T) {
	for name, row := range map[string]struct{ found, above, want string }{
		"an empty file":            {"", "", ".ralph-active\n"},
		"after other lines":        {"bin/\n", "", "bin/\n.ralph-active\n"},
		"after an unfinished line": {"bin/", "", "bin/\n.ralph-active\n"},
		"with Windows lines":       {"bin/\r\nout/", "", "bin/\r\nout/\r\n.ralph-active\r\n"},
		"not twice":                {"a\n.ralph-active\nb", "", "a\n.ralph-active\nb"},
		"not twice on Windows":     {".ralph-active\r\n", "", ".ralph-active\r\n"},
		"not beside an anchor":     {"/.ralph-active", "", "/.ralph-active"},
		"not below a pattern":      {"a\n", "**/.ralph-active\n", "a\n"},
		"not below the same":       {"a\n", ".ralph-active\n", "a\n"},
		"below another's anchor":   {"a\n", "/.ralph-active\n", "a\n.ralph-active\n"},
		"beside a comment":         {"# .ralph-active\n", "", "# .ralph-active\n.ralph-active\n"},
		"beside a longer name":     {".ralph-active-x\n", "", ".ralph-active-x\n.ralph-active\n"},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "project")
			testfile.Write(t, filepath.Join(above, ".gitignore"), row.above)
			testfile.Write(t, filepath.Join(dir, ".gitignore"), row.found)
			added, err := plan.Ignore(dir, above)
			if got := text(t, filepath.Join(dir, ".gitignore")); err != nil || got != row.want || added != (row.found != row.want) {
				t.Errorf("%q, want %q; added %v, %v", got, row.want, added, err)
			}
			if again, err := plan.Ignore(dir, above); again || err != nil {
				t.Errorf("a second time: %v, %v", again, err)
			}
		})
	}
}

func TestIgnoreMakesTheFile(t *testing.T) {
	dir := t.TempDir()
	if added, err := plan.Ignore(dir, dir); !added || err != nil {
		t.Fatal(added, err)
	}
	if got := text(t, filepath.Join(dir, ".gitignore")); got != ".ralph-active\n" {
		t.Errorf("%q", got)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, ".gitignore")), os.Mkdir(filepath.Join(dir, ".gitignore"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if added, err := plan.Ignore(dir, dir); added || err == nil {
		t.Errorf("a folder: %v", err)
	}
}
