package main

import (
	"github.com/ralph-loop/ralph/internal/attach"
	"github.com/ralph-loop/ralph/internal/cli"
)

type attachVerb struct {
	cli.Placed
	Name     string `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	Verbose  bool   `short:"V" help:"Show prompts, decisions and notices as well."`
	Time     bool   `help:"Show the time of each entry."`
	NoStatus bool   `help:"Show no status line, and no output of tools that run."`
	JSON     bool   `help:"Print the journal's lines as they are."`
}

// Help shows examples.
func (attachVerb) Help() string { return cli.Examples("ralph attach", "ralph attach demo --time") }

// Run shows a loop and lets a person steer it. Any number may attach at a time.
func (v *attachVerb) Run(e *cli.Env) error {
	s, err := e.Find(v.Name)
	if err != nil {
		return err
	}
	return attach.Run(e, s.Name, s.Dir, attach.Options{JSON: v.JSON, Verbose: v.Verbose, Time: v.Time, Plain: v.NoStatus, Head: s.Head, Resume: resumeAndAttach})
}
