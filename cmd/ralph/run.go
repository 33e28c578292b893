package main

import (
	"context"
	"io"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/render"
)

type runVerb struct {
	launch.Options
	cli.Placed
	attach.Weak
	Name  string `default:"run" placeholder:"NAME" help:"The loop's name. An ended loop of that name is archived first."`
	JSON  bool   `help:"Print the loop's events as JSON lines."`
	Lines uint16 `placeholder:"N" help:"Lines of tool output to show."`
	Time  bool   `help:"Show the time of each entry."`
}

// Help shows examples.
func (runVerb) Help() string {
	return cli.Examples(
		"ralph run -a claude -p 'Make the tests pass.'",
		"ralph run -f task.md -m 20 --set limits.cost=5",
		"ralph -f task.md",
	)
}

// Run runs the same runner as a detached loop has, in this process.
func (v *runVerb) Run(e *cli.Env) error {
	if v.Prompt == "" && v.PromptFile == "" && !v.WorksOnStories(e) {
		return cli.Refuse("give -p TEXT or -f FILE, or --tasks; 'ralph run --help' shows all", "there is no prompt")
	}
	start := launch.Start{Name: v.Name, Options: v.Options, Fresh: true}
	err := start.Foreground(e, func(ctx context.Context, dir string, stream bool) error {
		o := attach.ViewOptions{JSON: v.JSON, Quiet: !stream, Time: v.Time, Lines: int(v.Lines)}
		if v.Verbose {
			steps := render.NewSteps(e.Stdout, e.Stderr, e.SharedTerminal(), func(w io.Writer) render.Viewer { return o.New(e, w) })
			return attach.Follow(ctx, dir, 0, steps)
		}
		return attach.Follow(ctx, dir, 0, o.New(e, e.Stdout))
	})
	return v.Exit(err, start.Dir)
}
