package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/runner"
)

// hintNotSpoken is what to do about an agent whose protocol nobody here speaks.
const hintNotSpoken = "set agent.protocol to text to run it as a plain program"

// filesLeast is how many files a loop needs room for. One with a single guardrail fails with 24, and on a busy machine now and then with 64,
// where a look at a repository, a guardrail and the journal's housekeeping meet; guardrails that run side by side need more.
const filesLeast = 128

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
	warnings, err := unsuited(settings, asks(e))
	for _, warning := range warnings {
		tell(e.stderr, "%s", warning)
	}
	if err == nil {
		sayKeys(e, settings)
		if warning := unproved(e, settings); warning != "" {
			tell(e.stderr, "%s", warning)
			tell(e.stderr, "hint: %s", hintUnproved)
		}
		sayPermissions(e, settings)
	}
	return err
}

const hintUnproved = "add a guardrail, a command that succeeds once the work is done, or begin with 'git init'"

// unproved warns of an agent whose claim that the work is done nothing can be held against: it does not show its tools, there is no
// repository in which a change would show, and no guardrail. It is empty where a person asked for no evidence.
func unproved(e *env, settings config.Settings) string {
	if len(settings.Guardrails) > 0 || settings.Completion.OnPromiseNoWork == config.NoWorkAccept || settings.Completion.MinToolCalls == 0 {
		return ""
	}
	for _, agent := range settings.Candidates() {
		dialect, err := runner.Dialect(agent)
		if err != nil || dialect.Abilities().Tools {
			continue
		}
		if _, err := repo.Repos(context.Background(), e.root(), e.environ...); !repo.Absent(err) {
			return ""
		}
		return fmt.Sprintf("nothing can be held against a claim that the work is done: an agent that is spoken to as %s does not show its tools, %s is in no git repository, and there is no guardrail",
			agent.ResolvedProtocol(), e.root())
	}
	return ""
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
func unsuited(settings config.Settings, asks runner.Ask) (warnings []string, err error) {
	limits := settings.Limits
	var cost, tokens string // of the first agent that does not report it
	for _, agent := range settings.Candidates() {
		if _, err := runner.Dialect(agent); err != nil {
			return nil, refuse(hintNotSpoken, "%w", err)
		}
		var ask runner.Ask // only what needs to be known before the loop begins
		if settings.Context == config.ContextSame {
			ask = asks
		}
		dialect, _, err := runner.Prepared(agent, ask)
		if err != nil {
			return nil, refuse("see agent.command and agent.flags", "%w", err)
		}
		protocol, can := agent.ResolvedProtocol(), dialect.Abilities()
		if settings.Context == config.ContextSame && !can.Same {
			return nil, refuse("leave context at fresh, or choose an agent that 'ralph doctor' shows with 'same'",
				"context is same, and an agent that is spoken to as %s has no session to go on with", protocol)
		}
		if limited := limits.Cost > 0 || limits.IterationCost > 0; limited && !can.Costs && cost == "" {
			cost = fmt.Sprintf("an agent that is spoken to as %s does not report what it costs: no limit of cost can stop it", protocol)
		}
		if limited := limits.Tokens > 0 || limits.IterationTokens > 0; limited && !can.Tokens && tokens == "" {
			tokens = fmt.Sprintf("an agent that is spoken to as %s does not report the tokens that it uses: no limit of tokens can stop it", protocol)
		}
	}
	return slices.DeleteFunc([]string{cost, tokens}, func(warning string) bool { return warning == "" }), nil
}
