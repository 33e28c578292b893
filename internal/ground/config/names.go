package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Names returns a unique name for each agent of a list: its own, else that of its program, without
// launchers, or of the scenario that is rehearsed. The second agent with the name claude is called
// claude-2.
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

// name is what a person would call the agent: one word, since it appears in "by", in columns and in
// the keys of settings.
func (a Agent) name() string {
	if a.Name != "" {
		return a.Name
	}
	protocol := a.ResolvedProtocol()
	program := a.Program()
	if argv, err := a.Argv(); err == nil && protocol == ProtocolRehearsal {
		program = strings.TrimSuffix(filepath.Base(argv[len(argv)-1]), ".rehearsal")
	}
	return cmp.Or(strings.Join(strings.FieldsFunc(program, notInName), "-"), protocol)
}
