package guardrail

import (
	"github.com/ralph-loop/ralph/internal/ground/units"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Role says how a file defines guardrails.
type Role string

const (
	// Program: a command runs it, directly or through an interpreter (./check.sh, sh check.sh).
	Program Role = "program"
	// Instructions: a tool that a command runs reads its instructions in it (Makefile for make, the
	// file after --config=).
	Instructions Role = "instructions"
	// Settings: the team's settings, and one person's additions to them.
	Settings Role = "settings"
)

// toolFiles are the files that tools read first, the usual names first.
var toolFiles = map[string][]string{
	"make":          makefiles,
	"gmake":         makefiles,
	"npm":           {"package.json"},
	"npx":           {"package.json"},
	"yarn":          {"package.json"},
	"pnpm":          {"package.json"},
	"bun":           {"package.json"},
	"deno":          {"deno.json", "deno.jsonc"},
	"just":          {"justfile", "Justfile", ".justfile"},
	"task":          {"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"},
	"rake":          {"Rakefile", "rakefile"},
	"tox":           {"tox.ini"},
	"composer":      {"composer.json"},
	"mvn":           {"pom.xml"},
	"mvnw":          {"pom.xml"},
	"gradle":        gradleFiles,
	"gradlew":       gradleFiles,
	"pre-commit":    {".pre-commit-config.yaml"},
	"golangci-lint": {".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"},
}

var (
	makefiles   = []string{"Makefile", "makefile", "GNUmakefile"}
	gradleFiles = []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}

	// prefixes come before a program and run it.
	prefixes = []string{"env", "time", "nice", "nohup", "exec", "command", "timeout", "stdbuf", "sudo", "xvfb-run", "npx", "bunx",
		"!", "{", "if", "then", "else", "elif", "do", "while", "until"}
	// interpreters run the first of their arguments that is no option.
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python3", "node", "ruby", "perl",
		"php", "lua", "pwsh", "tsx", "ts-node", "uv", "deno", "bun"}
	// dirOptions are options before the folder in which a tool reads its instructions.
	dirOptions = []string{"-C", "--directory", "--prefix", "--cwd", "--dir"}
	// fileOptions are options before a file of instructions.
	fileOptions = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "-c", "--config"}
)

// A mention is a path that a command names or implies, relative to the project, with slashes.
type mention struct {
	path string
	role Role
	// awaited: it matters even if it does not exist yet.
	awaited bool
}

// mentions returns the files that may define a shell command. It reads words, not the language:
// variables and patterns are not expanded. Other arguments are left out: they may define the check
// (diff expected.txt out.txt) or be the agent's work (grep -q done notes.md).
func mentions(command string) []mention {
	m := &mentionList{}
	m.read(command, ".", 0)
	return m.all
}

type mentionList struct{ all []mention }

func (m *mentionList) add(dir, word string, role Role, awaited bool) {
	for _, variable := range []string{"$PWD/", "${PWD}/"} {
		word = strings.TrimPrefix(word, variable)
	}
	// NewSnapshot makes absolute paths within the project relative.
	word = joinPath(dir, word)
	if word != "." && !strings.ContainsAny(word, "\x00$`*?[") {
		m.all = append(m.all, mention{word, role, awaited})
	}
}

// joinPath joins like the shell: an absolute name stays as it is.
func joinPath(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// maxDepth is how often a command may be quoted in a command.
const maxDepth = 3

func (m *mentionList) read(command, dir string, depth int) {
	for _, words := range simpleCommands(command) {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		if len(words) == 0 {
			continue
		}
		if words[0] == "cd" && len(words) > 1 {
			dir = joinPath(dir, words[len(words)-1])
			continue
		}
		m.simple(words, dir)
		for _, word := range words {
			if depth < maxDepth && strings.ContainsAny(word, " \t\n;&|") {
				m.read(word, dir, depth+1) // sh -c "…"
			}
		}
	}
}

// simple reads one simple command.
func (m *mentionList) simple(words []string, dir string) {
	var dirs []string // where the command's tools read their files, if not in dir
	var tools []string
	for i, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok && slices.Contains(dirOptions, name) {
			dirs = append(dirs, joinPath(dir, value))
		} else if i > 0 && slices.Contains(dirOptions, words[i-1]) {
			dirs = append(dirs, joinPath(dir, word))
		}
		tools = append(tools, toolFiles[path.Base(word)]...)
	}
	if len(dirs) == 0 {
		dirs = []string{dir}
	}
	for _, d := range dirs {
		for _, file := range tools {
			m.add(d, file, Instructions, true)
		}
	}
	program := programs(words)
	for i, word := range words {
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case i == program.script:
			m.add(dir, word, Program, strings.Contains(word, "/") || path.Ext(word) != "")
		case i == program.program && strings.Contains(word, "/"): // others are looked up in PATH
			m.add(dir, word, Program, true)
		case assigned && slices.Contains(fileOptions, name):
			m.addInEach(dirs, value)
		case i > 0 && slices.Contains(fileOptions, words[i-1]) && len(tools) > 0:
			m.addInEach(dirs, word)
		}
	}
}

// addInEach adds a file of instructions that may be in any of dirs.
func (m *mentionList) addInEach(dirs []string, word string) {
	for _, dir := range dirs {
		if word != "" {
			m.add(dir, word, Instructions, false)
		}
	}
}

// runWords says which words of a simple command are run; -1 for none.
type runWords struct{ program, script int }

// programs finds the first word that is neither an assignment nor a prefix, and if it is an
// interpreter, its first argument.
func programs(words []string) runWords {
	found := runWords{-1, -1}
	prefixed := false
	for i, word := range words {
		base := path.Base(word)
		switch {
		case strings.HasPrefix(word, "-"):
		case found.program >= 0: // an interpreter's arguments
			if word == "run" || word == "exec" { // deno run check.ts
				continue
			}
			// The word after sh -c is a command, not a file.
			if option := words[i-1]; !strings.HasPrefix(option, "-") || !strings.HasSuffix(option, "c") {
				found.script = i
			}
			return found
		case strings.Contains(word, "="):
		case slices.Contains(prefixes, base):
			prefixed = true
		case prefixed && word[0] >= '0' && word[0] <= '9': // timeout 10s
		default:
			found.program = i
			if !slices.Contains(interpreters, base) {
				return found
			}
		}
	}
	return found
}

// A shellToken is text in quotes, an escaped character, blanks or a redirection, an operator, or
// other text.
var shellToken = units.Pattern("(?s)'([^']*)'?" + `|"((?:[^"\\]|\\.)*)"?|\\(.)` + "|([ \t\r<>]+)|([;&|()\n`])|([^'\"\\\\ \t\r<>;&|()\n`]+)")

var escapedByte = units.Pattern(`(?s)\\(.)`)

// simpleCommands cuts a command line at the shell's operators, and what is between them into words
// without their quotes.
func simpleCommands(line string) [][]string {
	if filepath.Separator == '\\' { // on Windows a backslash escapes nothing
		line = strings.ReplaceAll(line, `\`, `\\`)
	}
	var commands [][]string
	var words []string
	word := ""
	endWord := func() {
		words = append(words, word)
		word = ""
	}
	for _, token := range shellToken().FindAllStringSubmatch(line, -1) {
		switch blank, operator := token[4], token[5]; {
		case blank != "":
			endWord()
		case operator != "":
			endWord()
			commands, words = append(commands, words), nil
		default:
			word += token[1] + escapedByte().ReplaceAllString(token[2], "$1") + token[3] + token[6]
		}
	}
	endWord()
	return append(commands, words)
}
