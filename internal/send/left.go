package send

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// marks returns the marks of the loop's processes; none if its id is not known.
func marks(s registry.Status) []string {
	id := s.ID
	if id == "" {
		if state, err := cli.OpenState(s); err == nil {
			id = state.Lifecycle.ID
		}
	}
	if id == "" {
		return nil
	}
	return runner.Marks(id)
}

// LeftBy returns the running processes of a loop that has no runner.
func LeftBy(s registry.Status) ([]process.Stray, error) {
	all, err := process.Marked()
	if err != nil {
		return nil, err
	}
	return LeftOf(all, s), nil
}

// LeftOf returns a loop's processes from those of all loops.
func LeftOf(all map[string][]process.Stray, s registry.Status) []process.Stray {
	if s.Live.Alive || len(all) == 0 {
		return nil
	}
	var left []process.Stray
	for _, mark := range marks(s) {
		left = append(left, all[mark]...)
	}
	return left
}

// straysShown is how many processes are named.
const straysShown = 8

// SpellStrays names processes for a person. Their command lines may contain secrets: only the
// beginning is shown.
func SpellStrays(left []process.Stray) string {
	var names []string
	for _, s := range left[:min(len(left), straysShown)] {
		names = append(names, fmt.Sprintf("pid %d (%s)", s.PID, render.Cut(render.Clean(s.Command), 40)))
	}
	if more := len(left) - straysShown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// StopLeft stops a loop that has no runner: with now, it ends the processes of an agent that
// outlived it.
func StopLeft(e *cli.Env, s registry.Status, now, asJSON bool) error {
	left, err := LeftBy(s)
	switch {
	case err != nil:
		return err
	case len(left) == 0:
		return notRunning(e, s, inbox.Kill)
	case !now:
		return cli.Refuse(fmt.Sprintf("'ralph stop %s --now' ends what is left", e.NameToType(s)), "loop %s has no runner, and its agent outlived it: %s", s.Name, SpellStrays(left))
	}
	k := endReport{Loop: s.Name, Kind: string(inbox.Kill), Ended: true, How: killLeft}
	// The lock is held meanwhile, so that no runner begins with the same marks.
	err = launch.WithLock(s.Dir, func() error {
		for _, mark := range marks(s) {
			strays, err := process.Sweep(context.Background(), mark, leftGrace)
			k.Processes += len(strays)
			if err != nil {
				return fmt.Errorf("end what the agent of loop %s left: %w", s.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.print(e, asJSON)
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
