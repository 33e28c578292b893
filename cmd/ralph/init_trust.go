package main

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
)

// Who has just answered what is to run trusts the answers. What stands in the settings besides, and was not asked about, is trusted only where
// it was before.

// beforehand is what a person had said of the settings before the dialogue.
func (d *dialogue) beforehand() confidence {
	loaded, err := config.Load(config.Source{HomeDir: d.home, ProjectDir: d.root()})
	if err != nil {
		return confidence{} // nothing is known of it, and nothing is trusted
	}
	return d.confidence(loaded)
}

// askedFor are the settings whose values the dialogue asks for, by their keys.
var askedFor = []string{"agent.command", "agent.flags", "guardrails", "scm.command", "scm.tasks", "limits.cost", "limits.duration"}

// trusts records that the settings are trusted, where no part of them is left that nobody was asked about.
func (d *dialogue) trusts(before confidence) error {
	loaded, err := config.Load(config.Source{HomeDir: d.home, ProjectDir: d.root()})
	if err != nil {
		return nil // it was said
	}
	c := d.confidence(loaded)
	trusted := before.standing() == trustGiven
	unasked := slices.DeleteFunc(slices.Clone(c.parts), func(p config.Part) bool {
		if p.Origin.Layer == config.LayerProject && slices.Contains(askedFor, strings.TrimRight(p.Key, "[]0123456789")) {
			return true
		}
		if !trusted {
			return false
		}
		return p.Key == "agents[0]" || // of which the dialogue changes what it asks for, and nothing else
			slices.ContainsFunc(before.parts, func(was config.Part) bool { return was.Key == p.Key && was.Value == p.Value })
	})
	if len(unasked) > 0 {
		c.record = nil // what has changed is not the question
		tell(d.stderr, "not trusted yet, since it stands there besides and was not asked about:\n%s", strings.Join(c.lines(unasked), "\n"))
		tell(d.stderr, "hint: 'ralph trust' shows all of it and asks")
		return nil
	}
	return c.give(d.env)
}
