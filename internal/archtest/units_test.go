package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// spelled are amounts that are spelled in the code: money as a format, and a duration whose zero
// units are cut off. A duration that is printed as it is does not look like one here; what a person
// reads is spelled by internal/units.
var spelled = regexp.MustCompile(`\$%(?:\.[0-9])?[a-z]|"m0s"|"h0m"|%\.[0-9]f[smh"]`)

func TestAmountsHaveOneHome(t *testing.T) {
	const root, home = "../..", "internal/units"
	found := false
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata" || name == "tools"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/agent/agenttest"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		what := spelled.Find(text)
		switch {
		case what != nil && filepath.ToSlash(filepath.Dir(name)) == home:
			found = true
		case what != nil:
			t.Errorf("%s spells an amount itself (%s); package %s does so", name, what, home)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Errorf("%s spells no amount: this test looks for the wrong thing", home)
	}
}
