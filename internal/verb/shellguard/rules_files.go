package shellguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

func judgeRemove(c *command) {
	o := c.options()
	if o.has("no-preserve-root") {
		c.deny(Files, "--no-preserve-root is for removing /. Name the folder in the project that you mean.")
	}
	if o.has("help", "version") {
		return
	}
	recursive := o.has("r", "R", "recursive")
	for _, word := range o.operands {
		c.remove(word, recursive)
	}
}

func judgeShred(c *command) {
	for _, word := range c.options("n", "s", "iterations", "size").operands {
		if strings.HasPrefix(word, "/dev/") {
			c.deny(Disks, "it overwrites the disk "+word+". Leave disks alone.")
			continue
		}
		c.remove(word, true)
		c.write(word)
	}
}

// judgeMove judges mv: the sources vanish, and the destination is written.
func judgeMove(c *command) {
	sources, destination := c.destination()
	for _, source := range sources {
		switch c.place(source) {
		case inSystem, atHome, aboveProject, atProject, inGit:
			c.remove(source, true)
		default:
			if what := c.ownRemoved(source); what != "" {
				c.deny(Ralph, "it moves "+what+". Leave it; the loop needs it.")
			}
			if destination == "/dev/null" {
				c.deny(Files, "it replaces /dev/null by a file. Use rm to remove a file.")
			}
		}
	}
	c.writeInto(destination, sources)
}

func judgeCopy(c *command) {
	sources, destination := c.destination()
	for _, source := range sources {
		c.copyOf(source)
		if at := c.absolute(destination); at != "" && strings.HasPrefix(source, "/") && known(programName(source)) && c.place(source) == inSystem {
			c.files[at] = source + ` "$@"` // it is that program by another name
		}
	}
	c.writeInto(destination, sources)
}

// destination splits the operands of cp, mv, ln and install.
func (c *command) destination() (sources []string, destination string) {
	o := c.options("t", "S", "m", "o", "g", "target-directory", "suffix", "mode", "owner", "group")
	for _, folder := range o.of("t", "target-directory") {
		return o.operands, folder
	}
	if len(o.operands) < 2 {
		return o.operands, ""
	}
	last := len(o.operands) - 1
	return o.operands[:last], o.operands[last]
}

// writeInto judges a destination that may be a folder which gets files with the sources' names.
func (c *command) writeInto(destination string, sources []string) {
	if destination == "" {
		return
	}
	c.write(destination)
	for _, source := range sources {
		if base := path.Base(source); base != "." && base != "/" && !hasUnknown(base) {
			c.write(strings.TrimSuffix(destination, "/") + "/" + base)
		}
		if text, ok := c.files[c.absolute(source)]; ok {
			c.keep(destination, text)
		}
	}
}

// judgePatch judges the files of a patch, in its argument or its input.
func judgePatch(c *command) {
	for _, file := range PatchFiles(strings.Join(c.args, "\n") + "\n" + c.orders()) {
		c.write(file)
	}
}

func judgeTruncate(c *command) {
	for _, word := range c.options("s", "r", "size", "reference", "d", "t").operands {
		c.write(word)
	}
}

func judgeDD(c *command) {
	for _, arg := range c.args {
		if file, ok := strings.CutPrefix(arg, "of="); ok {
			c.write(file)
		}
		if file, ok := strings.CutPrefix(arg, "if="); ok {
			c.read(file)
		}
	}
}

// judgeSed judges the files of sed -i, and the commands that a script of GNU sed can run.
func judgeSed(c *command) {
	o := c.options("e", "f", "l", "expression", "file")
	files := o.operands
	scripts := o.of("e", "expression")
	if len(scripts) == 0 && len(o.of("f", "file")) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, text := range scripts {
		for _, m := range sedRuns().FindAllStringSubmatch(text, maxAlternatives) {
			c.nested(m[1], nil, input{})
		}
		seen := ""
		for _, m := range sedReplaces().FindAllStringSubmatchIndex(text, -1) {
			delimiter := text[m[2]:m[3]]
			if strings.Contains(seen, delimiter) {
				continue
			}
			seen += delimiter
			if regexp.MustCompile(regexp.QuoteMeta(delimiter) + `[gpiImM0-9]*e[gpiIemM0-9]*(?:$|[\s;}])`).MatchString(text[m[3]:]) {
				c.cannotJudge("sed would run what it puts in")
			}
		}
	}
	inPlace := slices.ContainsFunc(c.args, func(arg string) bool {
		return strings.HasPrefix(arg, "-i") || strings.HasPrefix(arg, "--in-place")
	})
	for _, file := range files {
		if inPlace {
			c.write(file)
		} else {
			c.read(file)
		}
	}
}

var (
	sedRuns     = units.Pattern(`(?m)(?:^|[;{])\s*(?:[0-9$,!~+]*|/[^/\n]*/!?)\s*e ?(.+)$`)
	sedReplaces = units.Pattern(`(?:^|[ \t\n;{}!/$0-9])s([!-\[\]-~])`)
)

// judgeRsync judges what rsync copies, removes and sends.
func judgeRsync(c *command) {
	o := c.options("e", "f", "rsh", "exclude", "include", "exclude-from", "files-from", "filter", "password-file")
	if len(o.operands) < 2 || o.has("n", "dry-run", "list-only") {
		return
	}
	last := len(o.operands) - 1
	sources, destination := o.operands[:last], o.operands[last]
	if isRemote(destination) {
		c.deny(Upload, "it copies files to another machine. Leave deployments to the person, or to the project's CI.")
	} else {
		c.write(destination)
	}
	for _, source := range sources {
		c.copyOf(source)
		if o.has("remove-source-files") && !isRemote(source) {
			c.remove(source, true)
		}
	}
	if slices.ContainsFunc(o.names, func(name string) bool { return strings.HasPrefix(name, "delete") }) && !isRemote(destination) {
		switch c.place(destination) {
		case inSystem, atHome, aboveProject, atProject:
			c.deny(Files, "--delete removes all other files in "+destination+". Copy without --delete, or into a folder of its own.")
		}
	}
}

// isRemote reports whether a word of scp or rsync names a file of another machine.
func isRemote(word string) bool {
	host, _, ok := strings.Cut(word, ":")
	return ok && host != "" && !strings.Contains(host, "/") && len(host) > 1 || strings.HasPrefix(word, "rsync://")
}

func judgeTar(c *command) {
	runs := []string{"I", "F", "to-command", "checkpoint-action", "use-compress-program", "info-script", "new-volume-script", "rmt-command", "rsh-command"}
	o := c.options(append([]string{"f", "C", "T", "X", "exclude", "file", "directory"}, runs...)...)
	for i, arg := range c.args {
		if i > 0 || strings.ContainsAny(arg, "./") {
			c.read(arg)
		}
	}
	if o.has("remove-files") {
		for _, word := range o.operands {
			c.remove(word, true)
		}
	}
	creates := o.has("c", "create") || len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") && strings.Contains(c.args[0], "c")
	if creates {
		for _, file := range o.of("f", "file") {
			if isRemote(file) {
				c.deny(Upload, "it writes an archive to another machine. Keep it in the project.")
			} else if file != "-" {
				c.write(file)
			}
		}
		return
	}
	for _, folder := range o.of("C", "directory") {
		if c.place(folder) == inSystem {
			c.deny(Files, "it unpacks files over those of the system. Unpack into the project or a temporary folder.")
		}
	}
}

// judgePermissions judges chmod, chown and their like.
func judgePermissions(c *command) {
	o := c.options("m", "reference", "M")
	words := o.operands
	for _, arg := range c.args { // -x as in 'chmod -x file' is a mode
		if c.name == "chmod" && strings.HasPrefix(arg, "-") && arg != "-" && strings.Trim(arg[1:], "rwxXst") == "" && arg != "-R" {
			words = append([]string{arg}, words...)
		}
	}
	if len(words) == 0 {
		return
	}
	if c.name == "chmod" && opensToAll(words[0]) {
		c.deny(Permissions, "with the mode "+words[0]+" every user may change the file or run it as its owner. Use u+rw, +x or 755.")
	}
	for _, word := range words[1:] {
		if what := c.own(word); what != "" {
			c.deny(Ralph, "it changes the rights of "+what+". Leave them.")
		}
		switch c.place(word) {
		case inSystem, aboveProject:
			c.deny(Permissions, "it changes rights of "+word+", which belongs to the system. Change only files of the project.")
		case atHome:
			if o.has("R", "recursive") {
				c.deny(Permissions, "it changes the rights of all that the person keeps in "+word+". Change only files of the project.")
			}
		}
	}
}

var octalMode = units.Pattern(`^[0-7]{3,5}$`)

// opensToAll reports whether a mode lets every user write, or sets the bits setuid or setgid.
func opensToAll(mode string) bool {
	if octalMode().MatchString(mode) {
		special := len(mode) > 3 && (mode[len(mode)-4]&6) != 0 // setuid 4, setgid 2; '0' is 0x30
		return (mode[len(mode)-1]-'0')&2 != 0 || special && mode[len(mode)-4] != '0' || strings.Trim(mode, "0") == ""
	}
	for _, clause := range strings.Split(mode, ",") {
		at := strings.IndexAny(clause, "+=")
		if at < 0 {
			continue
		}
		who, rights := clause[:at], clause[at+1:]
		if strings.Contains(rights, "s") || strings.ContainsAny(who, "oa") && strings.Contains(rights, "w") {
			return true
		}
	}
	return false
}
