package main

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/render"
)

type trustVerb struct {
	cli.Placed
	Yes    bool `short:"y" help:"Trust them without a question."`
	Revoke bool `help:"Stop trusting them."`
	List   bool `help:"List the projects whose settings are trusted."`
	JSON   bool `help:"Print JSON; nothing is trusted without --yes."`
}

// Help shows examples.
func (trustVerb) Help() string { return cli.Examples("ralph trust", "ralph trust --list") }

// Run shows what the settings of this project would run, and asks whether they are trusted.
func (v *trustVerb) Run(e *cli.Env) error {
	switch {
	case v.List && (v.Yes || v.Revoke), v.Yes && v.Revoke:
		return cli.Refuse("give one of them", "--yes, --revoke and --list do not go together")
	case v.List:
		return e.ListTrusted(v.JSON)
	case v.Revoke:
		return v.revoke(e)
	}
	loaded, err := config.Load(config.Source{HomeDir: e.Home, ProjectDir: e.Root()})
	if err != nil {
		return err
	}
	settings, err := v.review(e, func() cli.TrustReview { return e.ReviewTrust(loaded) })
	if err != nil {
		return err
	}
	commands, err := v.review(e, func() cli.TrustReview { return e.ReviewCommands(planCommands(e.Root())) })
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, settings.Report(commands), "")
	}
	switch settings.Status() {
	case cli.TrustNotNeeded:
		if commands.Status() == cli.TrustNotNeeded {
			cli.Tell(e.Stderr, "the settings of this project set nothing that needs trust")
		}
	case cli.TrustGiven:
		fmt.Fprintf(e.Stdout, "the settings of %s are trusted\n", render.Clean(e.Root()))
	default:
		cli.Tell(e.Stderr, "nothing is trusted")
	}
	if commands.Status() == cli.TrustGiven {
		fmt.Fprintf(e.Stdout, "the verifyCommands of %s are trusted\n", render.Clean(commands.Of))
	}
	return nil
}

// review asks a person, and records the answer if it is yes.
func (v *trustVerb) review(e *cli.Env, now func() cli.TrustReview) (cli.TrustReview, error) {
	c := now()
	if c.Err != nil {
		cli.Tell(e.Stderr, "%v", c.Err)
	}
	given, err := v.ask(e, c)
	if err != nil || !given {
		return c, err
	}
	if err := c.Grant(e); err != nil {
		return c, err
	}
	return now(), nil
}

// ask reports whether a person trusts the settings that are there now.
func (v *trustVerb) ask(e *cli.Env, c cli.TrustReview) (bool, error) {
	given, needed := c.Status() == cli.TrustGiven, c.Status() != cli.TrustNotNeeded
	if !v.JSON && (given || needed && v.Yes) {
		cli.Tell(e.Stderr, "%s:\n%s", c.About(), strings.Join(c.Lines(c.Parts), "\n"))
	}
	if given || !needed || v.Yes || v.JSON {
		return needed && !given && v.Yes, nil
	}
	return e.ConfirmTrust(c.About(), c.Lines(c.Parts), "'ralph trust --yes' trusts them")
}

func (v *trustVerb) revoke(e *cli.Env) error {
	was, err := cli.RevokeTrust(e.Home, e.Root())
	switch {
	case err != nil:
		return err
	case was:
		fmt.Fprintf(e.Stdout, "the settings of %s are trusted no more\n", render.Clean(e.Root()))
	default:
		cli.Tell(e.Stderr, "the settings of this project were not trusted")
	}
	return nil
}

// planCommands returns the verifyCommands of ralph/tasks.json; none if there is no such file or it
// cannot be read.
func planCommands(project string) []string {
	data, err := plan.ReadTasks(project)
	if err != nil {
		return nil
	}
	list, _ := story.Parse(data)
	if list == nil {
		return nil
	}
	return list.VerifyCommands
}
