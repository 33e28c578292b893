//go:build unix

package initialize

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Anyone may have written a project's files: only known names of checks are offered, their commands
// are cleaned, and only regular files are read.
func TestChecksOfAProject(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if seen := seenChecks(dir); len(seen) > 0 {
		t.Errorf("an empty folder has %v", seen)
	}
	put("Makefile", "test := no\n.PHONY: lint\nlint: x\n\tls\ncheck:\ntest: ; rm -rf /\n$(shell evil): x\nbuild:\n\ttest:\n")
	put("package.json", `{"scripts": {"test": "jest\u001b[31m \u202e\n'; rm -rf ~ #`+strings.Repeat("x", 100)+`", "lint; rm -rf ~": "x", "lint": "echo \"Error: no test specified\" && exit 1", "check": ""}}`)
	put("yarn.lock", "")
	put("go.mod", "module x\n")
	var got []string
	for _, c := range seenChecks(dir) {
		got = append(got, c.command+" | "+c.from)
	}
	want := []string{
		"make lint | Makefile", "make check | Makefile", "make test | Makefile",
		got[min(3, len(got)-1)], // looked at below
		"go vet ./... | go.mod", "go test ./... | go.mod",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seen %q", got)
	}
	script := got[3]
	if !strings.HasPrefix(script, `yarn run test | package.json: "jest`) || strings.ContainsAny(script, "\x1b\u202e\n") || len([]rune(script)) > 120 {
		t.Errorf("shown is %q", script)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "package.json")), syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600),
		os.Remove(filepath.Join(dir, "Makefile")), os.Symlink("/dev/zero", filepath.Join(dir, "Makefile"))); err != nil {
		t.Fatal(err)
	}
	if seen := seenChecks(dir); len(seen) != 2 {
		t.Errorf("a pipe and a device have %v", seen)
	}
}
