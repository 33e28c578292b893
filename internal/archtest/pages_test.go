package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every link of a page to a file of this repository, or to a heading of such a page, has a target.
func TestLinksHaveTargets(t *testing.T) {
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, hidden := entry.Name(), strings.HasPrefix(entry.Name(), ".") && path != root
		if entry.IsDir() && (hidden || slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, name)) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = fenced.ReplaceAllStringFunc(string(text), blank)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 40 {
		t.Fatalf("only %d pages", len(pages))
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, heading, _ := strings.Cut(m[1], "#")
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which does not exist", strings.TrimPrefix(page, root+"/"), m[1])
			} else if heading != "" && !slices.Contains(anchors(pages[path]), heading) {
				t.Errorf("%s links to %s, which has no such heading", strings.TrimPrefix(page, root+"/"), m[1])
			}
		}
	}
}

// anchors returns the names that the headings of a page can be linked by.
func anchors(page string) []string {
	var names []string
	kept := regexp.MustCompile(`[^\p{L}\p{N}\- ]`)
	for line := range strings.Lines(page) {
		if text, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			name := kept.ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return names
}

// testRun is a command that runs some tests of one package, which may be of a nested module. Those
// of a story have a slash.
var testRun = regexp.MustCompile("go (?:-C (\\S+) )?test \\./(\\S+) -run ('[^'`/]+'|[^'`/\\s]+)`")

// declaresTest reports whether a test file in a folder has what the pattern says.
func declaresTest(t *testing.T, dir string, pattern *regexp.Regexp) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && pattern.Match(text)
	})
}

// The threat model names stories and tests as the proof of what it says.
func TestThreatModelNamesTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/concepts/threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, m := range testRun.FindAllStringSubmatch(string(text), -1) {
		pattern := strings.ReplaceAll(strings.Trim(m[3], "'"), `\|`, "|") // as in the cell of a table
		for name := range strings.SplitSeq(pattern, "|") {                // each of them
			if !declaresTest(t, filepath.Join(root, m[1], m[2]), regexp.MustCompile(`(?m)^func Test\w*(?:`+name+`)`)) {
				t.Errorf("%s: %s has no test %s", m[0], m[2], name)
			}
		}
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[3]) == "shown by" {
			continue
		}
		for _, proof := range strings.Split(cells[3], ", ") {
			name := strings.Trim(strings.TrimSpace(proof), "`")
			if strings.ContainsAny(name, " []") {
				continue // a command or a page
			}
			named++
			if _, err := os.Stat(filepath.Join(root, "cmd/ralph/testdata/script", name+".txtar")); err != nil {
				t.Errorf("%q: there is no story %s", strings.TrimSpace(cells[1]), name)
			}
		}
	}
	if named < 25 {
		t.Errorf("only %d stories are named", named)
	}
}
