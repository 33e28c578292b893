package shellguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/units"
)

// textOptions are the programs that give the value of an option to a shell, and these options.
var textOptions = map[string]string{
	"zip": "TT unzip-command", "split": "filter", "sort": "compress-program", "man": "P pager H html", "rg": "pre", "fzf": "preview",
	"git-rebase": "x exec", "git-difftool": "x extcmd", "git-mergetool": "x extcmd",
	"git-filter-branch": "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter",
	"gdb":               "ex eval-command iex", "lldb": "o one-line", "expect": "c", "emacs": "eval execute", "tcpdump": "z", "su": "c command", "runuser": "c command", "script": "c command",
}

// textParts find the commands in option values that are not only a command.
var textParts = map[string]func() *regexp.Regexp{
	"gdb":    units.Pattern(`^\s*(?:shell|!|pipe|python)\s*(.+)`),
	"lldb":   units.Pattern(`^\s*(?:platform shell|shell|script)\s+(.+)`),
	"expect": units.Pattern(`\b(?:spawn|exec|system)\s+([^;\n]+)`),
	"emacs":  units.Pattern(`(?:shell-command|call-process|start-process)\S*\s+"((?:[^"\\]|\\.)*)"`),
}

// judgeTexts judges the values of options that are commands.
func judgeTexts(names ...string) judge {
	return func(c *command) {
		for _, text := range c.options(names...).of(names...) {
			parts := [][]string{{"", text}}
			if find := textParts[c.name]; find != nil {
				parts = find().FindAllStringSubmatch(text, maxAlternatives)
			}
			for _, part := range parts {
				c.nested(part[1], nil, input{})
			}
		}
	}
}

// judgePager judges the commands that a pager carries out when it begins.
func judgePager(c *command) { c.commandsOf("!") }

// commandsOf judges the commands in arguments such as +!TEXT, which editors and pagers carry out.
func (c *command) commandsOf(mark string) {
	for _, arg := range c.args {
		if _, run, ok := strings.Cut(arg, mark); ok && strings.HasPrefix(arg, "+") {
			c.nested(run, nil, input{})
		}
	}
}

// judgeZip judges zip -m, which removes what it has packed.
func judgeZip(c *command) {
	o := c.options("b", "t", "tt", "n", "x", "i", "P", "s", "TT")
	if !o.has("m", "move") {
		return
	}
	for _, word := range o.operands[min(1, len(o.operands)):] {
		c.remove(word, true)
	}
}

// judgeMake judges the commands of rules that make reads from its input.
func judgeMake(c *command) {
	if !c.in.given || !slices.ContainsFunc(c.options("f", "C", "j", "file", "makefile").of("f", "file", "makefile"), func(file string) bool {
		return file == "-" || file == "/dev/stdin"
	}) {
		return
	}
	if c.isUnread(c.in.text) {
		return
	}
	for line := range strings.Lines(c.orders()) {
		text, isRecipe := strings.CutPrefix(line, "\t")
		if _, rest, ok := strings.Cut(line, ";"); ok && !isRecipe {
			text, isRecipe = rest, true
		}
		if isRecipe {
			c.nested(strings.ReplaceAll(strings.TrimLeft(text, "@-+ "), "$$", "$"), nil, input{})
		}
	}
}
