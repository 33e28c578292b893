package policy

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// refusedTook is how long a program may take to refuse its arguments, in milliseconds: those
	// that are slow to start are given some seconds on a busy machine.
	refusedTook = 10_000
	// flagsMost and flagMost bound what a checkpoint holds of a command line.
	flagsMost = 32
	flagMost  = 64
)

// complaints are how programs say that they do not know a flag, in lower case.
var complaints = []string{
	"unknown option", "unknown flag", "unrecognized option", "unexpected argument", "invalid option", "illegal option", "flag provided but not defined",
}

// Refused returns what a program printed that does not know a flag that it was given; empty where
// that is not how it ended. It is when the process failed soon after its start, without a word or a
// tool and without progress in the files, and when its last words name a flag of its own command
// line. The same complaint of a program that an agent called names another flag.
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

// complains reports whether a line says that one of the flags is not known.
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

// flagsOf returns the names of the flags of a command line, in lower case and set apart by spaces.
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
