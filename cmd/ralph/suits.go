package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
)

// hintNotSpoken is what to do about an agent whose protocol nobody here speaks.
const hintNotSpoken = "set agent.protocol to text to run it as a plain program"

// filesLeast is how many files a loop needs room for: one with a single guardrail fails with 24, and guardrails that run side by
// side, helpers of an agent and followers of its output each need some more.
const filesLeast = 64

// enoughFiles refuses to begin a loop that would meet the limit on open files sooner or later, in whatever it does then.
func enoughFiles() error {
	if limit := filesLimit(); limit < filesLeast {
		return refuse("raise it with 'ulimit -n 1024', in a container with its own setting for it",
			"at most %d open files are allowed here, and a loop needs up to %d", limit, filesLeast)
	}
	return nil
}

// suits refuses what one of the agents can never do, before anything begins, and says what of the
// settings it cannot be held to.
func suits(e *env, settings config.Settings) error {
	warning, err := unsuited(settings, asks(e))
	if warning != "" {
		tell(e.stderr, "%s", warning)
	}
	if err == nil {
		sayKeys(e, settings)
		sayPermissions(e, settings)
	}
	return err
}

// sayPermissions says which agents cannot be held to agent.permissions.
func sayPermissions(e *env, settings config.Settings) {
	for _, a := range settings.Candidates() {
		if _, command, err := runner.Prepared(a, nil); err == nil && command.Lax {
			tell(e.stderr, "agent.permissions is %s, and %s cannot be held to it: it may do %s",
				a.Permissions, cmp.Or(a.Program(), a.ResolvedProtocol()), cmp.Or(command.May, "whatever its program does"))
		}
	}
}

// sayKeys says of each agent whether it pays with a key of the environment or with its own login, where nobody has decided it.
func sayKeys(e *env, settings config.Settings) {
	var said []string
	for _, a := range settings.Candidates() {
		says := runner.LookAtKeys(a, e.environ).Says(a.Program())
		if says != "" && !slices.Contains(said, says) {
			said = append(said, says)
			tell(e.stderr, "%s", says)
		}
	}
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
