//go:build !ralph_core

package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/hook"
)

type hookVerb struct {
	Stop         hookStopVerb         `cmd:"" help:"Hold the agent of a loop until the plan is in order, and a session loop until its promise."`
	PostToolUse  hookPostToolUseVerb  `cmd:"" help:"Warn the agent when its context window fills up."`
	PreToolUse   hookPreToolUseVerb   `cmd:"" help:"Judge a shell command before it runs."`
	SessionStart hookSessionStartVerb `cmd:"" help:"Let the warnings begin again, and name the loop that works here."`
	UserPrompt   hookUserPromptVerb   `cmd:"" name:"user-prompt-submit" help:"End the session loop if the person wrote /cancel-ralph."`
}

type (
	hookStopVerb         struct{}
	hookPostToolUseVerb  struct{}
	hookPreToolUseVerb   struct{}
	hookSessionStartVerb struct{}
	hookUserPromptVerb   struct{}
)

// Help shows examples.
func (hookStopVerb) Help() string { return cli.Examples("ralph hook stop < event.json") }

// Help shows examples.
func (hookPostToolUseVerb) Help() string {
	return cli.Examples("ralph hook post-tool-use < event.json")
}

// Help shows examples.
func (hookPreToolUseVerb) Help() string {
	return cli.Examples("ralph hook pre-tool-use < event.json")
}

// Help shows examples.
func (hookSessionStartVerb) Help() string {
	return cli.Examples("ralph hook session-start < event.json")
}

// Help shows examples.
func (hookUserPromptVerb) Help() string {
	return cli.Examples("ralph hook user-prompt-submit < event.json")
}

// Run answers the agent.
func (*hookStopVerb) Run(e *cli.Env) error { return answerHook(e, hook.Stop) }

// Run answers the agent.
func (*hookPostToolUseVerb) Run(e *cli.Env) error { return answerHook(e, hook.PostToolUse) }

// Run answers the agent.
func (*hookPreToolUseVerb) Run(e *cli.Env) error { return answerHook(e, hook.PreToolUse) }

// Run answers the agent.
func (*hookSessionStartVerb) Run(e *cli.Env) error { return answerHook(e, hook.SessionStart) }

// Run answers the agent.
func (*hookUserPromptVerb) Run(e *cli.Env) error { return answerHook(e, hook.UserPrompt) }

// answerHook answers one hook call. An error is reported and the exit code is 0 all the same: any
// other would disturb the agent's session.
func answerHook(e *cli.Env, kind hook.Kind) error {
	if e.StdinIsTerminal() {
		return cli.Refuse("put it into the agent's settings: docs/guide/hooks.md", "'ralph hook %s' is called by an agent, with JSON on its standard input", kind)
	}
	env := hook.Env{Home: e.Home, Cwd: e.Cwd, Variable: e.Variable, Now: e.Now}
	if err := hook.Serve(context.Background(), env, kind, e.Stdin, e.Stdout); err != nil {
		cli.Tell(e.Stderr, "%v", err)
	}
	return nil
}
