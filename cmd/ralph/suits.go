package main

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
)

// hintNotSpoken is what to do about an agent whose protocol nobody here speaks.
const hintNotSpoken = "set agent.protocol to text to run it as a plain program"

// suits refuses what one of the agents can never do, before anything begins, and says what of the
// settings it cannot be held to.
func suits(e *env, settings config.Settings) error {
	warning, err := unsuited(settings, asks(e))
	if warning != "" {
		tell(e.stderr, "%s", warning)
	}
	return err
}

// unsuited returns what of the settings their agents cannot be held to, and as an error what one of
// them can never do. With a nil ask no program is asked.
func unsuited(settings config.Settings, asks runner.Ask) (warning string, err error) {
	for _, agent := range settings.Candidates() {
		if _, err := runner.Dialect(agent); err != nil {
			return "", refuse(hintNotSpoken, "%w", err)
		}
		var ask runner.Ask // only what needs to be known before the loop begins
		if settings.Context == config.ContextSame {
			ask = asks
		}
		dialect, _, err := runner.Prepared(agent, ask)
		if err != nil {
			return "", refuse("see agent.command and agent.flags", "%w", err)
		}
		protocol, can := agent.ResolvedProtocol(), dialect.Abilities()
		if settings.Context == config.ContextSame && !can.Same {
			return "", refuse("leave context at fresh, or choose an agent that 'ralph doctor' shows with 'same'",
				"context is same, and an agent that is spoken to as %s has no session to go on with", protocol)
		}
		if limited := settings.Limits.Cost > 0 || settings.Limits.IterationCost > 0; limited && !can.Costs && warning == "" {
			warning = fmt.Sprintf("an agent that is spoken to as %s does not report what it costs: no limit of cost can stop it", protocol)
		}
	}
	return warning, nil
}
