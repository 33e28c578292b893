package shellguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// textRows are the programs that give the value of an option to a shell, and these options. The
// pattern finds the commands in values that are not only a command.
var textRows = []struct {
	names, options string
	parts          func() *regexp.Regexp
}{
	{"zip", "TT unzip-command", nil}, {"split", "filter", nil}, {"sort", "compress-program", nil}, {"man", "P pager H html", nil}, {"rg", "pre", nil},
	{"fzf", "preview", nil}, {"tcpdump", "z", nil}, {"su runuser script", "c command", nil}, {"rsync", "e rsh", nil}, {"git-rebase", "x exec", nil},
	{"git-difftool git-mergetool", "x extcmd", nil},
	{"git-filter-branch", "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter", nil},
	{"tar", "I F to-command checkpoint-action use-compress-program info-script new-volume-script rmt-command rsh-command", units.Pattern(`(?s)^(?:exec=)?(.*)`)},
	{"vim vi nvim ex", "c cmd", units.Pattern(`(?s)!(.*)`)},
	{"gdb", "ex eval-command iex", units.Pattern(`^\s*(?:shell|!|pipe|python)\s*(.+)`)},
	{"lldb", "o one-line", units.Pattern(`^\s*(?:platform shell|shell|script)\s+(.+)`)},
	{"expect", "c", units.Pattern(`\b(?:spawn|exec|system)\s+([^;\n]+)`)},
	{"emacs", "eval execute", units.Pattern(`(?:shell-command|call-process|start-process)\S*\s+"((?:[^"\\]|\\.)*)"`)},
}

// judgeTexts judges the values of options that are commands.
func judgeTexts(c *command, options []string, parts func() *regexp.Regexp) {
	for _, text := range c.options(options...).of(options...) {
		if parts == nil {
			c.nested(text, nil, input{})
			continue
		}
		for _, part := range parts().FindAllStringSubmatch(text, maxAlternatives) {
			c.nested(part[1], nil, input{})
		}
	}
}

// judgePager judges the commands in arguments such as +!TEXT, which editors and pagers carry out.
func judgePager(c *command) {
	for _, arg := range c.args {
		if _, run, ok := strings.Cut(arg, "!"); ok && strings.HasPrefix(arg, "+") {
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
