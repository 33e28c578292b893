package main

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

type versionVerb struct {
	JSON bool `help:"Print JSON, with the commit and the toolchain."`
}

// Help shows examples.
func (versionVerb) Help() string { return cli.Examples("ralph version --json") }

// Run prints the version.
func (v *versionVerb) Run(e *cli.Env) error {
	a := cli.AboutRalph()
	if v.JSON {
		return cli.PrintJSON(e.Stdout, a, "")
	}
	_, err := fmt.Fprintf(e.Stdout, "ralph %s (%s, %s/%s)\n", a.Version, a.Go, a.OS, a.Arch)
	return err
}
