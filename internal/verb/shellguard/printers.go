package shellguard

import (
	"path"
	"strings"
)

// printers return what commands print, as far as it matters for the commands that read it.
var printers map[string]func(*command) string

func fillPrinters() {
	printers = map[string]func(*command) string{}
	for _, row := range printerRows {
		for _, name := range strings.Fields(row.names) {
			printers[name] = row.print
		}
	}
}

func prints(text string) func(*command) string { return func(*command) string { return text } }

var printerRows = []struct {
	names string
	print func(*command) string
}{
	{"echo yes", printEcho},
	{"cat bat tac head tail sort uniq", printFiles},
	{"sed awk gawk cut perl strings jq", printFiltered},
	{"base64 base32 basenc xxd openssl gpg gzip gunzip zcat bzcat bunzip2 xz xzcat unxz zstd zstdcat uudecode", printDecoded},
	{"rev tr", printHidden},
	{"grep egrep rg", printFound},
	{"curl wget fetch lynx aria2c http https", printDownload},
	{"ls", printListed},
	{"true false : sleep test", prints("")},
	{"date whoami hostname nproc uname arch id", prints("x")},
	{"nc ncat netcat dig nslookup host drill telnet xclip xsel pbpaste wl-paste " +
		"redis-cli psql mysql mongosh journalctl dmesg printenv mail ftp socat whois", prints(foreign)},
	{"ssh-agent brew pyenv rbenv nodenv goenv jenv direnv conda mamba micromamba fnm starship zoxide " +
		"mise rtx asdf opam luarocks dircolors lesspipe thefuck minikube npm keychain gpg-agent register-python-argcomplete", printTrusted},
	{"pgrep pidof", printProcesses},
	{"git-merge-base git-describe git-symbolic-ref git-rev-list git-hash-object git-write-tree git-branch", prints("x")},
	{"git-log git-notes git-cat-file git-config git-for-each-ref git-blame git-show", prints(foreign)},
	{"git-ls-files", prints("./found")},
	{"git-diff git-diff-tree git-diff-index git-status git-grep", func(c *command) string {
		if c.hasWord("-z", "-l", "--name-only", "--porcelain", "-s", "--short", "-m", "-o", "-d", "--others", "--deleted", "--modified", "--cached") {
			return "./found"
		}
		return foreign
	}},
	{"git-rev-parse", func(c *command) string {
		switch {
		case c.hasWord("--show-toplevel"):
			return orUnknown(c.Project)
		case c.hasWord("--git-dir", "--git-common-dir", "--absolute-git-dir"):
			return orUnknown(path.Join(c.Project, ".git"))
		}
		return "x"
	}},
	{"mktemp", func(c *command) string {
		if len(c.options("p", "suffix", "tmpdir").of("p")) > 0 {
			return unknown
		}
		return "/tmp/mktemp/made"
	}},
	{"pwd", func(c *command) string { return orUnknown(c.dir) }},
	{"which type", func(c *command) string { return orUnknown(c.options().words(1)) }},
	{"dirname", func(c *command) string { return c.eachOperand(path.Dir) }},
	{"basename", func(c *command) string { return c.eachOperand(path.Base) }},
	{"realpath readlink", func(c *command) string { return c.eachOperand(c.absolute) }},
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

// printTrusted is the output of tools whose documentation says to run it by eval.
func printTrusted(c *command) string {
	words := strings.Join(c.args, " ")
	for _, verb := range []string{"shellenv", "init", "hook", "-s", "-c", "env", "activate", "docker-env", "completion", "--eval"} {
		if strings.Contains(words, verb) {
			return ""
		}
	}
	if c.name == "ssh-agent" || c.name == "dircolors" || c.name == "lesspipe" {
		return ""
	}
	return unknown
}

func printEcho(c *command) string {
	args, escapes, newline := c.args, false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		if strings.Contains(args[0], "n") {
			newline = ""
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = ansi(text)
	}
	return text + newline
}

// printFiles is the output of cat: the input, or files as far as this text has written them.
func printFiles(c *command) string {
	files := c.options("n", "c", "k", "t", "lines", "bytes").operands
	if len(files) == 0 {
		return orInput(c.in)
	}
	var b strings.Builder
	for _, file := range files {
		if file == "-" || file == "/dev/stdin" {
			b.WriteString(orInput(c.in))
			continue
		}
		b.WriteString(c.content(file))
	}
	return b.String()
}

func orInput(in input) string {
	if in.given {
		return in.text
	}
	return unknown
}

// printFiltered is the output of a program that changes text in a way that is not followed.
func printFiltered(c *command) string {
	if c.in.given {
		return filtered(c.in.text)
	}
	return unknown
}

// printFound is the output of grep: a part of its input, or the names of files.
func printFound(c *command) string {
	o := c.options("e", "f", "m", "A", "B", "C", "include", "exclude", "exclude-dir")
	switch {
	case o.has("l", "L", "files-with-matches", "files"):
		return "./found"
	case c.in.given:
		return c.in.text
	}
	return unknown
}

// printDecoded is the output of decoders. Texts that are known are decoded, to be judged.
func printDecoded(c *command) string {
	o := c.options("w", "i", "f", "in", "out", "k", "pass", "c", "l", "s", "n")
	decodes := o.has("d", "D", "decode", "decompress", "r", "A") || c.hasWord("-d", "-r", "--decode", "enc") ||
		strings.HasSuffix(c.name, "cat") || strings.HasPrefix(c.name, "un") || c.name == "gunzip" || c.name == "uudecode"
	if !decodes {
		if words2set("base64 base32 xxd")[c.name] && (len(o.operands) > 0 || origin(c.in.text) != "") {
			return encoded
		}
		return unknown
	}
	text := c.in.text
	if len(o.operands) > 0 && c.name != "openssl" {
		text = c.content(o.operands[0])
	}
	return hidden(text)
}

// printHidden is the output of a filter whose use on a text of this command is to hide it.
func printHidden(c *command) string {
	if !c.in.given { // it reads a file
		return decoded + unknown
	}
	return hidden(c.in.text)
}

// hidden is what a decoder makes of a text: computed if the text is known.
func hidden(text string) string {
	switch kind := origin(text); {
	case kind == downloaded || kind == foreign:
		return filtered(text)
	case kind == "" && strings.TrimSpace(text) != "" || isComputed(text):
		return decoded + computed
	}
	return decoded
}

// printDownload is the output of curl and wget, and what they write to files.
func printDownload(c *command) string {
	o := c.downloadOptions()
	var file string
	for _, name := range o.of("o", "output", "O", "output-document") {
		file = name
	}
	if c.name != "curl" && len(o.of("O", "output-document")) == 0 && c.name != "lynx" && c.name != "http" && c.name != "https" || c.name == "curl" && o.has("O", "remote-name") {
		for _, url := range o.operands {
			url, _, _ = strings.Cut(url, "?")
			c.keep(path.Base(url), downloaded)
		}
		return ""
	}
	if file != "" && file != "-" && file != "/dev/stdout" {
		c.write(file)
		c.keep(file, downloaded)
		return ""
	}
	return downloaded
}

func printListed(c *command) string {
	operands := c.options("I", "w").operands
	if len(operands) == 0 {
		return "*"
	}
	return strings.Join(operands, "\n")
}

func (c *command) eachOperand(of func(string) string) string {
	var all []string
	for _, operand := range c.options("s").operands {
		if hasUnknown(operand) {
			return unknown
		}
		all = append(all, of(operand))
	}
	return orUnknown(strings.Join(all, "\n"))
}
