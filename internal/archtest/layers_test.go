package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of packages in docs/concepts/architecture.md is generated: the sentence of each package
// is that of its doc comment.
func packagesTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| layer | package | what it does |\n|---|---|---|\n")
	pkgs := load(t)
	for _, l := range layers {
		may := "nothing"
		if l.may != "" {
			may = strings.ReplaceAll(l.may, " ", ", ")
		}
		fmt.Fprintf(&b, "| **%s** | | %s. *May import %s: %s.* |\n", l.name, l.does, may, l.why)
		for _, p := range pkgs {
			if layerOf(p.path).name == l.name {
				fmt.Fprintf(&b, "| | `%s` | %s |\n", p.path, escape(strings.TrimSuffix(p.does, ".")))
			}
		}
	}
	return b.String()
}

// architecturePage returns the page of the architecture with its table of packages as it should be.
func architecturePage(t *testing.T) string {
	page, err := os.ReadFile(filepath.Join(root, "docs/concepts/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- packages: generated from the source by `make docs` -->\n\n", "<!-- end of packages -->"
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("docs/concepts/architecture.md has no place for the table of packages: it begins with %q and ends with %q", begin, end)
	}
	return head + begin + packagesTable(t) + "\n" + end + tail
}

// Pages name packages and files of this repository that exist.
func TestNamedPathsExist(t *testing.T) {
	named := regexp.MustCompile(`\binternal/[a-z][a-z0-9]*(?:/[\w.]*\w)*`)
	found := 0
	eachText(t, func(name, text string) {
		if !strings.HasSuffix(name, ".md") {
			return
		}
		for _, path := range named.FindAllString(text, -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s names %s, which does not exist: write where that is now", name, path)
			}
		}
	})
	if found < 100 {
		t.Errorf("only %d paths were found", found)
	}
}
