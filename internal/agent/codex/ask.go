package codex

import (
	"fmt"
	"strconv"
	"strings"
)

// The app-server's requests came in steps. 0.42.0 and older have no app-server, and take the word
// for a prompt of their terminal interface; versions up to 0.66.0 refuse thread/start; 0.98.0 has
// no turn/steer. 0.104.0 is the first version tried that has all that a loop needs.
const (
	serverMinor = 104
	// the first whose exec prints threads, turns and items; 0.42.0 printed them with other names
	// and no end
	execMinor = 44
)

const noServer = "this codex has no app-server"

// lacksServer says why the program has no app-server that a loop could use; "" if it has one, or if
// that is not known.
func (d *Dialect) lacksServer(program []string) string {
	if d.ask == nil {
		return ""
	}
	said, code, ok := d.ask(with(program, "app-server", "--help"))
	named := strings.Contains(said, "app-server")
	switch {
	case !ok:
		return ""
	case code != 0 && (named || strings.Contains(strings.ToLower(said), "subcommand")): // which it refuses
		return noServer
	case code != 0: // it does not even start, which its start reports
		return ""
	case !named && strings.Contains(said, "Usage:"): // the help of a program that took the word for a prompt
		return noServer
	}
	if minor, known := d.minor(program); known && minor < serverMinor {
		return fmt.Sprintf("codex 0.%d has an app-server that is older than 0.%d, the first that ralph speaks with", minor, serverMinor)
	}
	return ""
}

// minor returns the second number of the program's version. Only a version that Codex itself would
// print is one.
func (d *Dialect) minor(program []string) (minor int, known bool) {
	said, code, ok := d.ask(with(program, "--version"))
	version, found := strings.CutPrefix(strings.TrimSpace(said), "codex-cli 0.")
	if !ok || code != 0 || !found {
		return 0, false
	}
	digits, _, _ := strings.Cut(version, ".")
	minor, err := strconv.Atoi(digits)
	return minor, err == nil
}

// execOptions returns the options that `codex exec` has; nil if that is not known.
func (d *Dialect) execOptions(program []string) map[string]bool {
	if d.ask == nil {
		return nil
	}
	said, code, ok := d.ask(with(program, "exec", "--help"))
	if !ok || code != 0 {
		return nil
	}
	options := map[string]bool{}
	for line := range strings.Lines(said) {
		for word := range strings.FieldsSeq(line) {
			if word = strings.TrimSuffix(word, ","); !strings.HasPrefix(word, "-") {
				break // the option's argument or description
			}
			options[word] = true
		}
	}
	if !options["--json"] { // this is not the help of codex exec
		return nil
	}
	return options
}

func with(program []string, args ...string) []string {
	return append(program[:len(program):len(program)], args...)
}
