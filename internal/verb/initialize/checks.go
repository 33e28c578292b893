package initialize

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// check is a command of a project that could be a guardrail.
type check struct {
	command string
	from    string // the file that has it, and what it runs, for a person
}

// checkNames are common names of checks, the quick ones first. Other names are not offered: the
// project may be untrusted.
var checkNames = [...]string{"lint", "typecheck", "check", "test"}

// seenChecks returns the checks in a project's Makefile, package.json and go.mod.
func seenChecks(dir string) []check {
	var seen []check
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks for them
		text := projectFile(dir, name)
		for _, target := range checkNames {
			if regexp.MustCompile(`(?m)^` + target + `[ \t]*:(?:[^=]|$)`).Match(text) {
				seen = append(seen, check{"make " + target, name})
			}
		}
		if text != nil {
			break
		}
	}
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(projectFile(dir, "package.json"), &manifest) == nil {
		for _, name := range checkNames {
			script := manifest.Scripts[name]
			if script == "" || regexp.MustCompile(`no test specified`).MatchString(script) { // npm init writes that one
				continue
			}
			seen = append(seen, check{packageManager(dir) + " run " + name, "package.json: " + quoted(script)})
		}
	}
	if projectFile(dir, "go.mod") != nil {
		seen = append(seen, check{"go vet ./...", "go.mod"}, check{"go test ./...", "go.mod"})
	}
	return seen
}

// packageManager returns the package manager of a project, by its lock file.
func packageManager(dir string) string {
	for _, by := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if info, err := os.Lstat(filepath.Join(dir, by[0])); err == nil && info.Mode().IsRegular() {
			return by[1]
		}
	}
	return "npm"
}

// quoted spells a text of a project in one line, in quotes, without control characters.
func quoted(text string) string {
	return strconv.Quote(render.Clean(units.Cut(text, 60)))
}

// maxProjectFile is the largest file of a project that is read.
const maxProjectFile = 1 << 20

// projectFile returns a file of the project; nil if it is missing, not regular or too large.
func projectFile(dir, name string) []byte {
	text, err := safefile.Read(filepath.Join(dir, name), maxProjectFile)
	if err != nil {
		return nil
	}
	return text
}
