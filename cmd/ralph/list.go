package main

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
)

type listVerb struct {
	cli.Placed
	All     bool     `short:"A" help:"All loops of this machine."`
	Host    []string `placeholder:"HOST" help:"The loops of another machine, as ssh knows it; several with commas, or the flag several times."`
	Hosts   bool     `help:"Also the loops of the machines in the setting hosts."`
	Pool    bool     `help:"Also the loops that other hosts of the pool have."`
	Running bool     `short:"r" help:"Only those that have a runner."`
	Watch   bool     `short:"w" help:"Show all loops of this machine until you leave, to answer, steer, stop and resume them; with --project only those of a project. With --json: print an array whenever a loop has changed."`
	JSON    bool     `help:"Print an array of objects."`
}

// Help shows examples.
func (listVerb) Help() string {
	return cli.Examples(
		"ralph list",
		"ralph list --all --running",
		"ralph list --watch",
		"ralph list --all --json --watch",
		"ralph list --host farm,mill",
		"ralph list --pool",
	)
}

// Run lists loops without touching any of them. It lists loops whose folders are gone for the last
// time.
func (v *listVerb) Run(e *cli.Env) error {
	o := listing.Options{All: v.All, Running: v.Running}
	switch {
	case len(v.Host) > 0 || v.Hosts || v.Pool:
		return v.distant(e)
	case v.Watch && v.JSON:
		return listing.Changes(e, o)
	case v.Watch && (features.board == nil || !e.Drawable() || !e.StdinIsTerminal()):
		return cli.Refuse("leave --watch out, or say --json as well", "--watch draws on a terminal")
	case v.Watch:
		return features.board(e, boardOptions{here: v.Project != "", running: v.Running})
	}
	all, err := listing.Find(e, o)
	if err != nil {
		return err
	}
	switch {
	case v.JSON:
		err = cli.PrintJSON(e.Stdout, all, "")
	case len(all) == 0:
		cli.Tell(e.Stderr, "%s", v.none())
	default:
		_, err = e.Stdout.Write(listing.Table(e, all, v.All))
	}
	if err != nil {
		return err
	}
	if pruned := listing.Prune(e, all); pruned > 0 && !v.JSON {
		cli.Tell(e.Stderr, "the folders of %s are gone: the next list leaves them out", units.Quantity(pruned, "loop"))
	}
	return nil
}

// distant lists the loops of other machines, and without --host those of this one, too. What cannot
// be reached is said after the others.
func (v *listVerb) distant(e *cli.Env) error {
	switch {
	case features.elsewhere == nil:
		return cli.Refuse("install the complete program", "the core of ralph reaches no other host")
	case v.Watch || v.Project != "":
		return cli.Refuse("leave it out; 'ralph list --watch' shows the machines in the setting hosts, and the pool",
			"--host, --hosts and --pool do not go with --watch or --project")
	}
	all := []*projector.View{}
	if len(v.Host) == 0 {
		here, err := listing.Find(e, listing.Options{All: true, Running: v.Running})
		if err != nil {
			return err
		}
		all = here
	}
	there, failed := features.elsewhere(e, v)
	all = append(all, there...)
	var err error
	switch {
	case v.JSON:
		err = cli.PrintJSON(e.Stdout, all, "")
	case len(all) > 0:
		_, err = e.Stdout.Write(listing.Table(e, all, true))
	case failed == nil:
		cli.Tell(e.Stderr, "%s", v.none())
	}
	return cmp.Or(err, failed)
}

func (v *listVerb) none() string {
	switch {
	case len(v.Host) > 0:
		return "there is no loop on " + strings.Join(v.Host, ", ")
	case v.Hosts || v.Pool:
		return "there is no loop on this machine, and none elsewhere"
	case v.Running && v.All:
		return "no loop is running on this machine; 'ralph list --all' shows those that have ended"
	case v.Running:
		return "no loop is running here; 'ralph list' shows those that have ended"
	case v.All:
		return "there is no loop on this machine; 'ralph start' begins one"
	}
	return "there is no loop here; 'ralph list --all' shows those of this machine"
}
