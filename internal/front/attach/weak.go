package attach

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Weak is the flag of verbs whose exit code is that of a loop.
type Weak struct {
	ExitWeak uint8 `placeholder:"N" help:"The exit code where the work is done and the strength of that is weak or none; without it 0."`
}

// Exit returns err, or the exit code for the weak done of the loop in a folder.
func (w Weak) Exit(err error, dir string) error {
	if err != nil || w.ExitWeak == 0 {
		return err
	}
	loop, err := projector.Load(dir)
	if err != nil {
		return err
	}
	return w.ExitOf(loop.View().Strength)
}

// ExitOf returns the exit code for a done of that strength.
func (w Weak) ExitOf(strength event.Grade) error {
	switch strength {
	case event.GradeNone, event.GradeWeak:
		return cli.Exit(int(w.ExitWeak))
	}
	return nil
}
