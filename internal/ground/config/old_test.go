package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// agentKeys are the keys of an agent.
func agentKeys() (names []string) {
	for _, f := range table() {
		if name, ok := strings.CutPrefix(f.Name, anyAgent+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// Each key of an agent without a name is refused, in a file, as a flag and as a variable, with what
// to write instead.
func TestOldAgentKeysAreRefused(t *testing.T) {
	const project = `{"agent": "/opt/claude", "review": {"agent": "second"}, "agents": {"second": {"command": "codex"}}}`
	message := func(l layers) string {
		_, err := Load(l.source(t))
		bad, ok := errors.AsType[*Error](err)
		if !ok {
			return fmt.Sprint(err)
		}
		return bad.Error() + "; " + bad.Hint()
	}
	check := func(l layers, want string) {
		t.Helper()
		if got := message(l); got != want {
			t.Errorf("%+v\n got %s\nwant %s", l, got, want)
		}
	}
	for _, key := range agentKeys() {
		for old, name := range map[string]string{"agent": "claude", "review.agent": "second"} {
			new, variable := "agents."+name+"."+key, fmt.Sprintf(`RALPH_AGENTS='{%q: {%q: …}}'`, name, key)
			if key == "command" {
				new, variable = old, envName(old)
			}
			problem := old + "." + key + " is no key: agents have names; "
			check(layers{project: project, flags: map[string]string{old + "." + key: "1"}}, "command line: "+problem+"write "+new)
			check(layers{project: project, env: []string{envName(old+"."+key) + "=1"}}, envName(old+"."+key)+": "+problem+"set "+variable)
		}
		entry := fmt.Sprintf(`"NAME": {%q: …}`, key)
		for old, text := range map[string]string{
			"agent": `"agent": {%q: 1}`, "review.agent": `"review": {"agent": {%q: 1}}`, "agents[0]": `"agents": [{%q: 1}]`, "review.agents[0]": `"review": {"agents": [{%q: 1}]}`,
		} {
			check(layers{project: "{\n" + fmt.Sprintf(text, key) + "}"}, ".ralph/settings.json:2: "+old+"."+key+` is no key: agents have names; write "agents": {`+entry+"}")
		}
	}
	check(layers{project: project, flags: map[string]string{"review.agents": "[]"}}, "command line: review.agents is no key: agents have names; write review.agent")
	check(layers{project: project, env: []string{"RALPH_REVIEW_AGENTS=[]"}}, "RALPH_REVIEW_AGENTS: review.agents is no key: agents have names; set RALPH_REVIEW_AGENT")
	check(layers{flags: map[string]string{"agent.env.A": "1"}}, "command line: agent.env.A is no key: agents have names; write agents.NAME.env.A")
}
