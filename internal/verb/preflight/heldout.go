package preflight

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// HeldOut returns what a person should know of the held-out guardrails of a project: how many there
// are, whether a sandbox of that mode keeps them from the agent, and that those a resumed loop had
// are not here.
func HeldOut(home, project, mode string, had int) []Finding {
	all, err := holdout.All(home, project)
	if err != nil {
		return Refused("held out", err)
	}
	says := units.Quantity(len(all), "held-out guardrail")
	switch boxed := mode != "" && sandbox.Mode(mode) != sandbox.None; {
	case len(all) < had:
		return []Finding{{"held out", Warns, fmt.Sprintf("the loop had %s, and %d of them are here", units.Quantity(had, "held-out guardrail"), len(all)),
			"'ralph holdout add' keeps them here; no export has them"}}
	case len(all) == 0:
		return nil
	case !boxed:
		return []Finding{{"held out", Warns, says + ", held out by convention: no sandbox keeps the agent from them", "--sandbox does"}}
	}
	return []Finding{{"held out", Notes, says + ": all guardrails run in a sandbox", ""}}
}
