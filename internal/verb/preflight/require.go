package preflight

import (
	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// Required refuses a level of completion.require that no claim could reach.
func Required(home, project string, s config.Settings) []Finding {
	level := s.Completion.Require
	fail := func(says, hint string) []Finding {
		return []Finding{New("claim", Fails, "completion.require is "+level+", and "+says, hint)}
	}
	switch level {
	case "heldOut":
		if all, err := holdout.All(home, project); err == nil && len(all) == 0 {
			return fail("this project has no held-out guardrail", "'ralph holdout add' adds one, or set completion.require to another level")
		}
	case "visible", "proved", "strong":
		switch {
		case len(s.Guardrails) == 0:
			return fail("there is no guardrail", "add one to the settings: a command that succeeds once the work is done")
		case level == "visible":
		case !repo.Any(project):
			return fail(project+" is in no git repository, so that guardrails cannot be tried", "begin with 'git init'")
		case s.Prove.Auto == "off":
			return fail("prove.auto is off, so that guardrails are not tried", "set prove.auto to claim or end")
		}
	}
	return nil
}
