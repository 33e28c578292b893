//go:build !ralph_core

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

type holdoutVerb struct {
	Add    holdoutAddVerb    `cmd:"" help:"Keep a guardrail, with its files, where no agent in a sandbox reads it."`
	List   holdoutListVerb   `cmd:"" help:"List the held-out guardrails of this project."`
	Remove holdoutRemoveVerb `cmd:"" help:"Remove a held-out guardrail with its files."`
}

type holdoutAddVerb struct {
	cli.Placed
	Paths       []string      `arg:"" optional:"" name:"path" help:"Files, and folders whose files have their paths in the project: outside of the project."`
	Command     string        `required:"" help:"The shell command that must exit with 0, in the project with these files."`
	Requirement string        `required:"" placeholder:"WORDS" help:"What has to hold. It is all that the agent learns when the command fails."`
	Name        string        `help:"A name for it; without it one is made of the requirement."`
	Timeout     time.Duration `placeholder:"DURATION" help:"How long it may take; without it as long as limits.iteration."`
	Replace     bool          `help:"Replace the one of that name."`
}

// Help shows examples.
func (holdoutAddVerb) Help() string {
	return cli.Examples("ralph holdout add ../held-out --command 'go test ./acceptance' --requirement 'an empty cart costs nothing'",
		"ralph holdout add --name fast --command 'sh -c \"time make bench\"' --requirement 'a page takes less than a second'")
}

// Run copies the files to ralph's home.
func (v *holdoutAddVerb) Run(e *cli.Env) error {
	paths := make([]string, len(v.Paths))
	for i, path := range v.Paths {
		paths[i] = e.Abs(path)
	}
	g := holdout.Guardrail{Name: v.Name, Command: v.Command, Requirement: v.Requirement, Timeout: event.Duration(v.Timeout)}
	g, err := holdout.Open(e.Home, e.Root()).Add(g, e.Root(), paths, v.Replace)
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return cli.RefuseHinted(hinted)
	}
	if err != nil {
		return cli.Refuse("", "hold out a guardrail: %w", err)
	}
	fmt.Fprintf(e.Stdout, "%s is held out, with %s\n", g.Name, units.Quantity(len(g.Files), "file"))
	if len(g.Files) > 0 {
		cli.Tell(e.Stderr, "the files stay where they were, too: remove them where an agent could read them")
	}
	cli.Tell(e.Stderr, "loops that begin or are resumed from now on have it; those that run do not")
	return nil
}

type holdoutListVerb struct {
	cli.Placed
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (holdoutListVerb) Help() string { return cli.Examples("ralph holdout list") }

// Run lists those of the store and those of the person's own settings.
func (v *holdoutListVerb) Run(e *cli.Env) error {
	all, err := holdout.All(e.Home, e.Root())
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, append([]holdout.Guardrail{}, all...), "")
	}
	if len(all) == 0 {
		cli.Tell(e.Stderr, "this project has no held-out guardrail; 'ralph holdout add' keeps one")
	}
	for _, g := range all {
		fmt.Fprintf(e.Stdout, "%s: %q\n  %s\n", g.Name, cli.Clean(g.Requirement), cli.Clean(g.Command))
		for _, name := range g.Files {
			fmt.Fprintf(e.Stdout, "  %s\n", cli.Clean(name))
		}
	}
	return nil
}

type holdoutRemoveVerb struct {
	cli.Placed
	Name string `arg:"" help:"The held-out guardrail, as 'ralph holdout list' names it."`
}

// Help shows examples.
func (holdoutRemoveVerb) Help() string {
	return cli.Examples("ralph holdout remove an-empty-cart-costs-nothing")
}

// Run removes it. A loop that runs still needs it, and asks a person.
func (v *holdoutRemoveVerb) Run(e *cli.Env) error {
	err := holdout.Open(e.Home, e.Root()).Remove(v.Name)
	if errors.Is(err, holdout.ErrUnknown) {
		return cli.Refuse("'ralph holdout list' shows what there is; those of your own settings.json are removed there", "%w", err)
	}
	if err == nil {
		fmt.Fprintf(e.Stdout, "%s is removed\n", cli.Clean(v.Name))
	}
	return err
}
