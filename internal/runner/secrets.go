package runner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/secret"
)

// A loop's folder holds no secret that ralph knows of: config.json is redacted like the journal. The runner is given the
// values by its starter, who has them from the environment, from the project's settings, or from a person.

// Secrets are what settings hold under the names of credentials, as NAME=value, for the masker to choose from: variables
// of agents, and the flags of agents and guardrails.
func Secrets(s config.Settings) []string {
	entries := AgentSecrets(s.Candidates())
	for _, g := range s.Guardrails {
		entries = append(entries, secret.Arguments(unquoted(g.Command))...)
	}
	return entries
}

// AgentSecrets are those of [Secrets] that are agents'.
func AgentSecrets(agents []config.Agent) (entries []string) {
	for _, a := range agents {
		for name, value := range a.Env {
			entries = append(entries, name+"="+value)
		}
		if argv, err := a.Argv(); err == nil { // else it is refused
			entries = append(entries, secret.Arguments(argv)...)
		}
	}
	return entries
}

// unquoted are the words of a shell's command, as far as they are plain ones.
func unquoted(command string) []string {
	words := strings.Fields(command)
	for i, word := range words {
		words[i] = strings.Trim(word, `"'`)
	}
	return words
}

// A WithheldError says that a loop was given a secret on the command line which nobody gives it again.
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

var withheld = regexp.MustCompile(`\[masked:([^\]\s]+)\]`)

// Recall returns the value of a setting, as config.json has it of the command line, with the secrets that were taken out of it.
// entries are NAME=value, the last of which wins. The error is a *WithheldError.
func Recall(key, value string, entries []string) (string, error) {
	var missing error
	whole := withheld.ReplaceAllStringFunc(value, func(mask string) string {
		name := withheld.FindStringSubmatch(mask)[1]
		for _, entry := range slices.Backward(entries) {
			if is, found, _ := strings.Cut(entry, "="); found != "" && (is == name || is == secret.Variable(name)) {
				if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") { // JSON, whose texts are spelled so
					quoted, _ := json.Marshal(found) // a text always can be
					return string(quoted[1 : len(quoted)-1])
				}
				return found
			}
		}
		if missing == nil {
			missing = &WithheldError{Key: key, Name: secret.Variable(name)}
		}
		return mask
	})
	return whole, missing
}
