// Package display says how a program that draws on the person's terminal runs there, and edits what
// the person types into it.
package display

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/render/terminal"
)

// Options are those of the settings of the person at the terminal. Settings that cannot be read are
// those built in: they must not keep a person from a loop.
func Options(e *cli.Env) terminal.Options {
	show := config.Defaults().Terminal
	if loaded, err := e.Settings(nil, e.WorkDir()); err == nil {
		show = loaded.Settings.Terminal
	}
	return terminal.Options{
		In: e.Stdin, Out: e.Stdout, Environ: e.Environ,
		Show: terminal.Show{Title: show.Title, Progress: show.Progress, Status: show.Status, Notify: show.Notify},
	}
}
