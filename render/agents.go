package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// agentsInWords names the agents of a loop, those that only review last.
func agentsInWords(p event.LoopStarted) string {
	working, reviewing := Roles(p)
	about := working[0]
	if len(working) > 1 {
		about = "in order of preference"
		for i, agent := range working {
			about += fmt.Sprintf(", %d. %s", i+1, agent)
		}
	}
	if len(reviewing) > 0 {
		about += ", reviewed by " + And(reviewing)
	}
	return about
}

// Roles returns the agents of a loop in order of preference, each with its version, and those that
// only review; clean.
func Roles(p event.LoopStarted) (working, reviewing []string) {
	agents := p.Rules.Agents
	if len(agents) == 0 {
		agents = []event.Agent{p.Agent}
	}
	for i, a := range agents {
		if name := Clean(AgentName(a)); i > 0 && i >= len(agents)-p.Rules.Reviewers {
			reviewing = append(reviewing, name)
		} else {
			working = append(working, name)
		}
	}
	return working, reviewing
}

// And lists names: "a, b and c".
func And(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// AgentName returns the name, command and version of an agent; not clean.
func AgentName(a event.Agent) string {
	name := cmp.Or(a.Name, a.Protocol)
	if len(a.Command) > 0 && a.Command[0] != a.Protocol {
		name += " (" + strings.Join(a.Command, " ") + ")"
	}
	if a.Version != "" {
		name += " " + a.Version
	}
	return name
}
