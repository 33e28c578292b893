package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/registry"
)

// all stops every loop that runs on this machine, after a person has seen which.
func (v *stopVerb) all(e *env, kind inbox.Kind) error {
	if v.Name != "" {
		return refuse("give one of them", "%s and --all are both given", v.Name)
	}
	loops, err := registry.Survey(e.home, nil)
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
		if v.JSON {
			return printJSON(e.stdout, []stoppedLoop{}, "")
		}
		tell(e.stderr, "no loop is running on this machine")
		return nil
	}
	if !v.Yes {
		agreed, err := e.agrees("all loops that run on this machine would be stopped", lines, "Stop them?", "'ralph stop --all --yes' stops them")
		if err != nil || !agreed {
			return err
		}
	}
	// All are told before the first is waited for: one may take its time.
	stopped := make([]stoppedLoop, len(running))
	var failed error
	for i, s := range running {
		stopped[i] = stoppedLoop{Loop: s.Name, Project: s.Project}
		id, err := inbox.Drop(s.Dir, inbox.Command{Kind: kind, From: sender()})
		if stopped[i].ID = id; err != nil && id == "" {
			stopped[i].Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("put the command into the inbox of loop %s: %w", s.Name, err))
		}
	}
	if v.JSON {
		return cmp.Or(printJSON(e.stdout, stopped, ""), failed)
	}
	for _, s := range stopped {
		if s.Error == "" {
			fmt.Fprintf(e.stdout, "loop %s of %s is told to stop\n", clean(s.Loop), clean(s.Project))
		}
	}
	tell(e.stderr, "'ralph list --all --running' shows which are still at it")
	return failed
}

// stoppedLoop is a loop that was told to stop, as --json has it.
type stoppedLoop struct {
	ID      string `json:"id"`
	Loop    string `json:"loop"`
	Project string `json:"project"`
	Error   string `json:"error,omitempty"`
}
