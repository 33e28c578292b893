package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
)

// A loop that an agent starts is one of the agent's processes and ends with the iteration, unless
// the settings of the outer loop let it continue. See docs/concepts/ending.md.

// outerLoop returns the loop that this program belongs to, as a process of its agent or guardrail,
// and the mark of the loop's processes; an empty mark if there is none.
func outerLoop(e *cli.Env) (name, mark string) {
	return e.Variable("RALPH_LOOP"), e.Variable(process.MarkVariable)
}

// outlives says when a nested loop will end, and refuses --outlive if the settings do not allow it.
func (p *Plan) outlives(e *cli.Env) []preflight.Finding {
	name, mark := outerLoop(e)
	allowed := e.Variable(runner.OutliveVariable) != ""
	switch {
	case mark == "" || p.Outlive && allowed:
		return nil
	case p.Outlive:
		return []preflight.Finding{preflight.New("nested", preflight.Fails,
			fmt.Sprintf("the settings of loop %s let no loop outlive the iteration that starts it", name),
			"leave --outlive out, or have a person set outlive of its agent for loop "+name)}
	}
	says := fmt.Sprintf("loop %s ends with the iteration of loop %s that starts it", p.Name, name)
	if allowed {
		says += "; --outlive lets it continue"
	}
	return []preflight.Finding{preflight.New("nested", preflight.Notes, says, "")}
}

// runnerEnv is the environment of a runner: that of its starter. What --trust lets count this once
// counts for the loops within it too, as it is now: an agent may change it. With --outlive, the
// mark in it says that the runner may outlive the outer loop.
func (p *Plan) runnerEnv(e *cli.Env) *cli.Env {
	own := *e
	if p.Trust && len(p.once) > 0 {
		own.Environ = append(slices.Clip(e.Environ), cli.TrustVariable+"="+strings.Join(p.once, ","))
	}
	_, mark := outerLoop(e)
	if mark == "" || !p.Outlive {
		return &own
	}
	own.Environ = slices.DeleteFunc(slices.Clone(own.Environ), func(entry string) bool { return strings.HasPrefix(entry, process.MarkVariable+"=") })
	own.Environ = append(own.Environ, process.MarkVariable+"="+process.Outliving(mark))
	return &own
}
