package archtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// opens finds what may open a pipe, a device or the target of a link. Only a new file is opened
// safely without package safefile.
var opens = regexp.MustCompile(`\bos\.(?:ReadFile|WriteFile|Open|Create)\(|\bos\.OpenFile\((?:[^\n]*os\.O_EXCL)?`)

// opensFiles are the files that may: what they open was not made by an agent or a repository.
var opensFiles = []string{
	"internal/agent/rehearsal/player/scenario.go", // the person names it; it may be a pipe
	"internal/doctor/system_linux.go",             // /proc
	"internal/process/system_linux.go",            // /proc
	"internal/registration/holder_linux.go",       // /proc
	"internal/safefile/open.go",
	"internal/safefile/os.go",
}

// isProduct reports whether a file is part of the program: no test, no tool.
func isProduct(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		!strings.HasPrefix(name, "tools/") && !strings.HasPrefix(name, "internal/agent/agenttest/")
}

func TestFilesAreOpenedBySafefile(t *testing.T) {
	used := map[string]bool{}
	eachText(t, func(name, text string) {
		if !isProduct(name) {
			return
		}
		for _, call := range opens.FindAllString(text, -1) {
			switch {
			case strings.HasSuffix(call, "os.O_EXCL"):
			case slices.Contains(opensFiles, name):
				used[name] = true
			default:
				t.Errorf("%s: %s…): package safefile opens files", name, call)
			}
		}
	})
	for _, name := range opensFiles {
		if !used[name] {
			t.Errorf("%s opens no file: take it from the list", name)
		}
	}
}
