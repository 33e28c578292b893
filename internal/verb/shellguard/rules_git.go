package shellguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// runGit judges git, and the commands that it runs by itself.
func runGit(c *command) string {
	sub := &command{c.fork(), c.name, nil, c.in}
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-C":
			if len(args) > 1 {
				sub.shell.dir = sub.absolute(args[1])
			}
		case "-c", "--config-env":
			if len(args) > 1 {
				name, text, _ := strings.Cut(args[1], "=")
				c.gitSetting(name, text, false)
			}
		}
		if option, _, _ := strings.Cut(args[0], "="); option == "--git-dir" || option == "--work-tree" {
			c.elsewhere = true
		}
		if slices.Contains([]string{"-C", "-c", "--config-env", "--git-dir", "--work-tree", "--exec-path", "--namespace"}, args[0]) {
			args = args[min(2, len(args)):]
			continue
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	sub.args = args[1:]
	if judge := rules["git-"+args[0]]; judge != nil {
		judge(sub)
	}
	if print := printers["git-"+args[0]]; print != nil {
		return print(sub)
	}
	return unknown
}

// clean reports whether the work tree has nothing that is not committed. It does not know that of
// another tree than that of the folder, nor after changes were taken out of the stash.
func (c *command) clean() bool {
	set := func(name string) bool { text, _ := c.Env(name); return text != "" }
	if c.Clean == nil || c.elsewhere || c.dir == "" || c.Env != nil && slices.ContainsFunc(gitPlaces, set) {
		return false
	}
	return c.Clean(c.dir)
}

// gitPlaces are the variables by which git works in another tree than that of the folder.
var gitPlaces = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"}

func gitReset(c *command) {
	if c.hasWord("--hard", "--merge") && !c.clean() {
		c.ask(History, "git reset --hard loses all changes that are not committed. Commit them or use git stash first; git restore FILE undoes single files.")
	}
}

func gitClean(c *command) {
	o := c.options("e", "exclude")
	switch {
	case o.has("n", "dry-run", "i", "interactive"):
	case o.has("x", "X"):
		c.deny(Files, "git clean -x removes ignored files too, such as .env and caches that cannot be made again. Remove the files by their names.")
	case o.has("f", "force"):
		for _, word := range o.operands {
			if c.place(word) == inProject && !allHere(word) {
				return
			}
		}
		c.ask(Files, "git clean removes all files that were never committed. Look with git clean -n, and remove the files by their names.")
	}
}

// gitDiscard judges git checkout and git restore of everything, or of all in a folder.
func gitDiscard(c *command) {
	o := c.options("b", "B", "s", "source", "orphan", "c", "C", "conflict")
	if o.has("staged", "S") && !o.has("worktree", "W") {
		return
	}
	if o.has("f", "force", "discard-changes") && !c.clean() {
		c.ask(History, "it throws away all changes that are not committed. Commit them or use git stash first.")
		return
	}
	for _, word := range o.operands {
		if at := c.place(word); (at == atProject || at == inProject) && allHere(word) && !c.clean() {
			c.ask(History, "it throws away all changes that are not committed. Name the files, or use git stash.")
			return
		}
	}
}

// allHere reports whether a pathspec names no file, but all that is in a folder.
func allHere(word string) bool { return !hasUnknown(word) && strings.Trim(word, "./*:") == "" }

// gitStash marks that what is put back from the stash may be lost again.
func gitStash(c *command) {
	c.elsewhere = c.elsewhere || slices.Contains([]string{"pop", "apply", "branch"}, c.options("m", "message").words(1))
}

func gitConfig(c *command) {
	o := c.options("f", "file", "blob", "type", "default", "comment", "value")
	if o.has("e", "edit", "l", "list", "get", "get-all", "get-regexp", "unset", "unset-all", "get-urlmatch", "show-origin") {
		return
	}
	words := o.operands
	if len(words) > 0 && slices.Contains([]string{"set", "get", "list", "unset", "edit"}, words[0]) {
		if words[0] != "set" {
			return
		}
		words = words[1:]
	}
	for _, file := range o.of("f", "file") {
		if c.place(file) != inGit {
			c.write(file)
		}
	}
	if len(words) > 1 {
		c.gitSetting(words[0], words[1], true)
	}
}

// gitSettings are the names of settings that run programs, and the values with which they do not.
var gitSettings = []struct {
	names, harmless func() *regexp.Regexp
	known           bool // a program that is known to be harmless is one of them
}{
	{units.Pattern(`^core\.hookspath$`), units.Pattern(`^(?:/dev/null)?$`), false},
	{units.Pattern(`^core\.fsmonitor$`), units.Pattern(`^(?:true|false)$`), false},
	{units.Pattern(`^pager\.|^credential\..*\.helper$|^gpg\..*\.program$`), units.Pattern(`^(?:true|false)$`), true},
	{units.Pattern(`^core\.(?:pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand|worktree)$|` +
		`^(?:diff\.external|sequence\.editor|gpg\.program|init\.templatedir|uploadpack\.packobjectshook)$|` +
		`^(?:interactive\.difffilter|credential\.helper|sendemail\.smtpserver|web\.browser|remote\.origin\.proxy)$`), nil, true},
	{units.Pattern(`^alias\.`), units.Pattern(`^(?:[^!]|$)`), false},
	{units.Pattern(`^filter\..*\.(?:clean|smudge|process)$|^diff\..*\.(?:textconv|command)$|^merge\..*\.driver$|` +
		`tool\.cmd$|\.(?:uploadpack|receivepack|vcs)$`), units.Pattern(`^git-lfs `), false},
	{units.Pattern(`^protocol\.ext\.`), units.Pattern(`^never$`), false},
	{units.Pattern(`^(?:url\..*insteadof$|include\.|includeif\.)`), nil, false},
}

// gitSetting judges a setting of git that runs a program.
func (c *command) gitSetting(name, text string, stays bool) {
	name = strings.ToLower(name)
	section, _, _ := strings.Cut(name, ".")
	c.elsewhere = c.elsewhere || name == "core.worktree"
	for _, setting := range gitSettings {
		if !setting.names().MatchString(name) {
			continue
		}
		switch {
		case setting.harmless != nil && setting.harmless().MatchString(text),
			setting.known && harmlessProgram(text),
			section == "url" && stays, strings.HasPrefix(section, "include") && c.place(text) == inProject:
			return
		case name == "core.hookspath" && stays:
			c.ask(GitConfig, "git would run the programs in "+text+" at each commit. Ask the person to set core.hooksPath.")
			return
		case section == "alias":
			c.nested(text[1:], nil, input{})
		}
		c.deny(GitConfig, "the setting "+name+" makes git run \""+text+"\". Run that program by itself, if it is needed.")
		return
	}
}

// harmlessPrograms may be pagers, editors and helpers of git.
var harmlessPrograms map[string]bool

const harmlessNames = "cat less more true false : head tail vim vi nvim nano emacs code subl ssh delta bat diff-so-fancy echo store cache manager manager-core osxkeychain libsecret wincred gpg gpg2 sed git-lfs mate micro helix hx"

// harmlessProgram reports whether a text runs one known program and nothing else.
func harmlessProgram(text string) bool {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return true
	}
	return harmlessPrograms[programName(fields[0])] && !strings.ContainsAny(text, ";|&$`<>\n"+unknowns) && !strings.Contains(text, "ProxyCommand")
}

// gitRemote judges the settings of a clone, and addresses that are commands.
func gitRemote(c *command) {
	for _, setting := range c.options("b", "o", "u", "c", "upload-pack", "depth", "branch", "origin", "reference", "config").of("c", "config") {
		name, text, _ := strings.Cut(setting, "=")
		c.gitSetting(name, text, true)
	}
	for _, word := range c.args {
		if text, ok := strings.CutPrefix(word, "ext::"); ok {
			c.deny(GitConfig, "the address ext:: runs a command. Use https or ssh.")
			c.nested(text, nil, input{})
		}
	}
}

func gitForeach(c *command) {
	if o := c.leading(); len(o.operands) > 1 && o.operands[0] == "foreach" {
		rest := slices.DeleteFunc(slices.Clone(o.operands[1:]), func(w string) bool { return w == "--recursive" || w == "--quiet" })
		c.nested(strings.Join(rest, " "), nil, input{})
	}
}

func gitBisect(c *command) {
	if len(c.args) > 1 && c.args[0] == "run" {
		c.simple(c.args[1:], input{})
	}
}

func gitRemove(c *command) {
	o := c.options()
	if o.has("cached", "n", "dry-run") {
		return
	}
	for _, word := range o.operands {
		c.remove(word, o.has("r"))
	}
}

func gitShows(c *command) {
	for _, word := range c.options("o", "output").operands {
		if _, file, ok := strings.Cut(word, ":"); ok {
			word = file
		}
		c.read(word)
	}
}

// sensitive are the variables whose values environment judges, beside those of git.
const sensitive = "RALPH_TRUST HISTFILE HISTSIZE HISTFILESIZE PROMPT_COMMAND BASH_ENV ENV PS4 LESSOPEN PAGER EDITOR VISUAL LD_PRELOAD DYLD_INSERT_LIBRARIES"

// environment judges the variables that a command gets.
func (s *shell) environment(name string, values []string) {
	for _, text := range values {
		if isComputed(text) && (strings.HasPrefix(name, "GIT_") || words2set(sensitive)[name]) {
			s.cannotJudge("the value of " + name + " " + notCarriedOut)
		}
		switch {
		case slices.Contains(gitPlaces, name):
			s.elsewhere = true
		case name == "RALPH_TRUST" && text != "" && text != "0":
			s.deny(Ralph, "it trusts settings in the name of the person. Let the person run 'ralph trust'.")
		case name == "HISTFILE" && (text == "" || text == "/dev/null"), (name == "HISTSIZE" || name == "HISTFILESIZE") && text == "0":
			s.deny(Tracks, "it stops the record of commands. Leave "+name+" as it is.")
		case words2set("PROMPT_COMMAND BASH_ENV ENV PS4 LESSOPEN")[name]:
			if text != "" && strings.ContainsAny(text, " $`;|/") {
				s.nested(text, nil, input{})
			}
		case words2set("GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND")[name]:
			if !harmlessProgram(text) {
				s.nested(text, nil, input{})
				s.deny(GitConfig, name+" makes git run \""+text+"\". Run that program by itself, if it is needed.")
			}
		case words2set("PAGER EDITOR VISUAL")[name]:
			s.nested(text, nil, input{})
		case name == "LD_PRELOAD" || name == "DYLD_INSERT_LIBRARIES":
			if place := s.place(text); text != "" && place != inProject && place != inSystem {
				s.ask(System, name+" puts a library into each program. Ask the person.")
			}
		case strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && !harmlessProgram(text) && strings.ContainsAny(text, " !/"):
			s.ask(GitConfig, name+" sets a configuration of git that may run a program. Use 'git -c NAME=VALUE'.")
		}
	}
}
