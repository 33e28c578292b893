package cli

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// SettingFlags lets every setting of a loop be a flag by its own name: --limits.idle 5m is --set
// limits.idle=5m, and a switch such as --completion.doneFile needs no value. The names of most
// settings hold dots or capital letters, and those of flags never do; the others are plainSettings.
func SettingFlags(args []string) []string {
	if len(args) == 0 || !startsLoops(args[0]) && !strings.HasPrefix(args[0], "-") {
		return args
	}
	var read []string
	for len(args) > 0 {
		word, rest := unaliased(args[0]), args[1:]
		switch {
		case word == "--":
			return append(read, args...)
		case namesSetting(word):
			var setting string
			setting, rest = settingOf(word, rest)
			read = append(read, "--set", setting)
		case slices.Contains(valueless, word) && (len(rest) == 0 || strings.HasPrefix(rest[0], "-")):
			read = append(read, word+"=") // kong has no form for a value that is left out
		default:
			read = append(read, word)
		}
		args = rest
	}
	return read
}

// settingOf returns KEY=VALUE for a flag in the spelling of a setting, and the words after it.
func settingOf(flag string, rest []string) (setting string, after []string) {
	setting = strings.TrimPrefix(flag, "--")
	key, _, given := strings.Cut(setting, "=")
	switch {
	case given:
	case isSwitch(key) && (len(rest) == 0 || rest[0] != "true" && rest[0] != "false"):
		setting += "=true"
	case len(rest) > 0:
		return setting + "=" + rest[0], rest[1:]
	}
	return setting, rest
}

// valueless are flags whose value may be left out.
var valueless = []string{"--worktree", "--sandbox"}

func startsLoops(verb string) bool {
	return verb == "run" || verb == "start" || verb == "acp" || verb == "fleet"
}

// aliases are the names that other programs of this kind use for these flags. No help shows them.
var aliases = map[string]string{
	"--max-iterations":     "--maximum-iterations",
	"--completion-promise": "--promise",
	"--min-tool-calls":     "--completion.minToolCalls",
	"--on-promise-no-work": "--completion.onPromiseNoWork",
	"--reflect-every":      "--reflect.every",
}

// unaliased returns a flag by the name that it has here.
func unaliased(word string) string {
	name, value, joined := strings.Cut(word, "=")
	own, ok := aliases[name]
	switch {
	case !ok:
		return word
	case joined:
		return own + "=" + value
	}
	return own
}

// plainSettings are the settings whose names look like flags, without agent, sandbox and
// worktree: these are flags of their own, and --sandbox takes a mode, --worktree a branch.
var plainSettings = []string{
	"agents", "breaker", "completion", "context", "guard", "guardrails", "hosts", "journal", "limits", "nesting", "notify", "prove", "reflect",
	"restart", "review", "snapshots", "scm", "telemetry", "terminal",
}

// namesSetting reports whether a word is a flag in the spelling of a setting.
func namesSetting(word string) bool {
	name, ok := strings.CutPrefix(word, "--")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	return slices.Contains(plainSettings, name) || name != "" && strings.IndexFunc(name, func(r rune) bool { return r == '.' || unicode.IsUpper(r) }) > 0
}

func isSwitch(name string) bool {
	key, _ := config.KeyOf(name)
	return key.Kind == config.KindBool || key.Kind == config.KindPassed
}
