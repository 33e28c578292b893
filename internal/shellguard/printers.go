package shellguard

import (
	"path"
	"strings"
)

// printers return what commands print, as far as it matters for the commands that read it.
var printers map[string]func(*command) string

func fillPrinters() {
	printers = map[string]func(*command) string{
		"echo": printEcho, "cat": printFiles, "bat": printFiles, "tac": printFiles, "base64": printDecoded, "base32": printDecoded, "xxd": printDecoded,
		"openssl": printDecoded, "gpg": printDecoded, "gzip": printDecoded, "gunzip": printDecoded, "zcat": printDecoded, "bzcat": printDecoded, "bunzip2": printDecoded,
		"xzcat": printDecoded, "unxz": printDecoded, "xz": printDecoded, "zstdcat": printDecoded, "zstd": printDecoded, "uudecode": printDecoded, "basenc": printDecoded,
		"rev": printReversed, "tr": printTranslated, "sed": printFiltered, "awk": printFiltered, "gawk": printFiltered, "cut": printFiltered, "perl": printFiltered,
		"head": printFiles, "tail": printFiles, "sort": printFiles, "uniq": printFiles, "grep": printFound, "egrep": printFound, "rg": printFound, "strings": printFiltered,
		"curl": printDownload, "wget": printDownload, "fetch": printDownload, "lynx": printDownload, "aria2c": printDownload, "http": printDownload, "https": printDownload,
		"mktemp": func(c *command) string {
			if len(c.options("p", "suffix", "tmpdir").of("p")) > 0 {
				return unknown
			}
			return "/tmp/mktemp/made"
		},
		"pwd":      func(c *command) string { return orUnknown(c.dir) },
		"which":    func(c *command) string { return c.options().words(1) },
		"type":     func(c *command) string { return orUnknown(c.options().words(1)) },
		"dirname":  func(c *command) string { return c.eachOperand(path.Dir) },
		"basename": func(c *command) string { return c.eachOperand(path.Base) },
		"realpath": func(c *command) string { return c.eachOperand(c.absolute) },
		"readlink": func(c *command) string { return c.eachOperand(c.absolute) },
		"ls":       printListed, "yes": printEcho, "jq": printFiltered, "true": printNothing, "false": printNothing, ":": printNothing, "sleep": printNothing, "test": printNothing,
	}
	for _, name := range strings.Fields("nc ncat netcat dig nslookup host drill telnet xclip xsel pbpaste wl-paste redis-cli psql mysql mongosh journalctl dmesg printenv mail ftp socat whois") {
		printers[name] = func(*command) string { return foreign }
	}
	for _, name := range strings.Fields("date whoami hostname nproc uname arch id") {
		printers[name] = func(*command) string { return "x" }
	}
	for _, name := range strings.Fields("ssh-agent brew pyenv rbenv nodenv goenv jenv direnv conda mamba micromamba fnm starship zoxide mise rtx asdf opam luarocks dircolors lesspipe thefuck minikube npm keychain gpg-agent register-python-argcomplete") {
		printers[name] = printTrusted
	}
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func printNothing(*command) string { return "" }

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
	if kind := origin(text); kind == downloaded || kind == foreign {
		return kind
	}
	if !hasUnknown(text) && text != "" {
		decoder := map[string]func(string) (string, bool){"base64": fromBase64, "base32": fromBase32, "xxd": fromHex, "openssl": fromBase64}[c.name]
		if decoder != nil {
			if plain, ok := decoder(text); ok {
				return plain
			}
		}
	}
	return decoded
}

func printReversed(c *command) string {
	if !c.in.given || hasUnknown(c.in.text) {
		return orUnknown(filtered(orInput(c.in)) + rest(c))
	}
	return reverseLines(c.in.text)
}

// rest marks the output of a filter that reads a file.
func rest(c *command) string {
	if len(c.options().operands) > 0 {
		return decoded
	}
	return ""
}

func printTranslated(c *command) string {
	o := c.options()
	if !c.in.given || origin(c.in.text) != "" {
		if kind := origin(c.in.text); kind == downloaded || kind == foreign {
			return kind
		}
		return decoded
	}
	switch {
	case o.has("d") && len(o.operands) == 1:
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(setOf(ansi(o.operands[0])), r) {
				return -1
			}
			return r
		}, c.in.text)
	case !o.has("d", "s", "c", "C") && len(o.operands) == 2:
		if text, ok := translate(c.in.text, o.operands[0], o.operands[1]); ok {
			return text
		}
	}
	return filtered(c.in.text)
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
