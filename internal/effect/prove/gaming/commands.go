package gaming

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// deepest is how many commands may start each other.
const deepest = 6

// commands finds guardrails that exit with 0 whatever happens. It is the loop's doing where the
// same command could fail with the files of the start.
func (f *finder) commands() {
	type found struct {
		s    *source
		line int
		text string
	}
	var empty []found
	made := map[int]bool{}
	for _, command := range f.Guardrails {
		why := f.emptyCommand(command, f.claimed, deepest)
		if why == nil {
			continue
		}
		if before := f.emptyCommand(command, f.start, deepest); before == nil {
			made[len(empty)] = true
		}
		empty = append(empty, found{why.s, why.line, fmt.Sprintf("the guardrail %.120q exits with 0 whatever happens: %.120s", command, why.text)})
	}
	for i, e := range empty {
		weakens := len(empty) == len(f.Guardrails) || made[i] && e.s != nil && f.changed(e.s.path)
		f.add(event.FactGuardrailEmpty, e.s, e.line, weakens, e.text)
	}
}

// changed reports whether the loop changed a file that was there, or made it.
func (f *finder) changed(path string) bool { return f.Start[path] != f.Claimed[path] }

// A nothing is why a command cannot fail.
type nothing struct {
	s    *source
	line int
	text string
}

var (
	emptyWord   = units.Pattern(`^\s*(?:\w+=\S*\s+)*(?:true|:|exit\s+0|exit|return\s+0|(?:echo|printf)\b[^|;&]*|/bin/true)\s*;?\s*$`)
	starts      = units.Pattern(`^\s*(?:(?:env|exec|time|nice|command)\s+)*(?:\w+=\S*\s+)*`)
	makeCommand = units.Pattern(`^(?:make|gmake)\b(.*)`)
	npmCommand  = units.Pattern(`^(?:(?:npm|pnpm|yarn|bun)\s+(?:--?[\w-]+\s+)*(?:run(?:-script)?\s+(?:--?[\w-]+\s+)*)?|node\s+--run[= ]\s*)([\w:.-]+)`)
	shellScript = units.Pattern(`^(?:(?:/usr)?(?:/bin/)?(?:env )?(?:ba|da|z|k)?sh\s+((?:-\w+\s+)*)|)(\.?/?[\w./-]+)`)
	inlineShell = units.Pattern(`^(?:ba|da|z)?sh\s+-\w*c\s+(?:"([^"]*)"|'([^']*)')`)
	stopOnError = units.Pattern(`(?m)^\s*set\s+-\w*e|^#!.*\s-\w*e\w*$|^\s*set -o errexit`)
	canFail     = units.Pattern(`\b(?:exit|return)\s+(?:[1-9]|"?\$)|\|\|\s*(?:\{|fail|die|exit\b[^|;&]*[1-9$]|return\b[^|;&]*[1-9$])|\bfail\w*\b|\bdie\b`)
	swallowing  = units.Pattern(`[^|]\|\s*(?:tee|cat|head|tail|sed|sort|uniq|tr|cut)\b[^|]*$|^[^!|]*\b(?:sh|bash|make|python\d?|pytest|go test|npm|node|cargo)\b[^|]*\|\s*grep\s+-\w*v\w*\b[^|]*$`)
	exitTrap    = units.Pattern(`\btrap\s+["'](?:[^"']*;)?\s*exit 0`)
)

// emptyCommand says why a command exits with 0 whatever happens, or nil.
func (f *finder) emptyCommand(command string, files []*source, depth int) *nothing {
	command = strings.TrimSpace(command)
	if f.started++; depth == 0 || command == "" || f.started > mostCommands {
		return nil
	}
	last, alternatives := lastOf(command)
	if alternatives && emptyWord().MatchString(last) || emptyWord().MatchString(command) || !strings.Contains(command, "&&") && emptyWord().MatchString(last) {
		return &nothing{line: -1, text: command}
	}
	if swallowing().MatchString(last) && !strings.Contains(command, "pipefail") {
		return &nothing{line: -1, text: command}
	}
	if strings.Contains(command, "&&") {
		// All of them have to be empty.
		var first *nothing
		for part := range strings.SplitSeq(command, "&&") {
			if changesFolder().MatchString(part) || emptyWord().MatchString(part) {
				continue
			}
			why := f.emptyCommand(part, files, depth-1)
			if why == nil {
				return nil
			}
			if first == nil {
				first = why
			}
		}
		return first
	}
	if alternatives {
		return f.emptyCommand(last, files, depth-1)
	}
	return f.emptyStarted(strings.TrimSpace(starts().ReplaceAllString(last, "")), files, depth)
}

var changesFolder = units.Pattern(`^\s*(?:cd|export|set|source|\.)\s`)

// lastOf returns the part of a command that decides its exit status, and whether that is what runs
// when another part fails.
func lastOf(command string) (last string, alternatives bool) {
	parts := splitShell(command, ";", "\n")
	for len(parts) > 1 && strings.TrimSpace(parts[len(parts)-1]) == "" {
		parts = parts[:len(parts)-1]
	}
	last = parts[len(parts)-1]
	either := splitShell(last, "||")
	return strings.TrimSpace(either[len(either)-1]), len(either) > 1
}

// splitShell splits a command where none of the separators is in quotes or brackets.
func splitShell(command string, separators ...string) (parts []string) {
	from, depth := 0, 0
	for i := 0; i < len(command); i++ {
		switch command[i] {
		case '\\':
			i++
			continue
		case '"', '\'', '`':
			i += endOfString(command[i:])
			continue
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
		for _, s := range separators {
			if depth <= 0 && strings.HasPrefix(command[i:], s) {
				parts = append(parts, command[from:i])
				from = i + len(s)
				i = from - 1
				break
			}
		}
	}
	return append(parts, command[min(from, len(command)):])
}

// emptyStarted looks into what a single command starts.
func (f *finder) emptyStarted(command string, files []*source, depth int) *nothing {
	if m := inlineShell().FindStringSubmatch(command); m != nil {
		return f.emptyCommand(m[1]+m[2], files, depth-1)
	}
	if m := makeCommand().FindStringSubmatch(command); m != nil {
		return f.emptyTarget(m[1], files, depth)
	}
	if m := npmCommand().FindStringSubmatch(command); m != nil {
		return f.emptyScript(m[1], files, depth)
	}
	m := shellScript().FindStringSubmatch(command)
	if m == nil {
		return nil
	}
	s := find(files, path.Join(f.Dir, m[2]))
	if s == nil || dialects[s.ext] != shellCase {
		return nil
	}
	return f.emptyShell(s, strings.Contains(m[1], "e"), files, depth)
}

// emptyShell says why a shell script exits with 0 whatever happens.
func (f *finder) emptyShell(s *source, stops bool, files []*source, depth int) *nothing {
	stops = stops || stopOnError().MatchString(s.text)
	last, pipes := -1, ""
	if strings.Contains(s.text, "pipefail") {
		pipes = "set -o pipefail;"
	}
	for i, l := range s.lines {
		if l.indent < 0 || stopOnError().MatchString(l.code) {
			continue
		}
		trimmed := strings.TrimSpace(l.code)
		if exitTrap().MatchString(l.code) {
			return &nothing{s, i, trimmed}
		}
		if l.indent == 0 && (trimmed == "exit 0" || trimmed == "exit") && s.next(i) < len(s.lines) && !f.failsBefore(s, i) {
			return &nothing{s, i, "it ends here, before its other commands"}
		}
		if canFail().MatchString(l.bare) {
			return nil
		}
		if stops && !emptyWord().MatchString(l.code) && !shellSyntax().MatchString(l.code) {
			if f.emptyCommand(pipes+l.code, files, depth-1) == nil {
				return nil
			}
		}
		if l.indent == 0 {
			last = i
		}
	}
	switch {
	case last < 0:
		return &nothing{s, -1, "it has no command"}
	case stops:
		return &nothing{s, last, strings.TrimSpace(s.lines[last].code)}
	}
	if why := f.emptyCommand(pipes+s.lines[last].code, files, depth-1); why != nil {
		return &nothing{s, last, strings.TrimSpace(s.lines[last].code)}
	}
	return nil
}

var shellSyntax = units.Pattern(`^\s*(?:\w+=\S*\s*$|fi\b|done\b|else\b|then\b|do\b|\}|esac\b|export\s|cd\s|\w+\s*\(\)\s*\{)`)

// failsBefore reports whether a script can fail before a line.
func (f *finder) failsBefore(s *source, at int) bool {
	stops := stopOnError().MatchString(s.text)
	for i := range at {
		l := s.lines[i]
		isCommand := !stopOnError().MatchString(l.code) && !emptyWord().MatchString(l.code) && !shellSyntax().MatchString(l.code)
		if l.indent >= 0 && (canFail().MatchString(l.bare) || stops && isCommand) {
			return true
		}
	}
	return false
}

var targetLine = units.Pattern(`^([\w./ -]+?)\s*::?(?:[^=].*)?$`)

// emptyTarget says why a target of a makefile cannot fail.
func (f *finder) emptyTarget(arguments string, files []*source, depth int) *nothing {
	dir, target := f.Dir, ""
	args := strings.Fields(arguments)
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-C" && i+1 < len(args):
			dir = path.Join(dir, args[i+1])
			i++
		case arg == "-i" || arg == "--ignore-errors":
			return &nothing{line: -1, text: "make " + arg}
		case strings.HasPrefix(arg, "-") || strings.Contains(arg, "="):
		case target == "":
			target = arg
		default:
			return nil // of several targets one may fail
		}
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if s := find(files, path.Join(dir, name)); s != nil {
			return f.emptyRecipe(s, target, files, depth)
		}
	}
	return nil
}

// emptyRecipe says why a target cannot fail, with what it needs.
func (f *finder) emptyRecipe(s *source, target string, files []*source, depth int) *nothing {
	at, needs, lines := recipe(s, target)
	if f.started++; at < 0 || depth == 0 || f.started > mostCommands {
		return nil
	}
	texts := strings.Split(s.text, "\n")
	ignore := ignoresErrors().MatchString(s.text)
	found := &nothing{s, at, "it has no command"}
	for _, need := range needs {
		why := f.emptyRecipe(s, need, files, depth-1)
		if !ignore && why == nil && !strings.Contains(need, ".") {
			return nil
		}
		found = cmp.Or(why, found)
	}
	for _, i := range lines {
		text := strings.TrimLeft(texts[i], "\t @")
		switch why := f.emptyCommand(strings.ReplaceAll(text, "$(MAKE)", "make"), files, depth-1); {
		case ignore || strings.HasPrefix(text, "-"):
			found = &nothing{s, i, strings.TrimSpace(texts[i])}
		case why == nil:
			return nil
		case why.s != nil:
			found = why
		default:
			found = &nothing{s, i, strings.TrimSpace(texts[i])}
		}
	}
	if found.line == at && len(needs) > 0 && !ignore {
		return nil // it is only there for what it needs
	}
	return found
}

var ignoresErrors = units.Pattern(`(?m)^\.IGNORE:|^MAKEFLAGS.*-i\b`)

// recipe returns the line of a target in a makefile, what it needs, and the lines of its commands.
// Without a name it is the first target.
func recipe(s *source, target string) (at int, needs []string, lines []int) {
	at = -1
	for i, text := range strings.Split(s.text, "\n") {
		m := targetLine().FindStringSubmatch(text)
		switch {
		case at < 0 && m != nil && !strings.HasPrefix(text, ".") && (target == "" || strings.Contains(" "+m[1]+" ", " "+target+" ")):
			at = i
			_, after, _ := strings.Cut(text, ":")
			needs = strings.Fields(strings.TrimLeft(after, ":"))
		case at >= 0 && !strings.HasPrefix(text, "\t") && strings.TrimSpace(text) != "":
			return at, needs, lines
		case at >= 0:
			if command := strings.TrimLeft(text, "\t @"); command != "" && command[0] != '#' {
				lines = append(lines, i)
			}
		}
	}
	return at, needs, lines
}

// emptyScript says why a script of package.json cannot fail.
func (f *finder) emptyScript(name string, files []*source, depth int) *nothing {
	command, s, ok := f.packageScript(name, files)
	if !ok {
		return nil
	}
	why := f.emptyCommand(command, files, depth-1)
	if why != nil && why.s == nil {
		return &nothing{s, s.lineWith(`"` + name + `"`), command}
	}
	return why
}

// packageScript returns a script of package.json.
func (f *finder) packageScript(name string, files []*source) (string, *source, bool) {
	s := find(files, path.Join(f.Dir, "package.json"))
	if s == nil {
		return "", nil, false
	}
	command, ok := s.scripts()[cmp.Or(map[string]string{"t": "test"}[name], name)]
	return command, s, ok
}

// scripts are those of a package.json.
func (s *source) scripts() map[string]string {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	_ = json.Unmarshal([]byte(s.text), &pkg) // a file that is not understood has none
	return pkg.Scripts
}

func (s *source) lineWith(text string) int {
	before, _, _ := strings.Cut(s.text, text)
	return strings.Count(before, "\n")
}

// names reports whether a command, or what it starts, names a file.
func (f *finder) names(command, file string) bool {
	rel := strings.TrimPrefix(file, strings.TrimSuffix(path.Clean(f.Dir), ".")+"/")
	if f.Dir == "" || f.Dir == "." {
		rel = file
	}
	return slices.ContainsFunc(strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t;&|()\"'=", r) }), func(arg string) bool {
		return path.Clean(arg) == rel
	})
}
