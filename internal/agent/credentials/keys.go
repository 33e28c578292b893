package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Reasons for passing or withholding keys, as in [event.Keys].
const (
	KeysBySetting  = "setting"
	KeysForLogin   = "login"
	KeysForNoLogin = "no login"
	KeysForUnknown = "unknown"
)

// Keys are the API keys of an environment that an agent gets, and those that it does not.
type Keys struct {
	event.Keys
	// Place is where the agent's login was found, or may be: a path, a variable, or a description.
	Place string
	// setting is the key that decides it: agents.claude.passKeys.
	setting string
}

// DecideKeys decides which keys of an environment an agent gets: those that its passKeys name.
// If they name none, the agent gets all keys if it has no login of its own, and none otherwise. A
// login that may exist counts as one, because usage of a key is paid for separately.
func DecideKeys(a config.Agent, environ []string) Keys {
	known, _ := a.Known()
	variables := variablesOf(environ)
	k := Keys{setting: a.Key() + ".passKeys"}
	var present []string
	for _, name := range known.Keys {
		if _, own := a.Env[name]; variables[name] != "" && !own { // its env replaces it
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
		// The agent's login is found with the agent's environment.
		if k.Why, k.Place = findLogin(known.Own, variablesOf(process.Environment(environ, nil, AgentEnv(a)))); k.Why == KeysForNoLogin {
			k.Passed = present
		} else {
			k.Withheld = present
		}
	}
	return k
}

// Dropped returns the variables that the agent does not get, whether or not they are set.
func (k Keys) Dropped(a config.Agent) []string {
	known, _ := a.Known()
	return slices.DeleteFunc(slices.Clone(known.Keys), func(name string) bool { return slices.Contains(k.Passed, name) })
}

// Message explains the decision and how to change it. It is empty if there is no key or if a
// setting decides.
func (k Keys) Message(program string) string {
	switch k.Why {
	case KeysForNoLogin:
		return fmt.Sprintf("%s pays with %s: no login of its own is found; %s=false withholds it", program, joinNames(k.Passed), k.setting)
	case KeysForLogin:
		return fmt.Sprintf("%s uses its own login (%s) and is not given %s; %s=true hands it on", program, k.Place, joinNames(k.Withheld), k.setting)
	case KeysForUnknown:
		return fmt.Sprintf("%s may have a login of its own (%s) and is not given %s; %s=true hands it on", program, k.Place, joinNames(k.Withheld), k.setting)
	}
	return ""
}

func joinNames(names []string) string { return strings.Join(names, " or ") }

// Event returns the record for the journal; nil if there is no key.
func (k Keys) Event() *event.Keys {
	if k.Why == "" {
		return nil
	}
	return &k.Keys
}

// Hint returns how a person logs in, given the agent's own instructions. If a key was withheld, it
// mentions the setting.
func (k Keys) Hint(login string) string {
	if len(k.Withheld) == 0 || login == "" {
		return login
	}
	return login + ", or hand on " + joinNames(k.Withheld) + ", which is set and withheld, with " + k.setting + "=true"
}

// AgentEnv returns the variables in the settings of an agent, as NAME=value.
func AgentEnv(a config.Agent) []string {
	var env []string
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	return env
}

func variablesOf(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	return variables
}

// LoginMissing reports whether an agent has neither a login of its own nor another way to pay, as
// far as its files and the environment show it, or its program, which a nil ask does not run. A
// doubt counts as a login.
func LoginMissing(a config.Agent, environ []string, ask func(argv []string) (output string, code int, ok bool)) bool {
	known, ok := config.KnownProgram(a.Program())
	if !ok || a.Provider != "" || len(a.Env) > 0 {
		return false
	}
	if known.Probe != nil && ask != nil {
		argv, err := config.Agent{Command: a.Command}.Argv()
		if err != nil {
			return false
		}
		output, _, _ := ask(append(argv, known.Probe...))
		return strings.Contains(output, known.Missing)
	}
	own := known.Own
	if own == nil {
		return false
	}
	variables := variablesOf(environ)
	for _, name := range slices.Concat(known.Keys, own.Others) {
		if variables[name] != "" {
			return false
		}
	}
	text, err := safefile.ReadLinked(filepath.Join(folderOf(own, variables), own.Settings), maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) ||
		slices.ContainsFunc(own.Others, func(word string) bool { return strings.Contains(string(text), word) }) {
		return false
	}
	why, _ := findLogin(own, variables)
	return why == KeysForNoLogin
}

// findLogin reports whether an agent has a login, and where.
func findLogin(l *config.Login, variables map[string]string) (why, place string) {
	if l == nil {
		return KeysForNoLogin, ""
	}
	for _, name := range l.Variables {
		if variables[name] != "" {
			return KeysForLogin, name
		}
	}
	folder := folderOf(l, variables)
	if folder == "" {
		return KeysForUnknown, "HOME is not set"
	}
	file := filepath.Join(folder, l.File)
	switch info, err := os.Stat(file); {
	case err == nil && info.Mode().IsRegular() && info.Size() > int64(len("{}\n")):
		return KeysForLogin, file
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return KeysForUnknown, file + " cannot be read"
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
		return KeysForUnknown, "the keychain cannot be read"
	case found:
		return KeysForLogin, "the keychain"
	}
	return KeysForNoLogin, ""
}

// folderOf returns the agent's folder; "" if it is not known.
func folderOf(l *config.Login, variables map[string]string) string {
	if folder := variables[l.Folder]; folder != "" || variables["HOME"] == "" {
		return folder
	}
	return filepath.Join(variables["HOME"], l.Default)
}

// maxConfig limits how much of an agent's settings is read.
const maxConfig = 1 << 20

// storesElsewhere reports whether an agent's TOML settings store its login elsewhere than in its
// file. It reads top-level keys only.
func storesElsewhere(file, key string) bool {
	text, err := safefile.ReadLinked(file, maxConfig)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
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
