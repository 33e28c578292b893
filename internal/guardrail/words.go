package guardrail

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Role is what a file is to the guardrails.
type Role string

const (
	// Program: a command runs it, itself or through an interpreter (./check.sh, sh check.sh).
	Program Role = "program"
	// Instructions: a tool that a command runs reads in it what to do (Makefile for make, the file after --config=).
	Instructions Role = "instructions"
	// Argument: it stands in a command in another place. It may define the check (diff expected.txt out.txt) or be what is
	// checked (grep -q done notes.md): who puts such a file back may undo the agent's work.
	Argument Role = "argument"
	// Settings: the team's settings, and what NewSeal was given besides.
	Settings Role = "settings"
)

// instructions are the files that tools read first, those that are usual first.
var instructions = map[string][]string{
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

	// prefixes stand before a program and run it.
	prefixes = []string{"env", "time", "nice", "nohup", "exec", "command", "timeout", "stdbuf", "sudo", "xvfb-run", "npx", "bunx",
		"!", "{", "if", "then", "else", "elif", "do", "while", "until"}
	// interpreters run the first of their arguments that is no option.
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python3", "node", "ruby", "perl",
		"php", "lua", "pwsh", "tsx", "ts-node", "uv", "deno", "bun"}
	// elsewhere are options before the folder in which a tool reads its instructions.
	elsewhere = []string{"-C", "--directory", "--prefix", "--cwd", "--dir"}
	// given are options before a file of instructions.
	given = []string{"-f", "--file", "--makefile", "--justfile", "--taskfile", "-c", "--config"}
)

// A mention is a path that a command names or implies, relative to the project, with slashes.
type mention struct {
	path string
	role Role
	// awaited: it matters also when it is not there yet.
	awaited bool
}

// mentions returns what a shell command may be defined by. It reads words, not the language: what a variable or a pattern stands for is not
// known, and words that merely look like files are for the caller to look up.
func mentions(command string) []mention {
	m := &mentioned{}
	m.read(command, ".", 0)
	return m.all
}

type mentioned struct{ all []mention }

func (m *mentioned) add(dir, word string, role Role, awaited bool) {
	for _, variable := range []string{"$PWD/", "${PWD}/"} {
		word = strings.TrimPrefix(word, variable)
	}
	// In what is absolute, NewSeal looks for the project's own path.
	word = under(dir, word)
	if word != "." && !strings.ContainsAny(word, "\x00$`*?[") {
		m.all = append(m.all, mention{word, role, awaited})
	}
}

// under joins as the shell does: what is absolute is under nothing.
func under(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// maxDepth is how often a command may be quoted in a command.
const maxDepth = 3

func (m *mentioned) read(command, dir string, depth int) {
	for _, words := range simpleCommands(command) {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		if len(words) == 0 {
			continue
		}
		if words[0] == "cd" && len(words) > 1 {
			dir = under(dir, words[len(words)-1])
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

// simple reads one program with its arguments.
func (m *mentioned) simple(words []string, dir string) {
	var dirs []string // where the tools among the words look, if not in dir
	var tools []string
	for i, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok && slices.Contains(elsewhere, name) {
			dirs = append(dirs, under(dir, value))
		} else if i > 0 && slices.Contains(elsewhere, words[i-1]) {
			dirs = append(dirs, under(dir, word))
		}
		tools = append(tools, instructions[path.Base(word)]...)
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
		case i == program.itself && strings.Contains(word, "/"): // others are looked up in PATH
			m.add(dir, word, Program, true)
		case assigned && slices.Contains(given, name):
			m.everywhere(dirs, value, Instructions)
		case i > 0 && slices.Contains(given, words[i-1]) && len(tools) > 0:
			m.everywhere(dirs, word, Instructions)
		default:
			m.everywhere(dirs, word, Argument)
			m.everywhere(dirs, value, Argument)
		}
	}
}

// everywhere adds a word that may be a file in any of dirs.
func (m *mentioned) everywhere(dirs []string, word string, role Role) {
	for _, dir := range dirs {
		if word != "" {
			m.add(dir, word, role, false)
		}
	}
}

// run says which words of a simple command are run; -1 for none.
type run struct{ itself, script int }

// programs finds the first word that neither assigns a variable nor stands before a program, and where that is an interpreter, its
// first argument.
func programs(words []string) run {
	found := run{-1, -1}
	prefixed := false
	for i, word := range words {
		base := path.Base(word)
		switch {
		case strings.HasPrefix(word, "-"):
		case found.itself >= 0: // an interpreter's arguments
			if word == "run" || word == "exec" { // deno run check.ts
				continue
			}
			// What follows sh -c is a command itself, not a file.
			if option := words[i-1]; !strings.HasPrefix(option, "-") || !strings.HasSuffix(option, "c") {
				found.script = i
			}
			return found
		case strings.Contains(word, "="):
		case slices.Contains(prefixes, base):
			prefixed = true
		case prefixed && word[0] >= '0' && word[0] <= '9': // timeout 10s
		default:
			found.itself = i
			if !slices.Contains(interpreters, base) {
				return found
			}
		}
	}
	return found
}

// simpleCommands cuts a command line at the shell's operators, and what is between them into words without their quotes.
func simpleCommands(line string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(c)
		case c == '\\' && quote != '\'' && filepath.Separator == '/':
			escaped, inWord = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\r<>", c):
			endWord()
		case strings.ContainsRune(";&|()\n`", c):
			endWord()
			commands, words = append(commands, words), nil
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	endWord()
	return append(commands, words)
}
