package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/projector"
)

// firstAnswers is how long a call waits for other machines to answer.
const firstAnswers = 15 * time.Second

// others returns copies of the loops of other machines, and which of these do not answer.
func (s *Server) others(ctx context.Context, running bool) (loops []*projector.View, silent []string) {
	known, errs := s.distant.Await(ctx, firstAnswers)
	for _, v := range known {
		if v.Alive || !running {
			loops = append(loops, new(*v))
		}
	}
	for _, err := range errs {
		silent = append(silent, short(err.Error()))
	}
	return loops, silent
}

// elsewhere returns the loop of another machine that a client names as HOST:NAME; nil for one of
// this machine. No machine is reached that is no source.
func (s *Server) elsewhere(ctx context.Context, name string) (*projector.View, remote.Loop, error) {
	if name = strings.TrimSpace(name); !strings.Contains(name, ":") || len(name) > maxName || isPath(name) {
		return nil, remote.Loop{}, nil
	}
	loops, _ := s.others(ctx, false)
	at := slices.IndexFunc(loops, func(v *projector.View) bool { return v.Call == name })
	if at < 0 {
		return nil, remote.Loop{}, cli.Refuse("ralph_list with otherMachines shows those of other machines", "no other machine that is known here has a loop %q", short(name))
	}
	l, _ := remote.Of(loops[at].Found)
	return loops[at], l, nil
}

// giveElsewhere sends a command to a loop of another machine, and reports what is said there.
func giveElsewhere(e *cli.Env, v *projector.View, l remote.Loop, c inbox.Command, err error) (commandOutput, error) {
	if err != nil {
		return commandOutput{}, err
	}
	said, err := l.Send(e, c)
	if err != nil {
		return commandOutput{}, err
	}
	return commandOutput{Loop: v.ID, Outcome: "received", Question: c.Question, Message: short(strings.TrimSpace(said))}, nil
}
