package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// options are those of 'ralph start' that a specification may have, with whether they have a value.
// The others name files and loops of a host, or decide what only the person of a host may: to
// trust, and to do without a sandbox or without the guard.
var options = map[string]bool{
	"--agent": true, "--protocol": true, "--model": true, "--maximum-iterations": true, "--completion-response": true, "--promise": true,
	"--set": true, "--tasks": false, "--skip-review": false, "--review-cap": true, "--sandbox": true, "--anyway": false, "--follow-pr": false,
}

// isOwn reports whether only a host may give this value of --sandbox: it does without one, or has
// all settings of one.
func isOwn(mode string) bool { return mode == "none" || strings.ContainsRune(mode, '{') }

// hosts are the settings, and beginnings of settings, that only a host decides.
var hosts = []string{"sandbox", "guard", "pool", "trust"}

// CheckStart refuses arguments of 'ralph start' that are not allowed.
func CheckStart(args []string) error {
	_, err := Flags(args)
	return err
}

// Flags returns the arguments with each value in the word of its option, so that no value is taken
// for an option. An error names the first that is not allowed.
func Flags(args []string) (flags []string, err error) {
	if len(args) > maxWords {
		return nil, fmt.Errorf("it has %d arguments of 'ralph start', and %d are possible", len(args), maxWords)
	}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		hasValue, known := options[name]
		switch {
		case !known:
			return nil, fmt.Errorf("%.80q is not allowed: of the options of 'ralph start', a pool takes %s",
				name, strings.Join(slices.Sorted(maps.Keys(options)), ", "))
		case !hasValue && given:
			return nil, fmt.Errorf("%s has no value", name)
		case !hasValue:
			flags = append(flags, name)
			continue
		case !given && i+1 == len(args):
			return nil, fmt.Errorf("%s has no value", name)
		case !given:
			i++
			value = args[i]
		}
		if len(value) > maxWord || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("the value of %s has %d bytes, and %d are possible, without zeros", name, len(value), maxWord)
		}
		if key, _, _ := strings.Cut(value, "="); name == "--set" {
			if first, _, _ := strings.Cut(key, "."); slices.Contains(hosts, first) {
				return nil, fmt.Errorf("the setting %.80q is not allowed: a host decides it", key)
			}
		}
		if name == "--sandbox" && isOwn(value) {
			return nil, fmt.Errorf("--sandbox=%.80s is not allowed: a host decides it", value)
		}
		flags = append(flags, name+"="+value)
	}
	return flags, nil
}
