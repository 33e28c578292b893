package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/trust"
	"github.com/ralph-loop/ralph/render"
)

type trustVerb struct {
	cli.Placed
	Yes    bool `short:"y" help:"Trust them without being asked."`
	Revoke bool `help:"Trust them no more."`
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
		return v.list(e)
	case e.Variable(cli.LoopDirVariable) != "":
		return cli.Refuse("do it in a terminal of your own", "what a project's settings may run is not for its agent to say")
	case v.Revoke:
		return v.revoke(e)
	}
	loaded, err := config.Load(config.Source{HomeDir: e.Home, ProjectDir: e.Root()})
	if err != nil {
		return err
	}
	c := e.ReviewTrust(loaded)
	if c.Err != nil {
		cli.Tell(e.Stderr, "%v", c.Err)
	}
	given, err := v.ask(e, c)
	if err != nil {
		return err
	}
	if given {
		if err := c.Grant(e); err != nil {
			return err
		}
		c = e.ReviewTrust(loaded)
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, c.Report(e), "")
	}
	switch c.Status() {
	case cli.TrustNotNeeded:
		cli.Tell(e.Stderr, "the settings of this project set nothing that needs trust")
	case cli.TrustGiven:
		fmt.Fprintf(e.Stdout, "the settings of %s are trusted\n", render.Clean(e.Root()))
	default:
		cli.Tell(e.Stderr, "nothing is trusted")
	}
	return nil
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
	err := trust.Remove(e.Home, e.Root())
	if errors.Is(err, trust.ErrNotTrusted) {
		cli.Tell(e.Stderr, "the settings of this project were not trusted")
		return nil
	}
	if err == nil {
		fmt.Fprintf(e.Stdout, "the settings of %s are trusted no more\n", render.Clean(e.Root()))
	}
	return err
}

// list prints the projects whose settings are trusted.
func (v *trustVerb) list(e *cli.Env) error {
	records, bad := trust.List(e.Home)
	for _, err := range bad {
		cli.Tell(e.Stderr, "%v", err)
	}
	if v.JSON {
		if records == nil {
			records = []trust.Record{}
		}
		return cli.PrintJSON(e.Stdout, records, "")
	}
	if len(records) == 0 {
		cli.Tell(e.Stderr, "no project's settings are trusted")
	}
	for _, r := range records {
		gone := ""
		if _, err := os.Stat(r.Project); errors.Is(err, fs.ErrNotExist) {
			gone = "  (it is gone)"
		}
		fmt.Fprintf(e.Stdout, "%s  %s%s\n", r.At.Local().Format("2006-01-02 15:04"), render.Clean(r.Project), gone)
	}
	return nil
}
