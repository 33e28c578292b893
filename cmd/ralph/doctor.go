//go:build !ralph_core

package main

import (
	"context"
	_ "embed"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/doctor"
	"github.com/ralph-loop/ralph/journal/event"
)

type doctorVerb struct {
	cli.Placed
	JSON        bool `help:"Print JSON."`
	Schema      bool `help:"Print the JSON schema of settings.json, for editors."`
	Sandbox     bool `help:"Try to escape from each sandbox of this machine."`
	TasksSchema bool `help:"Print the JSON schema of ralph/tasks.json, for editors."`
}

// Help shows examples.
func (doctorVerb) Help() string {
	return cli.Examples(
		"ralph doctor",
		"ralph doctor --sandbox",
		"ralph doctor --schema > settings.schema.json",
		"ralph doctor --tasks-schema > tasks.schema.json",
	)
}

// Run makes all checks at once and prints them in a fixed order. The exit code is 2 if one fails.
func (v *doctorVerb) Run(e *cli.Env) error {
	if v.Schema {
		_, err := e.Stdout.Write(settingsSchema)
		return err
	}
	if v.TasksSchema {
		_, err := e.Stdout.Write(story.Schema())
		return err
	}
	if v.Sandbox {
		found, err := doctor.TrySandboxes(context.Background(), e)
		if err != nil {
			return err
		}
		if v.JSON {
			return cli.PrintJSON(e.Stdout, found, "  ")
		}
		return found.Print(e.Stdout)
	}
	d := doctor.Examine(e)
	if v.JSON {
		if err := cli.PrintJSON(e.Stdout, d, "  "); err != nil {
			return err
		}
	} else if err := d.Print(e.Stdout, e.RenderOptions().Width); err != nil {
		return err
	}
	if d.Failed() {
		return cli.Exit(event.ExitUsage)
	}
	return nil
}

// settingsSchema is the output of package internal/ground/config/schema: 'make docs' writes the
// file, and a test compares the two. The package itself is not linked, since its library takes as
// long to initialise as all of 'ralph version'.
//
//go:embed settings.schema.json
var settingsSchema []byte
