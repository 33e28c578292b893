package main

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/send"
)

// The verbs by which an agent asks for a person from its own shell. The loop that runs it is in its
// environment; it may have moved to any folder.

// asking is what both can be told.
type asking struct {
	cli.Placed
	Loop string        `short:"l" name:"loop" placeholder:"NAME" help:"The loop; without it the one that this command was started by, else the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON bool          `help:"Say as JSON what became of it."`
	Why  []string      `arg:"" optional:"" help:"What the person has to do or to know; - reads it from stdin. The name of a loop before it is the loop that is meant."`
}

func (v *asking) ask(e *cli.Env, kind inbox.Kind) error {
	if err := v.aim(e); err != nil {
		return err
	}
	s, own, err := cli.CallingLoop(e, v.Loop)
	if err != nil {
		return err
	}
	c := inbox.Command{Kind: kind, Text: send.Text(e, v.Why)}
	if own {
		c.From = "agent:" + cmp.Or(s.Agent, s.Name)
	}
	return send.Flags{Wait: v.Wait, JSON: v.JSON}.SendTo(e, s, c)
}

// aim takes the name of a loop from before the text, or alone. An agent's own text never names
// another loop.
func (v *asking) aim(e *cli.Env) (err error) {
	switch own := e.Variable(cli.LoopDirVariable); {
	case v.Loop != "" || len(v.Why) == 0:
	case own != "":
		if len(v.Why) > 1 && v.Why[0] == filepath.Base(own) {
			v.Why = v.Why[1:]
		}
	default:
		v.Loop, v.Why, err = e.SplitLoopName(v.Why)
	}
	return err
}
