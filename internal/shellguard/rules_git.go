package shellguard

import (
	"path"
	"slices"
	"strings"
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
	return sub.gitPrints(args[0])
}

// gitPrints is what git prints, as far as other commands use it.
func (c *command) gitPrints(verb string) string {
	switch verb {
	case "rev-parse":
		if c.hasWord("--show-toplevel") {
			return orUnknown(c.Project)
		}
		if c.hasWord("--git-dir", "--git-common-dir", "--absolute-git-dir") {
			return orUnknown(path.Join(c.Project, ".git"))
		}
		return "x"
	case "merge-base", "describe", "symbolic-ref", "rev-list", "hash-object", "write-tree":
		return "x"
	case "branch":
		return "x"
	case "ls-files", "diff", "diff-tree", "diff-index", "status", "grep":
		if c.hasWord("-z", "-l", "--name-only", "--porcelain", "-s", "--short", "-m", "-o", "-d", "--others", "--deleted", "--modified", "--cached") || verb == "ls-files" {
			return "./found"
		}
		return foreign
	case "log", "show", "notes", "cat-file", "config", "for-each-ref", "blame":
		return foreign
	}
	return unknown
}

// sharedBranch reports whether others are likely to work on a branch.
func sharedBranch(ref string) bool {
	if at := strings.LastIndexByte(ref, ':'); at >= 0 {
		ref = ref[at+1:]
	}
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "+"), "refs/heads/")
	return words2set("main master trunk develop development production prod release stable staging gh-pages")[ref] || strings.HasPrefix(ref, "release/")
}

func gitPush(c *command) {
	o := c.options("o", "push-option", "receive-pack", "exec", "repo")
	for _, text := range o.of("receive-pack", "exec") {
		c.deny(GitConfig, "--receive-pack runs "+text+". Push without it.")
	}
	if o.has("n", "dry-run") {
		return
	}
	refs := o.operands[min(1, len(o.operands)):]
	shared := slices.ContainsFunc(refs, sharedBranch)
	switch {
	case o.has("mirror", "prune"):
		c.deny(History, "it removes the branches of the remote that are not here. Push the one branch by its name.")
	case o.has("d", "delete"), slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, ":") }):
		c.deny(History, "it removes a branch or tag of the remote. Leave that to the person.")
	case o.has("f", "force") || slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, "+") }):
		c.deny(History, "a forced push overwrites the commits of others. Push without force, or use --force-with-lease on a branch of your own.")
	case shared && slices.ContainsFunc(o.names, func(name string) bool { return strings.HasPrefix(name, "force-with-lease") }):
		c.deny(History, "it rewrites a branch that others use. Add commits instead.")
	}
	if len(o.operands) > 0 {
		c.gitAddress(o.operands[0])
	}
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

func gitStash(c *command) {
	switch c.options("m", "message").words(1) {
	case "clear":
		c.deny(History, "it removes all stashed changes, also those of the person. Drop one stash that you made.")
	case "pop", "apply", "branch":
		c.elsewhere = true
	case "drop":
		c.ask(History, "it removes stashed changes that may be those of the person. Leave the stash.")
	}
}

func gitGC(c *command) {
	for _, arg := range c.args {
		if strings.HasPrefix(arg, "--prune=") && arg != "--prune=never" || strings.HasPrefix(arg, "--expire") {
			c.deny(History, "it removes commits that only the reflog still knows. Run git gc without --prune.")
		}
	}
}

func gitRewrite(c *command) {
	if c.hasWord("-l", "--list", "--analyze", "--dry-run", "-h", "--help") {
		return
	}
	c.deny(History, "it rewrites the history of the repository. Add commits instead.")
	for _, arg := range c.args {
		if strings.Contains(arg, " ") {
			c.nested(arg, nil, input{})
		}
	}
}

func gitBranch(c *command) {
	o := c.options("u", "set-upstream-to", "contains", "merged", "sort", "format")
	if o.has("D", "f", "force", "M") || o.has("d", "delete") && o.has("f", "force") {
		for _, name := range o.operands[:min(1, len(o.operands))] {
			if slices.ContainsFunc(o.operands, sharedBranch) {
				c.deny(History, "it removes or overwrites the branch "+name+", which others use. Use a branch of your own.")
			}
		}
	}
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

// gitSetting judges a setting of git that runs a program.
func (c *command) gitSetting(name, text string, stays bool) {
	name = strings.ToLower(name)
	if name == "core.worktree" {
		c.elsewhere = true
	}
	program := harmlessProgram(text)
	switch section, rest, _ := strings.Cut(name, "."); {
	case name == "core.hookspath":
		if stays && text != "/dev/null" {
			c.ask(GitConfig, "git would run the programs in "+text+" at each commit. Ask the person to set core.hooksPath.")
			return
		}
		if text == "/dev/null" || text == "" {
			return
		}
	case name == "core.fsmonitor":
		if text == "true" || text == "false" {
			return
		}
	case words2set("core.pager core.editor core.sshcommand core.askpass core.gitproxy core.alternaterefscommand diff.external sequence.editor gpg.program gpg.ssh.program init.templatedir uploadpack.packobjectshook interactive.difffilter credential.helper sendemail.smtpserver web.browser core.worktree remote.origin.proxy")[name]:
		if program {
			return
		}
	case section == "pager", section == "credential" && strings.HasSuffix(name, ".helper"), section == "gpg" && strings.HasSuffix(name, ".program"):
		if program || text == "true" || text == "false" {
			return
		}
	case section == "alias":
		if !strings.HasPrefix(text, "!") {
			return
		}
		c.nested(text[1:], nil, input{})
	case section == "filter" && (strings.HasSuffix(rest, ".clean") || strings.HasSuffix(rest, ".smudge") || strings.HasSuffix(rest, ".process")),
		section == "diff" && (strings.HasSuffix(rest, ".textconv") || strings.HasSuffix(rest, ".command")),
		section == "merge" && strings.HasSuffix(rest, ".driver"),
		strings.HasSuffix(name, "tool.cmd"), strings.HasSuffix(name, ".uploadpack"), strings.HasSuffix(name, ".receivepack"), strings.HasSuffix(name, ".vcs"):
		if strings.HasPrefix(text, "git-lfs ") {
			return
		}
	case section == "protocol" && strings.HasPrefix(rest, "ext."):
		if text == "never" {
			return
		}
	case section == "url" && strings.HasSuffix(name, "insteadof"), section == "include", section == "includeif":
		if stays && section == "url" || section != "url" && c.place(text) == inProject {
			return
		}
	default:
		return
	}
	c.deny(GitConfig, "the setting "+name+" makes git run \""+text+"\". Run that program by itself, if it is needed.")
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

func gitRemote(c *command) {
	o := c.options("b", "o", "u", "c", "upload-pack", "depth", "branch", "origin", "reference", "config")
	for _, text := range o.of("upload-pack", "u") {
		c.deny(GitConfig, "--upload-pack runs "+text+". Leave it out.")
	}
	for _, setting := range o.of("c", "config") {
		name, text, _ := strings.Cut(setting, "=")
		c.gitSetting(name, text, true)
	}
	for _, word := range o.operands {
		c.gitAddress(word)
	}
}

// gitAddress judges an address that is a command.
func (c *command) gitAddress(word string) {
	if text, ok := strings.CutPrefix(word, "ext::"); ok {
		c.deny(GitConfig, "the address ext:: runs a command. Use https or ssh.")
		c.nested(text, nil, input{})
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

func gitRebase(c *command) {
	for _, text := range c.options("x", "exec", "s", "X", "onto").of("x", "exec") {
		c.nested(text, nil, input{})
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

func gitTool(c *command) {
	for _, text := range c.options("x", "extcmd", "t", "tool").of("x", "extcmd") {
		c.nested(text, nil, input{})
	}
}

func gitGrep(c *command) {
	for _, text := range c.options("O", "open-files-in-pager", "e").of("O", "open-files-in-pager") {
		if !harmlessProgram(text) {
			c.deny(GitConfig, "it makes git run \""+text+"\". Run that program by itself.")
		}
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

// environment judges the variables that a command gets.
func (s *shell) environment(name string, values []string) {
	for _, text := range values {
		if isComputed(text) {
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
