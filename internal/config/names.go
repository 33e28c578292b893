package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Names returns a name for each agent that no other one of the list has: that of its program, looking through what only starts
// another, or of the scenario that is rehearsed. The second of the same name is called claude-2.
func Names(agents []Agent) []string {
	names := make([]string, 0, len(agents))
	for _, a := range agents {
		name := a.name()
		unique := name
		for n := 2; slices.Contains(names, unique); n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		names = append(names, unique)
	}
	return names
}

// name is what a person would call the agent.
func (a Agent) name() string {
	protocol := a.ResolvedProtocol()
	words, err := commandWords(a.Command)
	if err != nil {
		return protocol
	}
	flags, err := SplitFlags(a.Flags)
	if err != nil {
		return protocol
	}
	program, rest := target(slices.Concat(words, flags))
	if protocol == ProtocolRehearsal {
		if len(rest) > 0 {
			program = rest[len(rest)-1]
		}
		program = strings.TrimSuffix(filepath.Base(program), ".rehearsal")
	}
	// What stands in "by" and in columns is one word.
	name := strings.Join(strings.Fields(agentName(program)), "-")
	if name == "" {
		return protocol
	}
	return name
}
