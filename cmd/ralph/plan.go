//go:build !ralph_core

package main

import (
	"errors"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/planning"
)

type planVerb struct {
	cli.Placed
	From        string `placeholder:"FILE" help:"Derive the stories from these requirements, which stay as they are; they become ralph/prd.md."`
	Issue       string `placeholder:"N" help:"Plan this issue: its number or its address, read with gh or glab."`
	Task        string `placeholder:"FILE" help:"With --issue: write the issue to this new file as the task of a loop, without an agent."`
	Agent       string `short:"a" complete:"agent" placeholder:"AGENT" help:"The agent to talk with: a name in the settings, or a command; without it, that of the settings."`
	Check       bool   `help:"Only check what is written. Exit code 2 if no loop can work on it."`
	Strict      bool   `help:"Warnings are errors: exit code 2."`
	JSON        bool   `help:"With --check: print what was found as JSON."`
	PrintPrompt bool   `help:"Print the instructions for an agent, to use them elsewhere."`
	Trust       bool   `help:"Trust the settings of this project this once, whatever they run."`
}

// Help shows examples.
func (planVerb) Help() string {
	return cli.Examples(
		"ralph plan",
		"ralph plan --from docs/search.md --agent claude",
		"ralph plan --issue 42",
		"ralph plan --issue 42 --task fix-login.md",
		"ralph plan --check --strict",
	)
}

// Run lets an agent interview the person, or checks what is written.
func (v *planVerb) Run(e *cli.Env) error {
	interview := planning.Interview{Agent: v.Agent, From: v.From, Trust: v.Trust, Strict: v.Strict}
	switch {
	case v.Check && (v.PrintPrompt || v.From != "" || v.Issue != ""):
		return cli.Refuse("leave one of them out", "--check only reads: it does not go with --print-prompt, --from and --issue")
	case v.Issue != "" && v.From != "":
		return cli.Refuse("give one of them", "--issue and --from are both given")
	case v.Task != "" && v.Issue == "":
		return cli.Refuse("add --issue N", "--task is for an issue")
	case v.JSON && !v.Check:
		return cli.Refuse("add --check", "--json is for --check")
	case v.Issue != "":
		issue, err := planning.ReadIssue(e, v.Issue)
		if err != nil {
			return err
		}
		if v.Task != "" {
			return planning.WriteTask(e, issue, v.Task)
		}
		interview.About(issue)
	}
	switch {
	case v.PrintPrompt:
		return interview.Print(e)
	case !v.Check:
		return interview.Run(e)
	}
	checked := planning.Check(e.Root())
	if v.JSON {
		return errors.Join(cli.PrintJSON(e.Stdout, checked, ""), checked.Exit(v.Strict))
	}
	return errors.Join(checked.Print(e.Stdout), checked.Exit(v.Strict))
}
