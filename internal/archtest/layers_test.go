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
		if !ok || rule.path == "internal/archtest" || rule.path == "internal/terminaltest" || rule.path == "internal/castsvg" || rule.path == "internal/browsertest" {
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
}
