package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/manual"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
)

func wholeManual(t *testing.T) manual.Manual {
	t.Helper()
	parser, err := commands().Parser(nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return manual.Of(parser.Model)
}

func TestPublishedManualIsCurrent(t *testing.T) {
	golden.Check(t, "../../docs/reference/commands.md", wholeManual(t).Markdown())
}

// TestManualPagesAreValid has mandoc read the pages: it reports what man would show wrongly.
func TestManualPagesAreValid(t *testing.T) {
	pages := wholeManual(t).Pages("1.0", "2026-11-21")
	if len(pages) < 25 {
		t.Errorf("%d pages", len(pages))
	}
	dir := t.TempDir()
	args := []string{"-Tlint", "-Wwarning"}
	for _, page := range pages {
		file := filepath.Join(dir, page.Name)
		if err := os.WriteFile(file, []byte(page.Roff), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
		for line := range strings.Lines(page.Roff) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ". ") || strings.Contains(line, "…") {
				t.Errorf("%s: %q", page.Name, line)
			}
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed: .ci/run installs it")
	}
	if out, err := exec.CommandContext(t.Context(), "mandoc", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
