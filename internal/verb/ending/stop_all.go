package ending

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// StopAll stops every loop that runs on this machine, after a person has confirmed the list.
func StopAll(e *cli.Env, kind inbox.Kind, yes, asJSON bool) error {
	loops, err := registry.Survey(e.Home, nil)
	if err != nil {
		return err
	}
	var running []registry.Status
	var lines []string
	for _, s := range loops {
		if s.Err == nil && s.Live.Alive {
			running = append(running, s)
			lines = append(lines, fmt.Sprintf("  %s  %s  %s", s.Name, s.Head.Status, s.Project))
		}
	}
	if len(running) == 0 {
		if asJSON {
			return cli.PrintJSON(e.Stdout, []stoppedLoop{}, "")
		}
		cli.Tell(e.Stderr, "no loop is running on this machine")
		return nil
	}
	if !yes {
		agreed, err := e.ConfirmAll("all loops that run on this machine would be stopped", lines, "Stop them?", "'ralph stop --all --yes' stops them")
		if err != nil || !agreed {
			return err
		}
	}
	stopped := make([]stoppedLoop, len(running))
	var failed error
	for i, s := range running {
		id, err := client.Drop(s.Name, s.Dir, inbox.Command{Kind: kind})
		stopped[i] = stoppedLoop{ID: id, Loop: s.Name, Project: s.Project}
		if err != nil {
			stopped[i].Error = err.Error()
			failed = errors.Join(failed, err)
		}
	}
	if asJSON {
		return cmp.Or(cli.PrintJSON(e.Stdout, stopped, ""), failed)
	}
	for _, s := range stopped {
		if s.Error == "" {
			fmt.Fprintf(e.Stdout, "loop %s of %s was asked to stop\n", cli.Clean(s.Loop), cli.Clean(s.Project))
		}
	}
	cli.Tell(e.Stderr, "'ralph list --all --running' shows which still run")
	return failed
}

// stoppedLoop is a loop that was asked to stop, as --json prints it.
type stoppedLoop struct {
	ID      string `json:"id"`
	Loop    string `json:"loop"`
	Project string `json:"project"`
	Error   string `json:"error,omitempty"`
}
