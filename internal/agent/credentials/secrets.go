package credentials

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A loop's folder contains no known secret: config.json is redacted like the journal. The starter
// passes the values to the runner, from the environment, the project's settings, or a person.

// Secrets returns the values in settings that may be credentials, as NAME=value, from which the
// redactor chooses by name: variables of agents, and flags of agents and guardrails.
func Secrets(s config.Settings) []string {
	// Also of agents that are not chosen: config.json has them all.
	named := slices.Collect(maps.Values(s.Agents))
	entries := AgentSecrets(slices.Concat(named, s.Candidates(), s.Reviewers()))
	for _, g := range s.Guardrails {
		entries = append(entries, redact.Arguments(unquoted(g.Command))...)
	}
	for _, n := range s.Notify {
		// The topic of ntfy and the path of a webhook are often all that protects them.
		if u, err := url.Parse(n.URL); err == nil && len(u.Path) > 1 {
			entries = append(entries, "NOTIFY_URL_SECRET="+n.URL)
		}
		entries = append(entries, redact.Arguments(unquoted(n.Command))...)
	}
	return append(entries, HeaderSecrets(s.Telemetry.OTLP.Headers)...)
}

// HeaderSecrets returns the values of headers, and what comes after a word such as Bearer.
func HeaderSecrets(headers map[string]string) (entries []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		variable := "HEADER_" + redact.Variable(name)
		entries = append(entries, variable+"_SECRET="+headers[name])
		if _, key, ok := strings.Cut(headers[name], " "); ok {
			entries = append(entries, variable+"_KEY_SECRET="+key)
		}
	}
	return entries
}

// AgentSecrets returns the part of [Secrets] that comes from agents.
func AgentSecrets(agents []config.Agent) (entries []string) {
	for _, a := range agents {
		entries = append(entries, AgentEnv(a)...)
		if argv, err := a.Argv(); err == nil { // preflight refuses it otherwise
			entries = append(entries, redact.Arguments(argv)...)
		}
	}
	return entries
}

// unquoted splits a shell command into words without their outer quotes.
func unquoted(command string) []string {
	words := strings.Fields(command)
	for i, word := range words {
		words[i] = strings.Trim(word, `"'`)
	}
	return words
}

// WithheldError reports that a loop was started with a secret on the command line, which is not
// available to resume it.
type WithheldError struct {
	Key  string // of the setting
	Name string // of the secret: a variable
}

func (e *WithheldError) Error() string {
	return fmt.Sprintf("%s was given with the secret %s, which config.json does not hold, and which is neither in the environment nor in the settings", e.Key, e.Name)
}

// Hint returns the next step.
func (e *WithheldError) Hint() string {
	return fmt.Sprintf("set %s in the environment, or give %s again", e.Name, e.Key)
}

var withheld = units.Pattern(`\[masked:([^\]\s]+)\]`)

// RestoreSecrets replaces the redacted parts of a setting's value from config.json by the secrets
// in entries, which are NAME=value; the last one of a name wins. The error is a *WithheldError.
func RestoreSecrets(key, value string, entries []string) (string, error) {
	var missing error
	restored := withheld().ReplaceAllStringFunc(value, func(mask string) string {
		name := withheld().FindStringSubmatch(mask)[1]
		for _, entry := range slices.Backward(entries) {
			if is, found, _ := strings.Cut(entry, "="); found != "" && (is == name || is == redact.Variable(name)) {
				if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") { // JSON needs escapes
					quoted, _ := json.Marshal(found) // a string never fails
					return string(quoted[1 : len(quoted)-1])
				}
				return found
			}
		}
		if missing == nil {
			missing = &WithheldError{Key: key, Name: redact.Variable(name)}
		}
		return mask
	})
	return restored, missing
}
