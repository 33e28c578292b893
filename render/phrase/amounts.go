package phrase

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Usage formats tokens and money. Nothing at all has no price, also where the agent reports 0 for
// it: a request that was refused.
func Usage(u event.Usage) string {
	if !u.TokensUnknown && u.Tokens() == 0 && u.USD != nil && *u.USD == 0 {
		return "nothing used"
	}
	text := "tokens unknown"
	if !u.TokensUnknown {
		text = Counts(u)
	}
	text += " · "
	if u.USD == nil {
		text += "cost "
	}
	return text + units.Cost(u.USD)
}

// Counts formats tokens, as far as they are known.
func Counts(u event.Usage) string {
	text := units.Tokens(u.In+u.CacheRead+u.CacheWrite) + " tokens in"
	if u.CacheRead > 0 {
		text += " (" + units.Tokens(u.CacheRead) + " cached)"
	}
	return text + " · " + units.Tokens(u.Out) + " out"
}

// ToolsUsed says how many tools were used, and how many of them failed.
func ToolsUsed(tools, failed int) string {
	text := units.Quantity(tools, "tool")
	if failed > 0 {
		text += fmt.Sprintf(" (%d failed)", failed)
	}
	return text
}

// Changed says how much differs: 2 files +26 −4. It is empty if that is unknown.
func Changed(d *event.Difference) string {
	switch {
	case d == nil:
		return ""
	case *d == event.Difference{}:
		return "no file changed"
	case d.Files == 0: // all of them differed before
		return fmt.Sprintf("+%d −%d", d.Insertions, d.Deletions)
	}
	return fmt.Sprintf("%s +%d −%d", units.Quantity(d.Files, "file"), d.Insertions, d.Deletions)
}

// Roles returns the agents of a loop in order of preference, each with its version, and those that
// only review.
func Roles(p event.LoopStarted) (working, reviewing []string) {
	agents := p.Rules.Agents
	if len(agents) == 0 {
		agents = []event.Agent{p.Agent}
	}
	for i, a := range agents {
		if name := agentName(a); i > 0 && i >= len(agents)-p.Rules.Reviewers {
			reviewing = append(reviewing, name)
		} else {
			working = append(working, name)
		}
	}
	return working, reviewing
}

// First returns the name of the agent that works when a runner begins or resumes a loop; empty if
// the loop does not have several.
func First(agents []event.Agent) string {
	if len(agents) < 2 {
		return ""
	}
	return agents[0].Name
}

// And lists names: "a, b and c".
func And(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// agentName returns the name, command and version of an agent.
func agentName(a event.Agent) string {
	name := cmp.Or(a.Name, a.Protocol)
	if len(a.Command) > 0 && a.Command[0] != a.Protocol {
		name += " (" + strings.Join(a.Command, " ") + ")"
	}
	if a.Version != "" {
		name += " " + a.Version
	}
	return name
}
