package archtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Budgets are lines of Go outside of tests: of a package, of a layer, of all. slack is how far
// below its budget a package may be, so that a budget only falls: in lines, or as a part of the
// budget.
const (
	slackLines   = 60
	slackPercent = 4
)

// budget.txt has the most lines of each package, layer and of all. A budget that has become too
// large is lowered by 'go test ./internal/archtest -run Budget -update', which raises none: a
// higher one is written by hand, with a decision that says why.
func TestBudgets(t *testing.T) {
	const file = "budget.txt"
	lines := linesOfPackages(t)
	layerLines := map[string]int{}
	for name, n := range lines {
		if top, _, _ := strings.Cut(name, "/"); top == "pool" || top == "bench" { // ralph links nothing of these modules
			layerLines["module "+top] += n
			continue
		}
		if l := layerOf(name); l.name != "" {
			layerLines["layer "+l.name] += n
		}
		layerLines["all"] += n
	}
	maps.Copy(lines, layerLines)
	budgets := readBudgets(t, file)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		n, most := lines[name], budgets[name]
		slack := max(slackLines, most*slackPercent/100)
		switch {
		case most == 0:
			t.Errorf("%s has %d lines and no budget: add '%d %s' to %s", name, n, n, name, file)
		case n > most:
			t.Errorf("%s has %d lines, and its budget is %d: delete first; a higher budget needs a decision", name, n, most)
		case n < most-slack && !*update:
			t.Errorf("%s has %d lines, and its budget is %d: lower it, with -update", name, n, most)
		}
	}
	for name := range budgets {
		if lines[name] == 0 {
			t.Errorf("%s has a budget and does not exist", name)
		}
	}
	if *update && !t.Failed() {
		writeBudgets(t, file, lines, budgets)
	}
}

func readBudgets(t *testing.T, file string) map[string]int {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	budgets := map[string]int{}
	for line := range strings.Lines(string(text)) {
		number, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(number); ok && err == nil {
			budgets[name] = n
		}
	}
	return budgets
}

func writeBudgets(t *testing.T, file string, lines, budgets map[string]int) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(budgets)) {
		fmt.Fprintf(&b, "%d %s\n", min(budgets[name], (lines[name]+19)/10*10), name)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// linesOfPackages counts the lines of the program and of its tools, without tests.
func linesOfPackages(t *testing.T) map[string]int {
	lines := map[string]int{}
	eachText(t, func(name, text string) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/testdata/") {
			lines[filepath.Dir(name)] += strings.Count(text, "\n")
		}
	})
	return lines
}

// linked.txt has the packages of ours and the foreign modules that the core links, and what the
// complete program links besides. It is read whenever it changes: that is its purpose.
func TestLinkedPackages(t *testing.T) {
	const file = "linked.txt"
	core, all := linkedBy(t, "-tags=ralph_core"), linkedBy(t, "-tags=")
	lines := linesOfPackages(t)
	var b strings.Builder
	for _, part := range []struct {
		title string
		has   func(name string) bool
	}{
		{"The core (go build -tags ralph_core ./cmd/ralph)", func(name string) bool { return core[name] }},
		{"What the complete program links besides", func(name string) bool { return !core[name] }},
	} {
		var ours, foreign []string
		n := 0
		for _, name := range slices.Sorted(maps.Keys(all)) {
			local, isOurs := strings.CutPrefix(name, "ours ")
			switch {
			case !part.has(name):
			case isOurs:
				ours = append(ours, local)
				n += lines[local]
			default:
				foreign = append(foreign, name)
			}
		}
		fmt.Fprintf(&b, "# %s: %d packages of ours with about %d,000 lines, %d foreign modules\n\n%s\n\n%s\n\n",
			part.title, len(ours), (n+500)/1000, len(foreign), strings.Join(ours, "\n"), strings.Join(foreign, "\n"))
	}
	for name := range core {
		if !all[name] {
			t.Errorf("the core links %s, and the complete program does not", name)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != b.String() {
		t.Errorf("%s is not what the programs link (%v): run this test with -update, and read the diff", file, err)
	}
}

// linkedBy returns the packages of ours and the foreign modules that a build links.
func linkedBy(t *testing.T, tags string) map[string]bool {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", tags, "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", "./cmd/ralph")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, from, _ := strings.Cut(strings.TrimSpace(line), " ")
		if local, ours := strings.CutPrefix(path, module); ours {
			linked["ours "+local] = true
		} else if from != "" {
			linked[from] = true
		}
	}
	return linked
}
