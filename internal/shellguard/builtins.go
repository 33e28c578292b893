package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func runAlias(c *command) string {
	for _, arg := range c.args {
		if name, text, ok := strings.Cut(arg, "="); ok {
			c.aliases[name] = text
		}
	}
	return ""
}

func runUnset(c *command) string {
	for _, arg := range c.args {
		delete(c.aliases, arg)
		delete(c.funcs, arg)
		if c.name == "unset" {
			if arg == "HISTFILE" {
				c.deny(Tracks, "it stops the record of commands. Leave HISTFILE as it is.")
			}
			delete(c.vars, arg)
		}
	}
	return ""
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
	if o := c.options(); len(o.operands) > 0 {
		c.enterFolder(o.operands[0])
	} else {
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

// runHash carries out 'hash -p PROGRAM NAME'.
func runHash(c *command) string {
	o := c.options("p")
	for _, program := range o.of("p") {
		for _, name := range o.operands {
			c.aliases[name] = program
		}
	}
	return ""
}

func runPopd(c *command) string {
	c.shell.dir = ""
	return ""
}

// runRead sets variables to the input's first line.
func runRead(c *command) string {
	o := c.options("a", "d", "i", "n", "N", "p", "t", "u")
	if c.name != "read" {
		o = c.options("d", "n", "u", "C", "c", "O", "s")
	}
	text := unknown
	if c.in.given {
		text = c.in.text
	}
	if c.name != "read" || o.has("a") {
		list := strings.Fields(text)
		if c.name != "read" {
			list = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
		for _, name := range append(o.operands, o.of("a")...) {
			c.assign(name, value{list: atMost(list)}, false)
		}
		return ""
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, name := range o.operands {
		var any []string
		for _, line := range atMost(lines) {
			fields := strings.Fields(line)
			switch {
			case len(o.operands) == 1:
				any = append(any, line)
			case hasUnknown(line):
				any = append(any, unknown)
			case i < len(fields) && i == len(o.operands)-1:
				any = append(any, strings.Join(fields[i:], " "))
			case i < len(fields):
				any = append(any, fields[i])
			default:
				any = append(any, "")
			}
		}
		c.assign(name, value{any: any}, false)
	}
	return ""
}

// runSet carries out 'set -- words'.
func runSet(c *command) string {
	for i, arg := range c.args {
		if arg == "--" || arg != "" && !strings.ContainsAny(arg[:1], "-+") {
			if arg == "--" {
				i++
			}
			c.shell.params, c.shell.given = c.args[i:], true
			break
		}
	}
	return ""
}

func runPrintf(c *command) string {
	args := c.args
	name := ""
	if len(args) > 1 && args[0] == "-v" {
		name, args = args[1], args[2:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	text := format(ansi(args[0]), args[1:])
	if name != "" {
		c.assign(name, value{any: []string{text}}, false)
		return ""
	}
	return text
}

// format is printf: the format is used again until no argument is left.
func format(layout string, args []string) string {
	var b strings.Builder
	for {
		used := 0
		for i := 0; i < len(layout); i++ {
			if layout[i] != '%' || i+1 == len(layout) {
				b.WriteByte(layout[i])
				continue
			}
			for i++; i+1 < len(layout) && strings.IndexByte("-+ #0123456789.*l", layout[i]) >= 0; i++ {
			}
			if layout[i] == '%' {
				b.WriteByte('%')
				continue
			}
			arg := ""
			if used < len(args) {
				arg = args[used]
			}
			used++
			if layout[i] == 'b' {
				arg = ansi(arg)
			}
			b.WriteString(arg)
		}
		if used == 0 || used >= len(args) {
			return b.String()
		}
		args = args[used:]
	}
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
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if c.isUnread(text) {
		return unknown
	}
	return c.script(text, c.in)
}

// runTrap judges the text of 'trap TEXT SIGNAL' as if the signal came.
func runTrap(c *command) string {
	rest := c.leading().operands
	if len(rest) < 2 || rest[0] == "-" {
		return ""
	}
	c.fork().script(rest[0], input{})
	return ""
}

// runSource judges a file whose text is known from this command, and lets all others pass: they
// are as unknown as scripts that are run by their names.
func runSource(c *command) string {
	if len(c.args) == 0 {
		return unknown
	}
	file := c.args[0]
	base := file[strings.LastIndexByte(file, '/')+1:]
	text, written := c.files[c.absolute(file)]
	switch {
	case written && c.isUnread(text):
	case written:
		return c.script(text, c.in)
	case hasUnknown(base):
		if !c.runsForeign(origin(base)) {
			c.cannotJudge("the name of the file that it runs is in a variable or comes from another command")
		}
	case slices.Contains([]string{"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0", "-"}, file) && c.in.given:
		return c.runText(c.in.text, nil)
	}
	return unknown
}

// shellOptions are the options of shells that take a value.
var shellOptions = []string{"o", "O", "rcfile", "init-file"}

// runShell judges what another shell runs: the text of -c, a file, or its input.
func runShell(c *command) string {
	if len(c.args) == 2 && c.args[0] == "-n" && !strings.ContainsAny(c.args[1][:min(1, len(c.args[1]))], "-+") {
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
	for _, file := range o.of("rcfile", "init-file") {
		if text, ok := c.files[c.absolute(file)]; ok {
			c.runText(text, nil)
		}
	}
	switch {
	case o.has("c"):
		if len(o.operands) == 0 {
			return unknown
		}
		params := o.operands[1:]
		return c.runText(o.operands[0], params[min(1, len(params)):])
	case len(o.operands) > 0 && !o.has("s"):
		return c.runFile(o.operands[0], o.operands[1:])
	case c.in.given:
		text := c.in.text
		c.in = input{}
		return c.runText(text, o.operands)
	}
	return unknown
}

// runFile judges a script: its text, if this command has written it.
func (c *command) runFile(file string, params []string) string {
	if slices.Contains([]string{"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0", "-"}, file) && c.in.given {
		return c.runText(c.in.text, params)
	}
	if text, ok := c.files[c.absolute(file)]; ok {
		return c.runText(text, params)
	}
	if strings.Contains(file, "://") {
		c.runsForeign(downloaded)
		return unknown
	}
	if base := file[strings.LastIndexByte(file, '/')+1:]; hasUnknown(base) && !c.runsForeign(origin(base)) {
		c.cannotJudge("the name of the file that it runs is in a variable or comes from another command")
	}
	return unknown
}
