package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	heldByTest  = regexp.MustCompile("^`(Test\\w+)` in `([\\w/-]+)`$")
	heldByScene = regexp.MustCompile("^(story|trace|run) `(\\w+)`$")
)

// scenes are where what holds a failure is, and how its files end.
var scenes = map[string][2]string{
	"story": {"cmd/ralph/testdata/script", ".txtar"},
	"trace": {"internal/core/loop/testdata/trace", ".txt"},
	"run":   {"internal/core/loop/testdata/sim", ".txt"},
}

// Each row of the page of failures names what holds it now.
func TestFailuresAreHeld(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/failures/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[3]) == "held by" {
			continue
		}
		rows++
		for proof := range strings.SplitSeq(cells[3], ", ") {
			if problem := unknownProof(t, strings.TrimSpace(proof)); problem != "" {
				t.Errorf("%q: %s", strings.TrimSpace(cells[1]), problem)
			}
		}
	}
	if rows < 60 {
		t.Errorf("only %d failures", rows)
	}
}

// unknownProof says what is wrong with a test, story, trace or simulated run that a row names.
func unknownProof(t *testing.T, proof string) string {
	if m := heldByTest.FindStringSubmatch(proof); m != nil {
		if declaresTest(t, filepath.Join(root, m[2]), regexp.MustCompile(`(?m)^func `+m[1]+`\(`)) {
			return ""
		}
		return m[2] + " has no " + m[1]
	}
	m := heldByScene.FindStringSubmatch(proof)
	if m == nil {
		return proof + " names no test"
	}
	if _, err := os.Stat(filepath.Join(root, scenes[m[1]][0], m[2]+scenes[m[1]][1])); err != nil {
		return "there is no " + proof
	}
	return ""
}
