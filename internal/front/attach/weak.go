package attach

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Weak is the flag of verbs whose exit code is that of a loop.
type Weak struct {
	ExitWeak uint8 `placeholder:"N" help:"The exit code where the work is done and the strength of that, in a fleet that of the weakest task, is weak or none; without it 0."`
}

// Refuse refuses the flag for a verb that returns before the loop ends.
func (w Weak) Refuse(detach bool) error {
	if !detach || w.ExitWeak == 0 {
		return nil
	}
	return cli.Refuse("leave out --detach, or give --exit-weak to 'ralph attach'", "--detach returns before it is known how the loop ends")
}

// Exit returns err, or the exit code for the weak done of the loop in a folder. Of a fleet, the
// weakest of its tasks counts, and is named.
func (w Weak) Exit(err error, dir string) error {
	if err != nil || w.ExitWeak == 0 {
		return err
	}
	loop, err := projector.Load(dir)
	if err != nil {
		return err
	}
	v := loop.View()
	if len(v.Fleet) > 0 {
		return w.ofFleet(filepath.Dir(dir), &v)
	}
	return w.ExitOf(v.Strength)
}

// ExitOf returns the exit code for a done of that strength.
func (w Weak) ExitOf(strength event.Grade) error {
	switch strength {
	case event.GradeNone, event.GradeWeak:
		return cli.Exit(int(w.ExitWeak))
	}
	return nil
}

// ofFleet is Exit for a fleet, whose loops are in a folder. The done of a loop that is gone is
// supported by nothing that is known.
func (w Weak) ofFleet(folder string, fleet *projector.View) error {
	weakest, name := len(event.Grades), ""
	for _, t := range fleet.Fleet {
		grade := event.GradeNone
		if loop, err := projector.Load(filepath.Join(folder, t.Loop)); err == nil && loop.Begun() {
			grade = loop.View().Strength
		}
		if at := slices.Index(event.Grades, grade); at < weakest {
			weakest, name = at, t.Loop
		}
	}
	if weakest > slices.Index(event.Grades, event.GradeWeak) {
		return nil
	}
	grade := event.GradeNone
	if weakest >= 0 {
		grade = event.Grades[weakest]
	}
	return &cli.Failure{Err: fmt.Errorf("the weakest done of the fleet is that of loop %s, whose strength is %s", name, grade),
		Code: int(w.ExitWeak), NextStep: fmt.Sprintf("'ralph status %s' shows all, and 'ralph prove %s' tries that one again", fleet.Name, name)}
}
