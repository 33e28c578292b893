package agent

import (
	"errors"
	"slices"
	"strings"
)

// Argv is a command line under construction: the user's command, what a dialect adds, and at the
// end the user's flags.
type Argv struct {
	Words []string // so far
	users []string // what may be flags of the user, in its command and flags
	flags []string
}

// Argv returns a command line that begins with the user's command. known returns the name under
// which the dialect asks for a word of the flags or of the command after the program; nil takes
// each word as it is.
func (s Spec) Argv(known func(word string, command bool) string) (*Argv, error) {
	if len(s.Command) == 0 {
		return nil, errors.New("its command is empty")
	}
	a := &Argv{Words: slices.Clone(s.Command), users: slices.Concat(s.Command[1:], s.Flags), flags: s.Flags}
	for i, word := range a.users {
		if known != nil {
			a.users[i] = known(word, i < len(s.Command)-1)
		}
	}
	return a, nil
}

// Flag returns the value of the last of these flags that the user gave, as `--flag value` or
// `--flag=value`.
func (a *Argv) Flag(flags ...string) (value string, given bool) {
	for i, word := range a.users {
		name, joined, ok := strings.Cut(word, "=")
		if !slices.Contains(flags, name) {
			continue
		}
		if value, given = joined, true; !ok && i+1 < len(a.users) {
			value = a.users[i+1]
		}
	}
	return value, given
}

// Has reports whether the user gave one of these flags.
func (a *Argv) Has(flags ...string) bool {
	_, given := a.Flag(flags...)
	return given
}

// Add adds a flag, unless the user gave it.
func (a *Argv) Add(flag string, value ...string) {
	if !a.Has(flag) {
		a.Words = append(append(a.Words, flag), value...)
	}
}

// AddValue adds a flag with a value, unless that is empty or the user gave the flag.
func (a *Argv) AddValue(flag, value string) {
	if value != "" {
		a.Add(flag, value)
	}
}

// End returns the complete command line.
func (a *Argv) End() []string { return append(a.Words, a.flags...) }
