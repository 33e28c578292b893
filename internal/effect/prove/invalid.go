package prove

import (
	"path"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// unreadScript is what Node prints when it loads a text that it cannot read, unlike one that a
// program parses.
const unreadScript = `SyntaxError: [^\n]*\n[#\s]*at (?:wrapSafe|internalCompileFunction|compileSourceTextModule|` +
	`\S*ModuleLoader|\S*ModuleJob|new Script|Module\._compile)|SyntaxError: \S*FILE: |Transform failed|\[ERROR\]`

// notBuilt are what compilers and interpreters print of a file that they cannot read, by extension.
// FILE is its name.
var notBuilt = map[string]string{
	".go": `(?m)^FAIL\s+\S+ \[(?:build|setup) failed\]|^vet: \S*FILE:\d+|^\S*FILE:\d+:\d+: (?:syntax error|undefined: |declared and not used|` +
		`"\S+" imported and not used|missing return|cannot use |invalid operation|invalid argument|assignment mismatch|non-boolean|no new variables)`,
	".py":   `File "[^"\n]*FILE", line \d+\n(?:[^\n]*\n){0,3}?(?:E\s+)?(?:SyntaxError|IndentationError|TabError): `,
	".js":   unreadScript,
	".ts":   `error TS\d+|` + unreadScript,
	".sh":   `(?i)FILE: (?:line )?\d+: (?:syntax error|.*unexpected)`,
	".rs":   `(?m)^error(?:\[E\d+\])?: [\s\S]*?--> \S*FILE:\d+|could not compile`,
	".java": `FILE:\d+: error: |\[ERROR\] \S*FILE:\[\d+,\d+\]`,
	".kt":   `(?m)^e: .*FILE`,
	".c":    `FILE:\d+:\d+: (?:fatal )?error: `,
	".cs":   `FILE\(\d+,\d+\): error CS\d+`,
	".rb":   `FILE:\d+: .*(?:syntax error|\(SyntaxError\))`,
	".php":  `Parse error: `,
}

func init() {
	for ext, same := range map[string][]string{
		".js": {".jsx", ".mjs", ".cjs"}, ".ts": {".tsx", ".mts", ".cts"}, ".sh": {".bash", ".zsh", ""},
		".c": {".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".swift"}, ".kt": {".kts"},
	} {
		for _, other := range same {
			notBuilt[other] = notBuilt[ext]
		}
	}
}

// builds is a command that does nothing but build: what it refuses does not build.
var builds = units.Pattern(`^\s*(?:\w+=\S+\s+)*(?:go build|cargo (?:build|check)|(?:npx |node_modules/\.bin/)?tsc|make build|npm run (?:build|compile)|` +
	`dotnet build|mvn \S*compile|gradle \S*compile\w*|javac|gcc|cc|clang|g\+\+|(?:ba)?sh -n|node --check|python3? -m (?:py_compile|compileall))\b[^;&|]*$`)

// doesNotBuild reports whether a command failed because a file of this name cannot be compiled or
// read at all, so that nothing was tried.
func doesNotBuild(file, command string, o outcome) bool {
	if builds().MatchString(command) {
		return true
	}
	text := notBuilt[strings.ToLower(path.Ext(file))]
	if text == "" {
		return false
	}
	return regexp.MustCompile(strings.ReplaceAll(text, "FILE", regexp.QuoteMeta(path.Base(file)))).MatchString(o.output)
}

// doesNotBuild is that of any file that differs.
func (s *states) doesNotBuild(command string, o outcome) bool {
	for _, f := range s.files {
		if (f.class == fileclass.Program || f.class == fileclass.Test) && doesNotBuild(f.path, command, o) {
			return true
		}
	}
	return false
}
