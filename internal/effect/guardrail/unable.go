package guardrail

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// unable returns the line in which a failed command says that it cannot run at all; empty for one
// that merely failed.
//
// A shell exits with 126 or 127 where it cannot run or find a program; npm passes that on, and make
// prints it. Tools say in words of their own that they have no target, script, task or package of a
// name. What these have in common is a phrase for what is missing, beside a word of the command. A
// missing file among the arguments is a failure like others: the agent may have to write it.
func unable(command string, code int, output string) string {
	lines := firstLines(output)
	awaited := false // a file among the arguments is missing
	commands := simpleCommands(command)
	for i := 0; i < len(commands); i++ {
		words := slices.DeleteFunc(commands[i], func(w string) bool { return w == "" })
		program := programs(words).program
		for at, word := range words {
			if strings.ContainsAny(word, " \t\n;&|") {
				commands = append(commands, simpleCommands(word)...) // sh -c "…"
				continue
			}
			missing := missingName(word)
			for _, line := range lines {
				switch {
				case missing == nil || !missing.MatchString(line):
				case aboutFile().MatchString(line), path.Ext(word) != "":
					awaited = awaited || at != program
				default:
					return line
				}
			}
		}
	}
	said := slices.IndexFunc(lines, notRun().MatchString)
	switch {
	case said >= 0:
		return lines[said]
	case awaited || code != 126 && code != 127:
		return ""
	case len(lines) == 0:
		return "it printed nothing"
	}
	return lines[max(0, slices.IndexFunc(lines, notFound().MatchString))]
}

// unableLines is how many lines of an output are looked at: a command that does its work may print
// anything later.
const unableLines = 20

func firstLines(output string) (lines []string) {
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < unableLines {
			lines = append(lines, line)
		}
	}
	return lines
}

var (
	aboutFile = units.Pattern(`(?i)no such file|file or directory`)
	notFound  = units.Pattern(`(?i)not found|no such file|denied|cannot execute|not recognized`)
	// notRun is what make prints of a program that its shell cannot run or find.
	notRun = units.Pattern(`^\S*make\S* \*\*\* .*\bError 12[67]$`)
)

// What is before and after a name that is missing, and the words between.
const (
	missingBefore = `\b(?:no rule to make|missing|unknown|unrecogni[sz]ed|undefined|no such|not found|(?:cannot|can't|could not) find|does not (?:contain|have)|don't know how to build)`
	missingWords  = `(?: (?:an?|the|command|subcommand|script|target|task|recipe|rule|goal|lifecycle|phase|package|module|project|suite|session|environment|service|in|configuration|file|or|directory|named|called))*`
	missingAfter  = `(?:(?:is|was) )?(?:not (?:found|defined|declared|in std|recognized|an? )|(?:command|directory) not found|no such|does(?: not|n't) exist|could not be found|unknown)`
)

// missingName matches a line that says that there is nothing of a word's name; nil for a word that
// is no name. The name is in quotes or beside a colon, since a word such as test is in many lines.
func missingName(word string) *regexp.Regexp {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(word, "/..."), "./"), "/")
	if len(name) < 2 || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "$*?=") {
		return nil
	}
	const quote = "[\"'`‘’“”]"
	name = `(?:[^\s"']*/)?` + regexp.QuoteMeta(name)
	return regexp.MustCompile(`(?i)` + missingBefore + missingWords + `(?:: ?| ` + quote + `|: ?` + quote + `)` + name +
		`(?:[\s,;)]|[.:]?(?:\s|$)|` + quote + `|$)` +
		`|(?:^|[\s(])` + quote + name + quote + ` ` + missingAfter +
		`|(?:^|[\s(])` + name + `/?: ` + missingAfter +
		`|\bpackage ` + name + ` is not in |\bno (?:[a-z]+ )+(?:named|called) ` + quote + `?` + name + `(?:` + quote + `|$)`)
}
