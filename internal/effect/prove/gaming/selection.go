package gaming

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// runners start tests, each those of its language.
var runners = []struct {
	command func() *regexp.Regexp
	exts    []string
}{
	{units.Pattern(`\bgo test\b|\bgotestsum\b`), []string{".go"}},
	{units.Pattern(`\bpytest\b|\bunittest\b|\bnose2?\b`), []string{".py"}},
	{units.Pattern(`\b(?:node|tsx)\b.*?\s--test(?:\s|$)|\b(?:jest|vitest|mocha|ava|tape|c8|nyc)\b|\bbun test\b`), []string{".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts"}},
	{units.Pattern(`\bcargo (?:test|nextest)\b`), []string{".rs"}},
	{units.Pattern(`\bbats\b`), []string{".bats"}},
	{units.Pattern(`\brspec\b|\bminitest\b`), []string{".rb"}},
	{units.Pattern(`\bphpunit\b|\bpest\b`), []string{".php"}},
	{units.Pattern(`\bmix test\b`), []string{".exs"}},
}

// A selection is what a command that starts tests selects.
type selection struct {
	exts                      []string
	names, notNames           []string // of tests
	files, folders, notInPath []string
	command                   string
}

// narrowed finds guardrails that select fewer of the tests than with the files of the start.
func (f *finder) narrowed() {
	for _, guardrail := range f.Guardrails {
		before, now := f.selections(guardrail, f.start), f.selections(guardrail, f.claimed)
		if len(before) == 0 || len(now) == 0 || slices.EqualFunc(before, now, func(a, b selection) bool { return a.command == b.command }) {
			continue
		}
		lost, still := 0, 0
		for _, c := range f.now {
			selected := func(s selection) bool { return s.selects(f.inProject(c.path), c) }
			switch is := slices.ContainsFunc(now, selected); {
			case is:
				still++
			case slices.ContainsFunc(before, selected):
				lost++
			}
		}
		if lost > 0 {
			s, line := f.where(now[0].command)
			f.add(event.FactTestConfig, s, line, f.red || still == 0, fmt.Sprintf("%d tests do not run any more: %.120s", lost, now[0].command))
		}
	}
}

// unlisted finds files of tests that a list of them does not name any more, nor another file.
func (f *finder) unlisted() {
	for _, was := range f.start {
		is := find(f.claimed, was.path)
		if is == nil || was.text == is.text || was.class != fileclass.Test && was.class != fileclass.TestConfig {
			continue
		}
		for _, test := range f.claimed {
			base := path.Base(test.path)
			named := strings.Contains(was.text, base) && !strings.Contains(is.text, base)
			if test.class != fileclass.Test || len(test.cases()) == 0 || find(f.start, test.path) == nil || !named {
				continue
			}
			elsewhere := func(s *source) bool { return s != test && strings.Contains(s.text, base) }
			if !slices.ContainsFunc(f.claimed, elsewhere) {
				f.add(event.FactTestConfig, is, -1, f.red, "the tests of "+test.path+" are not named here any more")
			}
		}
	}
}

// inProject is a path from where the guardrails run.
func (f *finder) inProject(name string) string {
	if dir := path.Clean(f.Dir); dir != "." && dir != "/" {
		return strings.TrimPrefix(name, dir+"/")
	}
	return name
}

// where finds the line with a command in what configures or starts tests.
func (f *finder) where(command string) (*source, int) {
	for _, s := range f.claimed {
		if s.class == fileclass.TestConfig || isShellFile(s) {
			for i, l := range s.lines {
				if strings.Contains(strings.ReplaceAll(l.code, `\"`, `"`), command) {
					return s, i
				}
			}
		}
	}
	return nil, -1
}

// selections returns what a command selects: itself, or what it starts.
func (f *finder) selections(command string, files []*source) (all []selection) {
	for _, leaf := range f.leaves(command, files, deepest) {
		for _, r := range runners {
			if at := r.command().FindStringIndex(leaf); at != nil {
				all = append(all, newSelection(leaf, leaf[at[1]:], r.exts))
				break
			}
		}
	}
	return all
}

// leaves returns the commands that a command comes to, through makefiles, scripts and package.json.
func (f *finder) leaves(command string, files []*source, depth int) (all []string) {
	if f.started++; depth == 0 || f.started > mostCommands {
		return nil
	}
	for _, part := range splitShell(command, "&&", "||", ";", "\n") {
		part = strings.TrimSpace(starts().ReplaceAllString(strings.TrimSpace(part), ""))
		switch {
		case makeCommand().MatchString(part):
			fields := strings.Fields(part)
			target := ""
			for _, arg := range fields[1:] {
				if !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
					target = arg
				}
			}
			if s := find(files, path.Join(f.Dir, "Makefile")); s != nil {
				all = append(all, f.recipeLeaves(s, target, files, depth-1)...)
			}
		case npmCommand().MatchString(part):
			if script, _, ok := f.packageScript(npmCommand().FindStringSubmatch(part)[1], files); ok {
				all = append(all, f.leaves(script, files, depth-1)...)
			}
		default:
			all = append(all, f.scriptLeaves(part, files, depth)...)
		}
	}
	return all
}

func (f *finder) scriptLeaves(command string, files []*source, depth int) (all []string) {
	m := shellScript().FindStringSubmatch(command)
	if m == nil {
		return []string{command}
	}
	s := find(files, path.Join(f.Dir, m[2]))
	if s == nil || !isShellFile(s) {
		return []string{command}
	}
	for _, l := range s.lines {
		if l.indent >= 0 && len(all) < mostCases {
			all = append(all, f.leaves(l.code, files, depth-1)...)
		}
	}
	return all
}

func (f *finder) recipeLeaves(s *source, target string, files []*source, depth int) (all []string) {
	if f.started++; depth <= 0 || f.started > mostCommands {
		return nil
	}
	at, needs, lines := recipe(s, target)
	if at < 0 {
		return nil
	}
	for _, need := range needs {
		all = append(all, f.recipeLeaves(s, need, files, depth-1)...)
	}
	for _, i := range lines {
		text := strings.TrimLeft(strings.Split(s.text, "\n")[i], "\t @-")
		all = append(all, f.leaves(strings.ReplaceAll(text, "$(MAKE)", "make"), files, depth-1)...)
	}
	return all
}

var (
	nameFlag = units.Pattern(`^(?:-run|-k|-t|-g|--grep|--test-name-pattern|--testNamePattern|--filter|-e|--example)$`)
	skipFlag = units.Pattern(`^(?:-skip|--deselect|--ignore|--ignore-glob|--exclude|--testPathIgnorePatterns|--test-skip-pattern|--skip)$`)
	fileFlag = units.Pattern(`^(?:-p|--pattern)$`)
	dirFlag  = units.Pattern(`^(?:-s|--start-directory|--dir|--roots)$`)
	quotes   = units.Pattern(`"[^"]*"|'[^']*'|[^\s"']+(?:"[^"]*"|'[^']*')?`)
	aPath    = units.Pattern(`[/*]|\.(?:go|py|[cm]?[jt]sx?|rs|bats|rb|php|exs)$|^test\w*(?:\.\w+)*$|^\w+_tests?$`)
)

func newSelection(command, arguments string, exts []string) selection {
	s := selection{command: strings.TrimSpace(command), exts: exts}
	fields := quotes().FindAllString(arguments, -1)
	for i := 0; i < len(fields); i++ {
		flag, value, inOne := strings.Cut(fields[i], "=")
		if inOne && strings.HasPrefix(flag, "-") || !strings.HasPrefix(flag, "-") {
			inOne = true
		} else if i+1 < len(fields) {
			value = fields[i+1]
		}
		value = strings.Trim(value, `"'`)
		switch {
		case nameFlag().MatchString(flag):
			s.addNames(value)
		case skipFlag().MatchString(flag):
			s.notInPath = append(s.notInPath, value)
		case fileFlag().MatchString(flag):
			s.files = append(s.files, "**/"+value)
		case dirFlag().MatchString(flag):
			s.folders = append(s.folders, path.Clean(value))
		default:
			if arg := strings.Trim(fields[i], `"'`); !strings.HasPrefix(arg, "-") && aPath().MatchString(arg) {
				s.files = append(s.files, strings.TrimPrefix(arg, "./"))
			}
			continue
		}
		if !inOne {
			i++
		}
	}
	return s
}

// addNames reads the expression of -k, or a pattern.
func (s *selection) addNames(expression string) {
	for part := range strings.SplitSeq(expression, " or ") {
		if not, ok := strings.CutPrefix(strings.TrimSpace(part), "not "); ok {
			s.notNames = append(s.notNames, not)
		} else if part = strings.TrimSpace(part); part != "" && part != "." {
			s.names = append(s.names, part)
		}
	}
}

// selects reports whether a test with a path from the project's folder is selected.
func (s selection) selects(name string, c *testCase) bool {
	matches := func(pattern string) bool {
		re, err := regexp.Compile(pattern)
		return err == nil && re.MatchString(c.name) || strings.Contains(c.name, pattern)
	}
	inPath := func(pattern string) bool {
		pattern, _, _ = strings.Cut(pattern, "::")
		return pattern != "" && (strings.Contains(name, strings.Trim(pattern, "./*")) || strings.Contains(c.name, pattern))
	}
	inFolder := func(dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }
	inFile := func(pattern string) bool { return isIn(name, pattern) }
	return slices.Contains(s.exts, c.ext) &&
		(len(s.names) == 0 || slices.ContainsFunc(s.names, matches)) && !slices.ContainsFunc(s.notNames, matches) &&
		(len(s.folders) == 0 || slices.ContainsFunc(s.folders, inFolder)) && !slices.ContainsFunc(s.notInPath, inPath) &&
		(len(s.files) == 0 || slices.ContainsFunc(s.files, inFile))
}

// isIn reports whether a path is in what a pattern names: a glob, a folder, a package or a module.
func isIn(name, pattern string) bool {
	pattern, _, _ = strings.Cut(pattern, "::")
	pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "..."), "/")
	if pattern == "" || pattern == "." || strings.HasPrefix(name, pattern+"/") || name == pattern {
		return true
	}
	module := strings.ReplaceAll(pattern, ".", "/")
	if module+".py" == name || strings.HasPrefix(name, module+"/") || path.Dir(module)+".py" == name {
		return true
	}
	glob := regexp.QuoteMeta(pattern)
	glob = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `.`, `\{`, `(?:`, `\}`, `)`, `,`, `|`).Replace(glob)
	re, err := regexp.Compile(`^(?:` + glob + `)$`)
	return err == nil && re.MatchString(name)
}
