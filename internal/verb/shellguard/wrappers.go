package shellguard

import (
	"slices"
	"strings"
)

// runners are the commands that run others. Each judges what it runs, and returns what that would
// print. See [fill].
var runners map[string]func(*command) string

func fillRunners() {
	runners = map[string]func(*command) string{
		"env": runEnv, "xargs": runXargs, "parallel": runXargs, "find": runFind, "fd": runFd, "fdfind": runFd,
		"ssh": runSSH, "eval": runEval, "trap": runTrap, "source": runSource, ".": runSource, "exec": runExec,
		"watch": runWatch, "hyperfine": runWatch, "git": runGit,
		"tmux": runTerminal, "screen": runTerminal, "command": runCommand, "docker": runDocker, "podman": runDocker, "nerdctl": runDocker,
		"cd": runCd, "pushd": runCd, "popd": runCd, "read": runRead, "set": runSet, "printf": runPrintf,
		"mapfile": runRead, "readarray": runRead, "unset": runUnset, "tee": runTee,
		"export": runExport, "declare": runExport, "typeset": runExport, "local": runExport, "readonly": runExport,
	}
	for _, name := range []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash"} {
		runners[name] = runShell
	}
	for _, row := range wrapperRows {
		for _, name := range strings.Fields(row.names) {
			runners[name] = row.run
		}
	}
	for _, name := range []string{"sudo", "doas", "pkexec", "gosu", "su-exec", "chroot", "unshare", "nsenter", "runas"} {
		runners[name] = runPrivileged
	}
	for name := range languages {
		runners[name] = runInterpreter
	}
}

// A wrapperRow has programs that run the command which follows their options.
type wrapperRow struct {
	names  string
	values string // options that take a value
	verbs  string // the command follows one of them; "*" is any operand
}

var wrapperRows = []wrapperRow{
	{"nohup setsid builtin busybox toybox numactl unbuffer torsocks catchsegv valgrind eatmydata fakeroot firejail bwrap rlwrap winpty coproc", "", ""},
	{"dbus-run-session entr noglob nocorrect exec-wrapper chronic ts bunx pnpx retry daemonize prlimit", "", ""},
	{"nice", "n adjustment", ""}, {"ionice", "c n p class classdata", ""}, {"time", "f o format output", ""}, {"stdbuf", "i o e", ""},
	{"strace ltrace", "e o p s", ""}, {"caffeinate", "t w", ""}, {"proxychains proxychains4", "f", ""}, {"xvfb-run", "s", ""},
	{"systemd-run", "p u unit uid", ""}, {"npx", "p package c call", ""}, {"taskset chrt", "", "*"}, {"flock", "w timeout E", "*"},
	{"timeout gtimeout", "k s signal kill-after", "*"},
	{"poetry pipenv uv op", "", "run"}, {"bundle direnv", "", "exec"}, {"dotenvx", "f", "run"}, {"perf", "", "stat record"},
}

func (w wrapperRow) run(c *command) string {
	rest := c.leading(strings.Fields(w.values)...).operands
	if w.verbs != "" {
		if len(rest) == 0 || w.verbs != "*" && !slices.Contains(strings.Fields(w.verbs), rest[0]) {
			return c.judged()
		}
		for rest = rest[1:]; w.verbs != "*" && len(rest) > 0 && strings.HasPrefix(rest[0], "-"); rest = rest[1:] {
		}
		if c.name == "direnv" && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if len(rest) > 1 && (rest[0] == "-c" || rest[0] == "--command") { // flock
		return c.nested(rest[1], nil, c.in)
	}
	return c.program(rest, c.in)
}

// program is simple for words that run a program, and never a function or an alias of this text.
func (s *shell) program(argv []string, in input) string {
	if len(argv) == 0 {
		return unknown
	}
	calling := s.calling
	s.calling = append(slices.Clip(calling), argv[0])
	defer func() { s.calling = calling }()
	return s.simple(argv, in)
}

// runPrivileged reports that a command gets another user's rights, and judges it too.
func runPrivileged(c *command) string {
	withValue := []string{"u", "g", "C", "h", "p", "r", "t", "T", "U", "D", "R", "S", "user", "group", "target", "userspec", "host", "prompt", "role", "type", "chdir", "close-from"}
	if c.name == "unshare" || c.name == "nsenter" {
		withValue = []string{"S", "G", "R", "w", "t", "target", "root", "wd"}
	}
	o := c.leading(withValue...)
	rest := o.operands
	switch c.name {
	case "unshare", "nsenter":
		if c.name == "nsenter" {
			c.deny(Container, "it enters the namespaces of another process and so leaves the container. Work inside of the container.")
		}
	case "chroot", "gosu", "su-exec":
		c.deny(Privilege, c.name+" runs a command as another user or in another root. Run it as the current user, or ask the person.")
		rest = rest[min(1, len(rest)):]
	default:
		if len(rest) == 0 && !o.has("s", "i", "e", "shell", "login", "edit") && o.has("k", "K", "V", "h", "help", "version") {
			return "" // forgets the password
		}
		c.deny(Privilege, c.name+" runs a command with the rights of another user. Do it without, in the project or in the home folder, or ask the person.")
	}
	rest = c.withVariables(rest)
	if len(rest) == 0 {
		if c.in.given && o.has("s", "i", "shell", "login") {
			return c.runText(c.in.text, nil)
		}
		return unknown
	}
	return c.program(rest, c.in)
}

// withVariables judges the variables before a command, and returns the command.
func (c *command) withVariables(words []string) []string {
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, text, _ := strings.Cut(words[0], "=")
		c.environment(name, []string{text})
		words = words[1:]
	}
	return words
}

func runEnv(c *command) string {
	o := c.leading("u", "C", "S", "unset", "chdir", "split-string")
	rest := o.operands
	if len(rest) > 0 && rest[0] == "-" { // the same as -i
		rest = rest[1:]
	}
	for _, text := range o.of("S", "split-string") {
		rest = append(strings.Fields(text), rest...)
	}
	rest = c.withVariables(rest)
	if len(rest) == 0 {
		return unknown
	}
	s := c.shell
	for _, folder := range o.of("C", "chdir") {
		s = s.fork()
		s.enterFolder(folder)
	}
	return s.program(rest, c.in)
}

// runXargs judges a command with the words of its input.
func runXargs(c *command) string {
	o := c.leading("I", "i", "n", "P", "L", "d", "s", "a", "E", "j", "max-args", "max-procs", "delimiter", "arg-file", "replace", "jobs")
	rest := o.operands
	if i := slices.Index(rest, ":::"); i >= 0 { // parallel
		c.in, rest = from(strings.Join(rest[i+1:], "\n")), rest[:i]
	}
	text := orInput(c.in)
	for _, file := range o.of("a", "arg-file") {
		text = c.content(file)
	}
	replace := c.name == "parallel" || o.has("I", "i", "replace")
	lines := replace || o.has("d", "delimiter", "0", "null")
	items := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == 0 || !lines && (r == ' ' || r == '\t') })
	for i, item := range items {
		items[i] = strings.Trim(item, `'"`)
	}
	items = atMost(items)
	switch {
	case len(rest) == 0 && c.name == "parallel":
		return c.runText(text, nil)
	case len(rest) == 0:
		return strings.Join(items, " ")
	}
	holder := firstOf(append(o.of("I", "i", "replace"), "{}"))
	if !replace || !strings.Contains(strings.Join(rest, " "), holder) {
		return c.shellOrSimple(slices.Concat(rest, items))
	}
	var printed strings.Builder
	for _, item := range items {
		words := slices.Clone(rest)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], holder, item)
		}
		printed.WriteString(c.shellOrSimple(words))
	}
	return printed.String()
}

// shellOrSimple judges the words that xargs or parallel runs; parallel runs them as shell text.
func (c *command) shellOrSimple(words []string) string {
	if c.name == "parallel" {
		return c.nested(strings.Join(words, " "), nil, input{})
	}
	return c.program(words, input{})
}

// runSSH judges the command for another machine as if it ran here.
func runSSH(c *command) string {
	o := c.leading("b", "c", "D", "E", "e", "F", "I", "i", "J", "L", "l", "m", "O", "o", "p", "Q", "R", "S", "W", "w")
	if o.has("R", "D", "w") {
		c.deny(RemoteShell, "it opens a tunnel into this machine or through it. Connect without -R, -D and -w.")
	}
	for _, option := range o.of("o") {
		if name, text, _ := strings.Cut(option, "="); strings.EqualFold(name, "ProxyCommand") || strings.EqualFold(name, "LocalCommand") {
			c.nested(text, nil, input{})
		}
	}
	if len(o.operands) == 0 {
		return unknown
	}
	text := strings.TrimPrefix(strings.Join(o.operands[1:], " "), "-- ")
	if c.in.given {
		c.uploads(c.in.text, o.operands[0])
		if text == "" && origin(c.in.text) == "" {
			text = c.in.text
		}
	}
	remote := c.fork()
	remote.dir = ""
	remote.nested(text, nil, c.in)
	return foreign
}

// runWatch judges the words of watch as one text, and each word of hyperfine as one.
func runWatch(c *command) string {
	between := map[string]string{"watch": " ", "hyperfine": "\n"}[c.name]
	return c.nested(strings.Join(c.leading("n", "interval").operands, between), nil, input{})
}

// runTerminal judges what tmux and screen run in their windows.
func runTerminal(c *command) string {
	if c.name == "screen" {
		o := c.leading("S", "t", "c", "h", "p", "s", "T", "e", "X")
		c.program(append(o.of("X"), o.operands...), input{})
		return unknown
	}
	values := []string{"s", "n", "t", "c", "x", "y", "F", "e", "l", "p"}
	rest := c.leading("S", "L", "f").operands
	if len(rest) > 0 { // tmux new -d sh -c TEXT
		c.program(sortArgs(rest[1:], true, values).operands, input{})
	}
	o := sortArgs(rest, false, values)
	for i, word := range o.operands {
		if i > 0 && word != "Enter" && word != "C-m" {
			c.nested(word, nil, input{})
		}
	}
	return c.judged()
}

// fdOptions are the options of fd that take a value.
var fdOptions = []string{"e", "d", "t", "E", "S", "extension", "max-depth", "type", "exclude", "size", "changed-before", "changed-within"}

func runFd(c *command) string {
	for i, arg := range c.args {
		if !slices.Contains([]string{"-x", "--exec", "-X", "--exec-batch"}, arg) {
			continue
		}
		o := sortArgs(c.args[:i], false, fdOptions)
		starts := []string{"."}
		if len(o.operands) > 1 {
			starts = o.operands[1:]
		}
		words := c.args[i+1:]
		if !strings.Contains(strings.Join(words, " "), "{") {
			words = append(slices.Clip(words), "{}")
		}
		all := len(o.operands) == 0 || strings.Trim(o.operands[0], ".*^$") == ""
		c.foundCommand(words, starts, "found", !all || o.has("e", "extension", "E", "exclude", "d", "max-depth", "changed-before", "size", "S"))
		return unknown
	}
	return c.below(".", "found")
}
