package ending

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// StopLeft stops a loop that has no runner: with now, it ends the processes of an agent that
// outlived it.
func StopLeft(e *cli.Env, s registry.Status, now, asJSON bool) error {
	left, err := send.LeftBy(s)
	switch {
	case err != nil:
		return err
	case len(left) == 0:
		return send.Explain(e, s, &client.NotRunningError{Loop: s.Name, Kind: inbox.Kill, Reason: s.Head.Reason})
	case !now:
		return cli.Refuse(fmt.Sprintf("'ralph stop %s --now' ends what is left", e.NameToType(s)),
			"loop %s has no runner, and its agent outlived it: %s", s.Name, send.SpellStrays(left))
	}
	k := endReport{Loop: s.Name, Kind: string(inbox.Kill), Ended: true, How: killLeft}
	// The lock is held meanwhile, so that no runner begins with the same marks.
	if err := launch.WithLock(s.Dir, func() error { return k.sweep(s) }); err != nil {
		return err
	}
	return k.print(e, asJSON)
}

// sweepHere is sweep for a loop that may have come back to this machine, into another folder. If it
// runs there, what has its marks is that one's: its runner has ended what was left.
func (k *endReport) sweepHere(e *cli.Env, s registry.Status) error {
	same, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return s.ID != "" && entry.ID == s.ID && entry.Dir != s.Dir })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(same, func(other registry.Status) bool { return other.Live.Alive }) {
		return nil
	}
	return k.sweep(s)
}

// sweep ends the processes that an agent left. The caller holds the loop's lock.
func (k *endReport) sweep(s registry.Status) error {
	for _, mark := range send.Marks(s) {
		strays, err := process.Sweep(context.Background(), mark, leftGrace)
		k.Processes += len(strays)
		if err != nil {
			return fmt.Errorf("end what the agent of loop %s left: %w", s.Name, err)
		}
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
