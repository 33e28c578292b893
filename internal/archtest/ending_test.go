package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// docs/concepts/ending.md is written by hand. Every reason is listed there once, with its status
// and its exit code, under a heading of that code. Everything that a loop waits for is listed too.
func TestEndingPageListsReasons(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "concepts", "ending.md"))
	if err != nil {
		t.Fatal(err)
	}
	reasons := readVocabulary(t).lists["Reason"]
	if len(reasons) < 20 {
		t.Fatalf("only %d reasons in the source", len(reasons))
	}
	listed := map[string]int{}
	waits := map[string]bool{}
	heading := ""
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "## ") {
			heading = strings.TrimSpace(line)
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.Trim(cells[0], " `")
		if strings.Contains(heading, "waits for") {
			waits[name] = true
			continue
		}
		listed[name]++
		reason := event.Reason(name)
		if want := fmt.Sprintf(" %s | %d ", reason.Status(), reason.ExitCode()); strings.Join(cells[1:3], "|") != want {
			t.Errorf("%s: the page says%s, the source%s", name, strings.Join(cells[1:3], "|"), want)
		}
		if !strings.HasSuffix(heading, fmt.Sprintf("exit code %d", reason.ExitCode())) {
			t.Errorf("%s is under %q", name, heading)
		}
		if result := reason.Result(); result != "" && !strings.Contains(line, result) {
			t.Errorf("%s: its result %s is missing", name, result)
		}
	}
	for _, reason := range reasons {
		if listed[reason.text] != 1 {
			t.Errorf("reason %q is listed %d times", reason.text, listed[reason.text])
		}
		delete(listed, reason.text)
	}
	for name := range listed {
		t.Errorf("there is no reason %q", name)
	}
	var wanted []string
	for _, wait := range event.Waits {
		wanted = append(wanted, wait.String())
	}
	for _, name := range wanted {
		if !waits[name] {
			t.Errorf("waiting for %q is not listed", name)
		}
	}
	for name := range waits {
		if !slices.Contains(wanted, name) {
			t.Errorf("no loop waits for %q", name)
		}
	}
}
