package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type helpVerb struct {
	Verb []string `arg:"" optional:"" complete:"verb" help:"The verb; without one, all of them."`
}

// Help shows examples.
func (helpVerb) Help() string { return cli.Examples("ralph help", "ralph help start") }

// Run prints what --help prints.
func (v *helpVerb) Run(e *cli.Env) error {
	if len(v.Verb) > 0 && !commands().Has(v.Verb[0]) {
		return commands().NoVerb(v.Verb[0])
	}
	printed := false
	parser, err := commands().Parser(v.Verb, func(int) { printed = true })
	if err != nil {
		return err
	}
	parser.Stdout = e.Stdout
	_, err = parser.Parse(append(v.Verb[:len(v.Verb):len(v.Verb)], "--help"))
	if printed {
		return nil
	}
	return commands().Usage(parser.Model.Node, v.Verb, err)
}
