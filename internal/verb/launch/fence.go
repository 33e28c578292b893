package launch

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// checkFence refuses to resume a loop that went elsewhere.
func checkFence(name, dir string) error {
	f, err := fence.Read(dir)
	if err != nil || f == nil {
		return err
	}
	if f.To != "" {
		return &cli.Failure{
			Err:  fmt.Errorf("loop %s cannot be resumed here: %s", name, f.Text()),
			Code: event.ExitFenced, NextStep: fmt.Sprintf("'ralph pool take %s' brings it back", name),
		}
	}
	next := "resume it where it was imported"
	if !f.Complete {
		next = fmt.Sprintf("'ralph export %s --move' writes the file again", name)
	}
	return cli.Refuse(fmt.Sprintf("%s; 'ralph export %s --undo' takes it back", next, name),
		"loop %s was moved, and cannot be resumed here: %s", name, f.Text())
}

// checkCopies refuses to resume a loop while a copy of it runs on this machine: both would do the
// same work, and their processes have the same mark.
func checkCopies(e *cli.Env, name, dir, id string) error {
	copies, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return id != "" && entry.ID == id && entry.Dir != dir })
	for _, s := range copies {
		if s.Live.Alive {
			return cli.Refuse(fmt.Sprintf("'ralph stop %s' ends that one", s.Dir), "loop %s cannot be resumed: a copy of it runs in %s", name, s.Project)
		}
	}
	return err
}
