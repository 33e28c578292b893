package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

func runUnset(c *command) string {
	for _, arg := range c.args {
		delete(c.vars, arg)
	}
	return c.judged()
}

// runExport is export in another place than at the start of a command, such as in 'builtin export'.
func runExport(c *command) string {
	for _, arg := range c.args {
		if name, text, ok := strings.Cut(arg, "="); ok && syntax.ValidName(name) {
			c.assign(name, value{any: []string{text}}, false)
			c.environment(name, []string{text})
		}
	}
	return ""
}

// runCd follows the shell to another folder, as if that succeeded.
func runCd(c *command) string {
	switch o := c.options(); {
	case c.name == "popd":
		c.shell.dir = ""
	case len(o.operands) > 0:
		c.enterFolder(o.operands[0])
	default:
		c.enterFolder(c.Home)
	}
	return ""
}

// enterFolder changes the shell's folder.
func (s *shell) enterFolder(name string) {
	if strings.HasPrefix(name, "/") {
		s.dir = path.Clean(name)
	} else {
		s.dir = s.absolute(name)
	}
	const longest = 4096 // of a path
	if hasUnknown(s.dir) || strings.ContainsAny(s.dir, "*?") || len(s.dir) > longest {
		s.dir = ""
	}
}

// runRead sets variables to the input's lines. What a line is divided into is not worked out.
func runRead(c *command) string {
	o := c.options("a", "d", "i", "n", "N", "p", "t", "u")
	if c.name != "read" {
		o = c.options("d", "n", "u", "C", "c", "O", "s")
	}
	lines := value{any: atMost(strings.Split(strings.TrimRight(orInput(c.in), "\n"), "\n"))}
	for _, name := range append(o.operands, o.of("a")...) {
		switch {
		case c.name != "read":
			c.assign(name, value{list: lines.any}, false)
		case o.has("a"):
			c.assign(name, value{list: lines.derived().any}, false)
		case len(o.operands) > 1:
			c.assign(name, lines.derived(), false)
		default:
			c.assign(name, lines, false)
		}
	}
	return ""
}

// runSet carries out 'set -- words'.
func runSet(c *command) string {
	for i, arg := range c.args {
		if arg == "--" {
			i++
		} else if strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+") || arg == "" {
			continue
		}
		c.shell.params, c.shell.given = c.args[i:], true
		break
	}
	return ""
}

var directive = units.Pattern(`%[-+ #0-9.*l]*[a-zA-Z%]`)

// runPrintf is printf: the format is used again until no argument is left.
func runPrintf(c *command) string {
	args, name := c.args, ""
	if len(args) > 1 && args[0] == "-v" {
		name, args = args[1], args[2:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	layout, text := ansi(args[0]), ""
	for args = args[1:]; ; {
		left := len(args)
		text += directive().ReplaceAllStringFunc(layout, func(directive string) string {
			kind, arg := directive[len(directive)-1], ""
			if kind != '%' && len(args) > 0 {
				arg, args = args[0], args[1:]
			}
			switch kind {
			case '%':
				return "%"
			case 'b':
				arg = ansi(arg)
			}
			return arg
		})
		if len(args) == 0 || len(args) == left || !c.spend(1+len(text)/256) {
			break
		}
	}
	if name != "" {
		c.assign(name, value{any: []string{text}}, false)
		return ""
	}
	return text
}

// runTee writes its input to files.
func runTee(c *command) string {
	for _, file := range c.options().operands {
		c.write(file)
		c.keep(file, c.in.text)
	}
	return c.in.text
}

// runCommand judges 'command NAME'; 'command -v NAME' prints the name.
func runCommand(c *command) string {
	o := c.leading()
	if o.has("v", "V") {
		return o.words(1)
	}
	return c.program(o.operands, c.in)
}

func runExec(c *command) string {
	return c.program(c.leading("a").operands, c.in)
}

func runEval(c *command) string {
	text := strings.Join(c.args, " ")
	if c.isUnread(text) {
		return unknown
	}
	return c.script(text, c.in)
}

// runTrap judges the text of 'trap TEXT SIGNAL' as if the signal came.
func runTrap(c *command) string {
	if rest := c.leading().operands; len(rest) > 1 && rest[0] != "-" {
		c.fork().script(rest[0], input{})
	}
	return ""
}

// runSource judges a file whose text is known from this command, and lets all others pass: they
// are as unknown as scripts that are run by their names.
func runSource(c *command) string {
	if len(c.args) == 0 {
		return unknown
	}
	return c.runFile(c.args[0], func(text string) string { return c.script(text, c.in) })
}

// shellOptions are the options of shells that take a value.
var shellOptions = []string{"o", "O", "rcfile", "init-file"}

// runShell judges what another shell runs: the text of -c, a file, or its input.
func runShell(c *command) string {
	if len(c.args) == 2 && c.args[0] == "-n" && !strings.HasPrefix(c.args[1], "-") && !strings.HasPrefix(c.args[1], "+") {
		return "" // it checks the form of a script
	}
	args := slices.Clone(c.args)
	for i, arg := range args { // +x switches an option off
		if len(arg) < 2 || !strings.Contains("+-", arg[:1]) {
			break
		}
		if arg[0] == '+' {
			args[i] = "-" + strings.ReplaceAll(arg[1:], "c", "")
		}
	}
	o := sortArgs(args, true, shellOptions)
	run := func(text string) string { return c.runText(text, o.operands[min(1, len(o.operands)):]) }
	for _, file := range o.of("rcfile", "init-file") {
		c.runFile(file, run)
	}
	switch {
	case o.has("c"):
		if len(o.operands) == 0 {
			return unknown
		}
		params := o.operands[1:]
		return c.runText(o.operands[0], params[min(1, len(params)):])
	case len(o.operands) > 0 && !o.has("s"):
		return c.runFile(o.operands[0], run)
	case c.in.given:
		text := c.in.text
		c.in = input{}
		return c.runText(text, o.operands)
	}
	return unknown
}

// runFile judges a script: its text, if this command has written it.
func (c *command) runFile(file string, run func(text string) string) string {
	text, written := c.files[c.absolute(file)]
	if c.in.given && slices.Contains([]string{"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0", "-"}, file) {
		text, written = c.in.text, true
	}
	switch base := file[strings.LastIndexByte(file, '/')+1:]; {
	case written && c.isUnread(text):
	case written:
		return run(text)
	case strings.Contains(file, "://"):
		c.runsForeign(downloaded)
	case hasUnknown(base) && !c.runsForeign(origin(base)):
		c.cannotJudge("the name of the file that it runs is in a variable or comes from another command")
	}
	return unknown
}
