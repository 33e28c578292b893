package main

import (
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
)

type startVerb struct {
	launch.Start
	attach.Weak
	Plain  bool `xor:"view" help:"Without --detach: print the loop as text, as without a terminal."`
	Inline bool `xor:"view" help:"Without --detach: print what is finished into the scrollback."`
}

// Help shows examples.
func (startVerb) Help() string {
	return cli.Examples(
		"ralph start -a claude -p 'Make the tests of ./parser pass.'",
		"ralph start demo --task task.md -m 30 --limits.cost 20 --detach",
		"ralph start demo --resume",
	)
}

// Run starts the detached runner and, without --detach, attaches to it.
func (v *startVerb) Run(e *cli.Env) error {
	if err := v.Refuse(v.Detach); err != nil {
		return err
	}
	err := beginAndShow(e, &v.Start, attach.Options{Plain: v.Plain, Inline: v.Inline})
	return v.Exit(err, v.Dir)
}

// beginAndShow starts the detached runner of a loop and, without --detach, attaches to the loop.
func beginAndShow(e *cli.Env, start *launch.Start, o attach.Options) error {
	started, err := start.Begin(e)
	if err != nil {
		return err
	}
	if start.Detach {
		return launch.Announce(e, start.Name, start.Dir, started, start.JSON)
	}
	return attachTo(e, start.Name, start.Dir, o)
}

// resumeLoop resumes the loop in a folder, with settings that are raised for it.
func resumeLoop(e *cli.Env, dir string, raise map[string]string) error {
	start := launch.Start{Name: dir, Resume: true, Options: launch.Options{Set: raise}}
	_, err := start.Begin(e)
	return err
}
