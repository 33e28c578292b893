package policy

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// unauthorized returns why the one that gave a command may not give it; empty if it may. A person
// may give every command. The agent of the loop may ask for what is an agent's. The agent of a loop
// around it started it, so it is a person for it; the agents of all other loops may give it
// nothing. Where the kernel did not say whose process it was, the command is taken: a process that
// can write the file could also end the loop.
func unauthorized(c event.CommandReceived) string {
	switch {
	case c.Origin == event.OriginOther:
		return fmt.Sprintf("it came from the agent of loop %s, which may steer only the loops that it started", c.Loop)
	case c.Kind == event.CommandFence && c.Origin == event.OriginOuter:
		return "only a person can say that the loop went to another host"
	case c.Origin != event.OriginAgent || c.Kind.IsAgents():
		return ""
	case c.Kind == event.CommandAnswer:
		return "an agent cannot answer its own questions"
	case c.Kind == event.CommandSet:
		return "an agent cannot change the settings of its own loop"
	}
	return fmt.Sprintf("an agent cannot give its own loop a %s", c.Kind)
}
