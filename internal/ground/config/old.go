package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Before agents had names, agent, agents, review.agent and review.agents each had all keys of an
// agent. Those keys are refused, with what to write instead.

func oldError(key, write string) *Error {
	return &Error{Key: key, Problem: key + " is no key: agents have names", advice: write}
}

// oldAgents refuses a value that has agents without names. It names the first key of the first one,
// and says how to write them all; no values, which may be secrets.
func oldAgents(n node) *Error {
	objects := n.nodes
	switch {
	case (n.key == "agent" || n.key == "review.agent") && n.token == json.Delim('{'):
		objects = []node{n}
	case n.key == agentsKey && n.token == json.Delim('['), n.key == "review.agents":
	default:
		return nil
	}
	first := n
	var names, entries []string
	for _, object := range objects {
		if first.key == n.key && len(object.nodes) > 0 {
			first = object.nodes[0]
		}
		name, keys := "NAME", []string(nil)
		for _, m := range object.nodes {
			if command, ok := m.token.(string); ok && m.name == "command" {
				name = Agent{Command: command}.program()
				names = append(names, inJSON("", name))
				if command == name {
					continue
				}
			}
			keys = append(keys, fmt.Sprintf("%q: …", m.name))
		}
		if len(keys) > 0 {
			entries = append(entries, fmt.Sprintf("%q: {%s}", name, strings.Join(keys, ", ")))
		}
	}
	agent := `"agent": ` + strings.Join(names, ", ")
	switch {
	case len(names) > 1:
		agent = `"agent": [` + strings.Join(names, ", ") + "]"
	case len(names)+len(entries) == 0:
		agent = `"agent": "NAME"`
	}
	if strings.HasPrefix(n.key, "review.") {
		agent = `"review": {` + agent + "}"
	}
	agents := fmt.Sprintf("%q: {%s}", agentsKey, strings.Join(entries, ", "))
	err := oldError(first.key, "write "+agent)
	switch {
	case len(names) == 0 && len(entries) > 0:
		err.advice = "write " + agents
	case len(entries) > 0:
		err.advice += " and " + agents
	}
	err.at = first.nameAt
	return err
}

// oldKey refuses a dotted key of an agent without a name.
func oldKey(key string, s Settings) *Error {
	instead := newKey(key, s)
	if instead == "" {
		return nil
	}
	return oldError(key, "write "+instead)
}

// newKey returns the key in the place of one of an agent without a name: of the first agent that s
// names. It is "" for any other key.
func newKey(key string, s Settings) string {
	rest, holder, words := key, "agent", s.Agent
	if of, ok := strings.CutPrefix(key, "review."); ok {
		rest, holder, words = of, "review.agent", s.Review.Agent
	}
	rest, ok := strings.CutPrefix(rest, "agent.")
	first, _, _ := strings.Cut(rest, ".")
	switch {
	case key == "review.agents", ok && rest == "command":
		return holder
	case !ok || member(anyAgent, first) == nil:
		return ""
	}
	name := "NAME"
	if len(words) > 0 {
		name = s.NameOf(words[0])
	}
	return join(join(agentsKey, name), rest)
}

// oldVariable refuses a variable of an agent without a name.
func oldVariable(variable string, s Settings) *Error {
	keys := []string{"review.agents"}
	for _, f := range table() {
		if name, ok := strings.CutPrefix(f.Name, anyAgent+"."); ok {
			keys = append(keys, join("agent", name), join("review.agent", name))
		}
	}
	at := slices.IndexFunc(keys, func(key string) bool { return envName(key) == variable })
	if at < 0 {
		return nil
	}
	write := newKey(keys[at], s)
	if parts := strings.SplitN(write, ".", 3); len(parts) == 3 {
		write = fmt.Sprintf("%s='{%q: {%q: …}}'", envName(agentsKey), parts[1], parts[2])
	} else {
		write = envName(write)
	}
	err := oldError(keys[at], "set "+write)
	err.File = variable
	return err
}
