package main

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

// With the verbs wait and blocked, an agent asks for a person from its own shell. Its environment
// names the loop that runs it; the agent may have moved to any folder.

// asking holds the flags and arguments of both.
type asking struct {
	cli.Placed
	Loop string        `short:"l" name:"loop" complete:"loop" placeholder:"NAME" help:"The loop; without it the one that this command was started by, else the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON bool          `help:"Print the outcome as JSON."`
	Why  []string      `arg:"" optional:"" complete:"loop" help:"What the person has to do or to know; - reads it from stdin. A loop's name before it chooses that loop."`
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

// aim takes the loop's name from before the text, or from a name alone. The text of an agent never
// names another loop than its own.
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
