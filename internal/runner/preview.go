package runner

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
)

// Preview returns what the settings' agent would be started with, and what it could do then. Nothing
// is started. The error says which of its command, flags and settings cannot be.
func Preview(a config.Agent) (agent.Command, agent.Abilities, error) {
	dialect, err := Dialect(a)
	if err != nil {
		return agent.Command{}, agent.Abilities{}, err
	}
	spec, err := specOf(a)
	if err != nil {
		return agent.Command{}, agent.Abilities{}, err
	}
	command, err := dialect.Command(spec)
	return command, dialect.Abilities(), err
}
