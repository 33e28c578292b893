package policy

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// refusedTook is how long a program may take to refuse its arguments, in milliseconds: some
	// programs need seconds to start on a busy machine.
	refusedTook = 10_000
	// flagsMost and flagMost bound the part of a command line in a checkpoint.
	flagsMost = 32
	flagMost  = 64
)

// complaints are the words of programs about an unknown flag, in lower case.
var complaints = []string{
	"unknown option", "unknown flag", "unrecognized option", "unexpected argument", "invalid option", "illegal option", "flag provided but not defined",
}

// Refused returns the complaint of a program about an unknown flag; empty if it did not end so. It
// counts if the process failed soon after its start, said nothing, used no tool and made no
// progress, and if its last lines name a flag of its own command line. The complaint of a program
// that the agent called names another flag.
func (l *Lifecycle) Refused() string {
	switch {
	case l.Exited == nil, l.Exited.Code <= 0, l.Exited.Took >= refusedTook:
		return ""
	case l.Process.Heard, l.Finished != nil, l.Cut != "", l.Worked:
		return ""
	}
	for line := range strings.Lines(l.Exited.Stderr) {
		if complains(line, strings.Fields(l.Process.Flags)) {
			return firstBytes(strings.TrimSpace(line), 300)
		}
	}
	return ""
}

// complains reports whether a line says that one of the flags is unknown.
func complains(line string, flags []string) bool {
	line = strings.ToLower(line)
	if !slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(line, c) }) {
		return false
	}
	words := strings.FieldsFunc(line, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("'\"`‘’“”=:,;.()<>[]", c) })
	for i, word := range words {
		// getopt names a short flag after two dashes: invalid option -- 'x'.
		if name := strings.TrimLeft(word, "-"); (name != word || i > 0 && words[i-1] == "--") && slices.Contains(flags, name) {
			return true
		}
	}
	return false
}

// flagsOf returns the names of the flags of a command line, in lower case, separated by spaces.
func flagsOf(argv []string) string {
	var flags []string
	for _, arg := range argv[min(1, len(argv)):] {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == arg || name == "" || len(name) > flagMost || len(flags) == flagsMost || strings.ContainsFunc(name, unicode.IsSpace) {
			continue
		}
		flags = append(flags, strings.ToLower(name))
	}
	return strings.Join(flags, " ")
}
