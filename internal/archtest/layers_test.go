package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// layerRow is a row of the table of layers: the layer and its packages.
var layerRow = regexp.MustCompile(`(?m)^\| (\d) \| ([^|]+) \|`)

// A reader looks for a package in the table of docs/concepts/architecture.md.
func TestArchitecturePageHasEachPackage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/concepts/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	onPage := map[string]int{}
	for _, row := range layerRow.FindAllStringSubmatch(string(page), -1) {
		layer, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			onPage[name[1]] = layer
		}
	}
	exists := map[string]bool{}
	for _, p := range load(t) {
		rule, ok := ruleOf(p.path)
		if !ok || rule.path == "internal/archtest" || rule.path == "internal/testkit/terminaltest" {
			continue
		}
		base := strings.TrimSuffix(rule.path, "/...")
		if base == "cmd" {
			base = p.path
		}
		exists[base] = true
		if layer, ok := onPage[base]; !ok || layer != rule.layer {
			t.Errorf("%s is in layer %d; the page says %d (listed: %v)", base, rule.layer, layer, ok)
		}
	}
	for name := range onPage {
		if !exists[name] {
			t.Errorf("the page has %s, which does not exist", name)
		}
	}
	for _, rule := range plan {
		if base := strings.TrimSuffix(rule.path, "/..."); !exists[base] && base != "cmd" && testOnly[base] == "" {
			t.Errorf("the plan in plan_test.go has %s, which does not exist: remove its row", rule.path)
		}
	}
}

// packageRow is a row of the list in AGENTS.md: names, and after two spaces or more what they are.
var packageRow = regexp.MustCompile(`(?m)^ {4}(\S+(?:, \S+)*) {2,}\S`)

// A coding agent looks for a package in AGENTS.md. A name that ends in "/..." means all below it.
func TestAgentsPageNamesEachPackage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n## Packages\n")
	list, _, _ = strings.Cut(list, "\n## ")
	used := map[string]bool{}
	for _, row := range packageRow.FindAllStringSubmatch(list, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			used[name] = false
		}
	}
	for _, p := range load(t) {
		named := false
		for name := range used {
			if below, all := strings.CutSuffix(name, "..."); name == p.path || all && strings.HasPrefix(p.path, below) {
				used[name], named = true, true
			}
		}
		if !named {
			t.Errorf("AGENTS.md does not name %s: add it under Packages, with a phrase that says what it is", p.path)
		}
	}
	for name, exists := range used {
		if !exists {
			t.Errorf("AGENTS.md names %s, which is no package: remove it from the list under Packages", name)
		}
	}
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
