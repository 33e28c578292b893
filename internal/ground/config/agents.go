package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// agentsKey is the key of the agents by name; anyAgent is that of each in the table of keys.
const (
	agentsKey = "agents"
	anyAgent  = "agents.NAME"
)

// AgentNames are agents in order of preference, each by its name in agents or as a command. In JSON
// one alone is a string.
type AgentNames []string

// MarshalJSON writes what decodeNames reads.
func (n AgentNames) MarshalJSON() ([]byte, error) {
	if len(n) == 1 {
		return []byte(inJSON("agent", n[0])), nil
	}
	return []byte(inJSON("agent", []string(n))), nil
}

// UnmarshalJSON reads it for other readers of settings than this package.
func (n *AgentNames) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*n = AgentNames{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// decodeNames reads a string or a list of them.
func decodeNames(f *field, n node, value reflect.Value) *Error {
	if _, one := n.token.(string); one {
		n.nodes = []node{n}
	} else if n.token != json.Delim('[') {
		return wrongType(n, f.Kind)
	}
	list, err := texts(f, n)
	if err != nil {
		return err
	}
	for i, word := range list {
		if strings.TrimSpace(word) == "" {
			return &Error{Key: n.key, Problem: n.key + ": must not be empty", at: n.nodes[i].at}
		}
	}
	setList(value, reflect.ValueOf(AgentNames(list)))
	return nil
}

// named reads agents by name over those of the layers below.
func (d *decoder) named(n node, value reflect.Value) *Error {
	s := Settings{Agents: value.Interface().(map[string]Agent)}
	for _, m := range n.nodes {
		if err := checkName(m.key, m.name); err != nil {
			err.at = m.nameAt
			return err
		}
		if m.token != json.Delim('{') {
			return wrongType(m, KindObject)
		}
		if err := s.edit(m.name, func(base reflect.Value) *Error { return d.object(anyAgent, m, base) }); err != nil {
			return err
		}
	}
	value.Set(reflect.ValueOf(s.Agents))
	return nil
}

// NamePattern matches the names of agents. They are parts of keys.
const NamePattern = `^[\p{L}\p{Nd}_][\p{L}\p{Nd}_-]*$`

var names = units.Pattern(NamePattern)

func checkName(key, name string) *Error {
	if names().MatchString(name) {
		return nil
	}
	return &Error{Key: key, Problem: fmt.Sprintf("%s: %s is no name of an agent", key, shorten(name)), advice: "a name has letters, digits, - and _ only"}
}

func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

// edit changes the settings that fields with this name in agents are relative to; without a name,
// the settings themselves.
func (s *Settings) edit(name string, change func(base reflect.Value) *Error) *Error {
	if name == "" {
		return change(reflect.ValueOf(s).Elem())
	}
	a := s.Agents[name]
	err := change(reflect.ValueOf(&a).Elem())
	s.setAgent(name, a)
	return err
}

// setAgent stores an agent in a copy of the map, which other Settings may share.
func (s *Settings) setAgent(name string, a Agent) {
	agents := map[string]Agent{}
	maps.Copy(agents, s.Agents)
	agents[name] = a
	s.Agents = agents
}

// valueOf returns the value of a field, of the agent with that name where there is one.
func (s Settings) valueOf(f *field, name string) reflect.Value {
	if name == "" {
		return reflect.ValueOf(s).FieldByIndex(f.index)
	}
	return reflect.ValueOf(s.Agents[name]).FieldByIndex(f.index)
}

// Candidates returns the agents in order of preference.
func (s Settings) Candidates() []Agent { return s.agents(s.Agent) }

// Reviewers returns the agents that only review, also if review.skip says that there are no
// reviews.
func (s Settings) Reviewers() []Agent { return s.agents(s.Review.Agent) }

// AllAgents returns the candidates, and after them the reviewers if there are reviews.
func (s Settings) AllAgents() []Agent {
	if s.Review.Skip {
		return s.Candidates()
	}
	return slices.Concat(s.Candidates(), s.Reviewers())
}

func (s Settings) agents(words AgentNames) []Agent {
	var agents []Agent
	for _, word := range words {
		agents = append(agents, s.agent(word))
	}
	return agents
}

// agent returns the agent with that name, else the one with that command. A command takes the
// settings of the agent with its program's name; of one that is another program, its permissions
// alone.
func (s Settings) agent(word string) Agent {
	if a, ok := s.Agents[word]; ok {
		a.Name, a.Command = word, cmp.Or(a.Command, word)
		return a
	}
	command := Agent{Command: word}
	a := s.Agents[s.NameOf(word)]
	if a.Command != "" && !a.sameProgram(command) {
		a = Agent{Permissions: a.Permissions}
	}
	a.Command = word
	return a
}

// NameOf returns the name in agents under which the settings of an agent are: it may be given by
// that name or as a command.
func (s Settings) NameOf(word string) string {
	if _, ok := s.Agents[word]; ok {
		return word
	}
	return Agent{Command: word}.program()
}

// Key returns where the settings of an agent are: agents.claude.
func (a Agent) Key() string {
	return join(agentsKey, cmp.Or(a.Name, Agent{Command: a.Command}.program()))
}

// program is the name in agents of a command: that of the known agent, if it is one.
func (a Agent) program() string {
	known, _ := KnownProgram(a.Program())
	return cmp.Or(known.Program, a.name())
}
