package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/render"
)

// check is a command of a project that could be a guardrail.
type check struct {
	command string
	from    string // the file that has it, and what it runs, for a person
}

// checkNames are the names under which projects have their checks, the quick ones first. No other is taken from a file: what is
// written there may be anybody's.
var checkNames = [...]string{"lint", "typecheck", "check", "test"}

// seenChecks returns the checks that a project's Makefile, package.json and go.mod have.
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

// packageManager is what a project's packages were installed with, by the file that it leaves.
func packageManager(dir string) string {
	for _, by := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if info, err := os.Lstat(filepath.Join(dir, by[0])); err == nil && info.Mode().IsRegular() {
			return by[1]
		}
	}
	return "npm"
}

// quoted spells a text that comes with a project: in one line, in quotes, with nothing that a terminal acts on.
func quoted(text string) string {
	const most = 60
	return strconv.Quote(render.Clean(cutTo(most, text)))
}

// projectFileMost is how much of a file is read to see what a project has.
const projectFileMost = 1 << 20

// projectFile returns a file of the project; nil where it is none, is no regular file, or is too large to be one that people write.
func projectFile(dir, name string) []byte {
	path := filepath.Join(dir, name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil // a pipe would be waited for, and a link may lead anywhere
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, projectFileMost+1))
	if err != nil || len(text) > projectFileMost {
		return nil
	}
	if text == nil {
		text = []byte{}
	}
	return text
}

// offer lists what can be chosen by its number, if there is anything.
func (d *dialogue) offer(what string, choices [][2]string) {
	if len(choices) == 0 {
		return
	}
	width := 0
	for _, choice := range choices {
		width = max(width, render.Columns(choice[0]))
	}
	d.say("%s:", what)
	for i, choice := range choices {
		fmt.Fprintln(d.out, strings.TrimRight(fmt.Sprintf("  %d  %-*s  %s", i+1, width, choice[0], choice[1]), " "))
	}
}

// chosen returns the place of what an answer chooses by its number; -1 where it is something else.
func chosen(answer string, of int) int {
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > of {
		return -1
	}
	return n - 1
}
