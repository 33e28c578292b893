package runner

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// Why an agent is given a key, or not: the words of [event.Keys].
const (
	KeysBySetting  = "setting"
	KeysForLogin   = "login"
	KeysForNoLogin = "no login"
	KeysForUnknown = "unknown"
)

// Keys says which API keys of an environment an agent is given.
type Keys struct {
	event.Keys
	// Place is where its login was found, or may be: a path, a variable, or words.
	Place string
}

// LookAtKeys decides which of the keys in an environment reach an agent that may have a login of its own: what agent.passKeys
// names; where it names nothing, all if no login is found, and none else. A login wins, since the key would be paid for
// beside it, and so does one that may be there. Only whether a login exists is asked: no credential is read.
func LookAtKeys(a config.Agent, environ []string) Keys {
	known, _ := a.Known()
	variables := variablesOf(environ)
	var k Keys
	var present []string
	for _, name := range known.Keys {
		if _, own := a.Env[name]; variables[name] != "" && !own { // agent.env has its own, which reaches it
			present = append(present, name)
		}
	}
	switch {
	case len(present) == 0:
		return k
	case !a.PassKeys.Auto():
		k.Why = KeysBySetting
		for _, name := range present {
			if a.PassKeys.Has(name) {
				k.Passed = append(k.Passed, name)
			} else {
				k.Withheld = append(k.Withheld, name)
			}
		}
	default:
		// The agent looks in its own environment.
		if k.Why, k.Place = lookForLogin(known.Own, variablesOf(process.Environment(environ, nil, own(a)))); k.Why == KeysForNoLogin {
			k.Passed = present
		} else {
			k.Withheld = present
		}
	}
	return k
}

// drops are the variables that the agent is not given, whatever the environment has.
func (k Keys) drops(a config.Agent) []string {
	known, _ := a.Known()
	return slices.DeleteFunc(slices.Clone(known.Keys), func(name string) bool { return slices.Contains(k.Passed, name) })
}

// Says tells a person what was decided and how to have it otherwise; nothing where nobody asked for a key or where a setting
// decides.
func (k Keys) Says(program string) string {
	switch k.Why {
	case KeysForNoLogin:
		return fmt.Sprintf("%s pays with %s: no login of its own is found; agent.passKeys=false withholds it", program, listed(k.Passed))
	case KeysForLogin:
		return fmt.Sprintf("%s uses its own login (%s) and is not given %s; agent.passKeys=true hands it on", program, k.Place, listed(k.Withheld))
	case KeysForUnknown:
		return fmt.Sprintf("%s may have a login of its own (%s) and is not given %s; agent.passKeys=true hands it on", program, k.Place, listed(k.Withheld))
	}
	return ""
}

func listed(names []string) string { return strings.Join(names, " or ") }

// event is what the journal has of it: nil where there is no key.
func (k Keys) event() *event.Keys {
	if k.Why == "" {
		return nil
	}
	return &k.Keys
}

// hint is how a person logs in, where a key that is there was not handed on.
func (k Keys) hint(login string) string {
	if len(k.Withheld) == 0 || login == "" {
		return login
	}
	return login + ", or hand on " + listed(k.Withheld) + ", which is set and withheld, with agent.passKeys=true"
}

func variablesOf(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	return variables
}

// lookForLogin says whether an agent has a login, and where.
func lookForLogin(l *config.Login, variables map[string]string) (why, place string) {
	if l == nil {
		return KeysForNoLogin, ""
	}
	for _, name := range l.Variables {
		if variables[name] != "" {
			return KeysForLogin, name
		}
	}
	folder := variables[l.Folder]
	if folder == "" {
		home := variables["HOME"]
		if home == "" {
			return KeysForUnknown, "HOME is not set"
		}
		folder = filepath.Join(home, l.Default)
	}
	file := filepath.Join(folder, l.File)
	switch info, err := os.Stat(file); {
	case err == nil && info.Mode().IsRegular() && info.Size() > int64(len("{}\n")):
		return KeysForLogin, file
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return KeysForUnknown, file + " cannot be looked at"
	}
	if l.Config != "" {
		if in := filepath.Join(folder, l.Config); storesElsewhere(in, l.Store) {
			return KeysForUnknown, fmt.Sprintf("%s: %s", in, l.Store)
		}
	}
	if l.Keychain == "" {
		return KeysForNoLogin, ""
	}
	item := l.Keychain
	if named := variables[l.Folder]; named != "" {
		sum := sha256.Sum256([]byte(named))
		item += "-" + hex.EncodeToString(sum[:4])
	}
	switch found, err := inKeychain(item, variables["USER"]); {
	case err != nil:
		return KeysForUnknown, "the keychain cannot be looked at"
	case found:
		return KeysForLogin, "the keychain"
	}
	return KeysForNoLogin, ""
}

// configMost is how much of an agent's settings is read.
const configMost = 1 << 20

// storesElsewhere reports whether an agent's settings say that its login is not in its file. A table's keys are not looked at.
func storesElsewhere(file, key string) bool {
	// Before it is opened: a pipe would be waited for.
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > configMost {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			return false
		}
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.Trim(name, " \t\"'") == key {
			value, _, _ = strings.Cut(value, "#")
			return strings.Trim(value, " \t\"'") != "file"
		}
	}
	return false
}
