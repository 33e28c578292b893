package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/registry"
)

// The verbs by which an agent asks for a person from its own shell. The loop that runs it is in its
// environment; it may have moved to any folder.

// asking is what both can be told.
type asking struct {
	placed
	Loop string        `short:"l" name:"loop" placeholder:"NAME" help:"The loop; without it the one that this command was started by, else the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON bool          `help:"Say as JSON what became of it."`
	Why  []string      `arg:"" optional:"" help:"What the person has to do or to know; - reads it from stdin. The name of a loop before it is the loop that is meant."`
}

type waitVerb struct{ asking }

func (v *waitVerb) Run(e *env) error { return v.ask(e, inbox.Wait) }

type blockedVerb struct{ asking }

func (v *blockedVerb) Run(e *env) error { return v.ask(e, inbox.Blocked) }

func (v *asking) ask(e *env, kind inbox.Kind) error {
	if err := v.aim(e); err != nil {
		return err
	}
	s, own, err := e.asker(v.Loop)
	if err != nil {
		return err
	}
	c := inbox.Command{Kind: kind, Text: words(e, v.Why)}
	if own {
		c.From = "agent:" + cmp.Or(s.Agent, s.Name)
	}
	return sending{Wait: v.Wait, JSON: v.JSON}.sendTo(e, s, c)
}

// aim takes the name of a loop that stands before the words, or alone. Of an agent's own words none is taken for another loop's.
func (v *asking) aim(e *env) (err error) {
	switch own := e.variable(loopDirVariable); {
	case v.Loop != "" || len(v.Why) == 0:
	case own != "":
		if len(v.Why) > 1 && v.Why[0] == filepath.Base(own) {
			v.Why = v.Why[1:]
		}
	default:
		alone := len(v.Why) == 1
		if alone {
			v.Why = append(v.Why, "")
		}
		v.Loop, v.Why, err = e.aimed(v.Why)
		if alone && err == nil {
			v.Why = v.Why[:len(v.Why)-1]
		}
	}
	return err
}

// loopDirVariable is where an agent and all that it starts find their loop.
const loopDirVariable = "RALPH_LOOP_DIR"

// asker returns the loop that is meant, and whether that is the one that this process belongs to.
func (e *env) asker(name string) (s registry.Status, own bool, err error) {
	dir := e.variable(loopDirVariable)
	if name != "" || !filepath.IsAbs(dir) {
		s, err := e.find(name)
		return s, false, err
	}
	all, err := registry.Survey(e.home, func(entry registry.Entry) bool { return entry.Dir == dir })
	if err != nil {
		return registry.Status{}, false, err
	}
	for _, s := range all {
		if s.Err == nil && !s.Gone {
			return s, true, nil
		}
	}
	// The registry of another home has it.
	name = filepath.Base(dir)
	if err := registry.CheckName(name); err != nil {
		return registry.Status{}, false, fmt.Errorf("%s: %w", loopDirVariable, err)
	}
	s, err = e.unlisted(name, dir)
	return s, true, err
}
