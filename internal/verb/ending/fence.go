package ending

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Fence ends a loop that another host of a pool has, as [EndLoop] does, and keeps it from being
// resumed here. On return without an error no process of the loop runs, and both its journal and
// its folder say where it went, whatever state it was in. It may be done again.
func Fence(e *cli.Env, s registry.Status, host string, epoch uint64, wait time.Duration, asJSON bool) error {
	command := inbox.Command{Kind: inbox.Fence, Host: host, Epoch: epoch}
	state, err := loopstate.Open(s.Dir)
	if err != nil {
		return fmt.Errorf("read loop %s: %w", s.Name, err)
	}
	claim, err := fence.ReadClaim(s.Dir)
	if err != nil {
		return fmt.Errorf("read loop %s: %w", s.Name, err)
	}
	own := state.Ownership.Epoch()
	if claim != nil { // of a take-over that no runner has recorded yet
		own = max(own, claim.Epoch)
	}
	if epoch <= own {
		return cli.Refuse("a fence needs the epoch under which the other host took the loop over, which is higher",
			"loop %s is not fenced: this host has it under epoch %d", s.Name, own)
	}
	if err := command.Check(); err != nil {
		return cli.Refuse("--host takes the name of a host of the pool", "loop %s is not fenced: %w", s.Name, err)
	}
	k := endReport{Loop: s.Name, Kind: string(inbox.Fence), How: killLeft, Ended: true}
	if s.Live.Alive || !idle(s.Dir) {
		if err := k.end(e, s, command, wait); err != nil {
			return err
		}
	}
	// Whatever ended the loop, and whatever that recorded: this makes sure.
	err = launch.WithLock(s.Dir, func() error {
		if err := k.sweepHere(e, s); err != nil {
			return err
		}
		return runner.Fence(s.Dir, event.LoopFenced{Host: host, Epoch: epoch}, e.Now())
	})
	if err != nil {
		return fmt.Errorf("fence loop %s: %w", s.Name, err)
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, k, "")
	}
	fmt.Fprintf(e.Stdout, "fenced loop %s: %s\n", s.Name, fence.Fence{To: host, Epoch: epoch}.Text())
	return nil
}
