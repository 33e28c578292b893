package main

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/runner"
)

// tellEdited says, before a loop is resumed, what its guardrails consist of and was changed while nobody
// looked: it is taken for the agent's doing, and who did it by hand has to know. Where that are
// the settings themselves, and files are to be protected, the loop is not resumed: it would
// obey what is doubted.
func (v *startVerb) tellEdited(e *env, dir string, before standing) error {
	if !before.exists || v.Reseal {
		return nil
	}
	name := v.Name
	changes, err := runner.Edited(dir, e.cwd, &before.state)
	if err != nil {
		return fmt.Errorf("look at the guardrails' files: %w", err)
	}
	again := fmt.Sprintf("'ralph start %s --resume --reseal'", name)
	told := false
	for _, c := range changes {
		what := fmt.Sprintf("%s has %s since the agent of loop %s was started, and no check has looked", c.Path, c.Kind, name)
		if c.Kind == guardrail.Changed {
			what = fmt.Sprintf("%s was changed since the agent of loop %s was started, and no check has looked", c.Path, name)
		}
		if c.Role == guardrail.Settings && c.Protected {
			return refuse("put it back; or, if it is right as it is, "+again, "%s", what)
		}
		after := "it counts as the agent's doing"
		if c.Protected {
			after += " and will be put back"
		}
		tell(e.stderr, "%s: %s", what, after)
		told = true
	}
	if told {
		tell(e.stderr, "hint: if that was you, stop the loop and say so: %s", again)
	}
	return nil
}
