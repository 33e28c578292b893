package initialize

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// A person trusts the answers that they have just given. Settings that init does not ask about are
// trusted only if they were before.

// reviewBefore returns the trust in the settings before the dialogue.
func (d *questions) reviewBefore() cli.TrustReview {
	loaded, err := config.Load(config.Source{HomeDir: d.Home, ProjectDir: d.Root()})
	if err != nil {
		return cli.TrustReview{} // nothing is known about it, so nothing is trusted
	}
	return d.ReviewTrust(loaded)
}

// askedFor are the settings whose values the dialogue asks for, by their keys, besides those of the
// agent.
var askedFor = []string{"guardrails", "scm.command", "scm.tasks", "limits.cost", "limits.duration"}

// trusts records that the settings are trusted, unless init did not ask about a part of them.
func (d *questions) trusts(before cli.TrustReview) error {
	loaded, err := config.Load(config.Source{HomeDir: d.Home, ProjectDir: d.Root()})
	if err != nil {
		return nil // it was reported
	}
	c := d.ReviewTrust(loaded)
	trusted := before.Status() == cli.TrustGiven
	asked := slices.Concat(askedFor, []string{"agents." + d.agent + ".command", "agents." + d.agent + ".flags"})
	if len(loaded.Settings.Agent) == 1 {
		asked = append(asked, "agent")
	}
	if d.boxed {
		asked = append(asked, "sandbox.mode")
	}
	unasked := slices.DeleteFunc(slices.Clone(c.Parts), func(p config.Part) bool {
		if p.Origin.Layer == config.LayerProject && slices.Contains(asked, strings.TrimRight(p.Key, "[]0123456789")) {
			return true
		}
		if !trusted {
			return false
		}
		return p.Key == "agent" || // of a list, the dialogue changes only the first
			slices.ContainsFunc(before.Parts, func(was config.Part) bool { return was.Key == p.Key && was.Value == p.Value })
	})
	if len(unasked) > 0 {
		c.Record = nil // print no changes
		cli.Tell(d.Stderr, "not trusted yet, since init did not ask about it:\n%s", strings.Join(c.Lines(unasked), "\n"))
		cli.Tell(d.Stderr, "hint: 'ralph trust' shows all of it and asks")
		return nil
	}
	return c.Grant(d.Env)
}
