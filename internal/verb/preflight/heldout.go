package preflight

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// HeldOut returns what a person should know of the held-out guardrails of a project: how many there
// are, whether the sandbox of the settings keeps them from the agent, and that those a resumed loop
// had are not here.
func HeldOut(home, project string, settings config.Settings, had int) []Finding {
	mode := settings.Sandbox.Mode
	all, err := holdout.All(home, project)
	if err != nil {
		return Refused("held out", err)
	}
	says := units.Quantity(len(all), "held-out guardrail")
	switch {
	case len(all) < had:
		return []Finding{{"held out", Warns, fmt.Sprintf("the loop had %s, and %d of them are here", units.Quantity(had, "held-out guardrail"), len(all)),
			"'ralph holdout add' keeps them here; so does an export and an import with --held-out"}}
	case len(all) == 0:
		return nil
	case sandbox.Mode(mode) == sandbox.Auto: // only the runner tries what holds
		return []Finding{{"held out", Notes, says + ": all guardrails run in the sandbox that auto finds; without one they are held out by convention", ""}}
	case sandbox.Mode(mode) == sandbox.DockerSandbox:
		return []Finding{{"held out", Warns, says + ", held out by convention: the other guardrails run what the agent wrote outside of its machine",
			"another sandbox.mode keeps them apart"}}
	case !boxed(mode):
		return []Finding{{"held out", Warns, says + ", held out by convention: no sandbox keeps the agent from them", "--sandbox does"}}
	}
	if len(settings.SCM.Tasks) > 0 {
		return []Finding{{"held out", Notes, says + ": all guardrails run in a sandbox, and git's hooks at a commit outside of it", ""}}
	}
	return []Finding{{"held out", Notes, says + ": all guardrails run in a sandbox", ""}}
}

// HidesHeldOut reports whether a sandbox of that mode keeps held-out guardrails of a project from
// what runs in it.
func HidesHeldOut(home, project, mode string) (bool, error) {
	all, err := holdout.All(home, project)
	return len(all) > 0 && boxed(mode), err
}

func boxed(mode string) bool { return mode != "" && sandbox.Mode(mode) != sandbox.None }
