package replay

import (
	"context"
	"math"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/render/tui"
)

// Plays reports whether a replay can be shown on the full screen: at a terminal where a program can
// draw, of a folder, in which events can be found again.
func Plays(e *cli.Env, s logs.Source) bool {
	if s.Path == "" || !e.Drawable() || !e.StdinIsTerminal() || e.Variable("CI") != "" {
		return false
	}
	info, err := os.Stat(filepath.Join(s.Path, "journal"))
	return err == nil && info.IsDir()
}

// Play shows a replay on the full screen, with keys for pause, steps, speed and jumps.
func Play(e *cli.Env, src logs.Source, o Options, verbose bool) error {
	spans, err := filter.Iterations(o.Iterations)
	if err != nil {
		return err
	}
	if spans.Last == math.MaxInt {
		spans.Last = 0
	}
	return tui.Play(context.Background(), tui.Options{
		Name: filepath.Base(src.Path), Dir: src.Path, Verbose: verbose, Environ: e.Environ, Now: e.Now, ShowCommit: e.ShowCommit,
		Replay: &tui.Replay{From: o.From, First: spans.First, Last: spans.Last, Speed: o.Speed},
	}, display.Options(e))
}
