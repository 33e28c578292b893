package main

import (
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/initialize"
)

type initVerb struct{ cli.Placed }

// Help shows examples.
func (initVerb) Help() string { return cli.Examples("ralph init") }

// Run asks for the settings of this project and writes them.
func (*initVerb) Run(e *cli.Env) error { return initialize.Initialize(e) }
