package shellguard

import (
	"path"
	"slices"
	"strings"
)

// runFind judges what find does with the files that it finds.
func runFind(c *command) string {
	var starts []string
	tests, rest, name := false, c.args, "found"
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "(") && rest[0] != "!" && (!strings.HasPrefix(rest[0], "-") || rest[0] == "-L" || rest[0] == "-H" || rest[0] == "-P" || rest[0] == "-E") {
		if rest[0][:min(1, len(rest[0]))] != "-" {
			starts = append(starts, rest[0])
		}
		rest = rest[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case "-delete":
			for _, start := range starts {
				c.removeBelow(start, tests)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(rest) && rest[end] != ";" && rest[end] != "+" {
				end++
			}
			c.foundCommand(rest[i+1:end], starts, name, tests)
			i = end
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(rest) {
				c.write(rest[i+1])
			}
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex":
			if i+1 < len(rest) {
				tests = tests || strings.Trim(rest[i+1], "*") != ""
				if rest[i] == "-name" && !strings.ContainsAny(rest[i+1], "*?["+unknowns) {
					name = rest[i+1]
				}
			}
		case "-type", "-maxdepth", "-xdev", "-mount", "-depth", "-mindepth", "-print", "-print0":
		default:
			tests = tests || strings.HasPrefix(rest[i], "-")
		}
	}
	var found strings.Builder
	for _, start := range starts {
		found.WriteString(c.below(start, name) + "\n")
	}
	return found.String()
}

// below returns the path of what is found below a folder.
func (c *command) below(start, name string) string {
	if start == "" || hasUnknown(start[:1]) {
		return unknown
	}
	return strings.TrimSuffix(start, "/") + "/" + name
}

// foundCommand judges the command of find -exec with the files of each start.
func (c *command) foundCommand(words, starts []string, name string, tests bool) {
	for _, start := range starts {
		if len(words) > 0 && !tests && slices.Contains([]string{"rm", "shred", "unlink"}, programName(words[0])) {
			c.removeBelow(start, false)
		}
		c.simple(c.foundIn(words, start, name), input{})
	}
}

// foundIn puts a file below a folder in the place of {}.
func (c *command) foundIn(words []string, start, name string) []string {
	words = slices.Clone(words)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "{}", c.below(start, name))
	}
	return words
}

// removeBelow judges the removal of files below a folder, all of them or those that a test chooses.
func (c *command) removeBelow(start string, some bool) {
	if !some {
		c.remove(path.Join(start, "*"), true)
		return
	}
	switch c.place(start) {
	case inSystem, inHome, aboveProject:
		c.deny(Files, "it removes files all over "+start+". Name the one folder in the project that you mean.")
	case atUnknown:
		c.cannotJudge("the folder where it removes files is in a variable or comes from another command")
	}
}
