//go:build realagents && unix

// How the real agents that speak ACP handle rate limits, full servers and cut connections.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal/event"
)

// startACP makes the loop of an agent, and returns the flags that start it.
func startACP(t *testing.T, name string, script modelserver.Script) (r *real, flags []string) {
	t.Helper()
	r = newReal(t, besides(script))
	home, flags := acpHomes[name], []string(nil)
	if home == nil {
		home, flags = bridges[name], []string{"--set", "agents." + name + ".passKeys=true"}
	}
	command, env := home(t, r.server)
	r.begin(env)
	return r, append(flags, "--agent", command)
}

// soon is a fault whose request may be made again after a second.
func soon(status int) func() modelserver.Step {
	return func() modelserver.Step {
		return modelserver.Step{Status: status, Header: map[string]string{"Retry-After": "1"}}
	}
}

func cutOff() modelserver.Step { return modelserver.Step{Drop: true} }

// If a fault lasts until the agent gives up, or until the loop stops waiting for it, the iteration
// is given back.
func TestRealACPFaultsThatPass(t *testing.T) {
	for name, row := range map[string]struct {
		agent string
		fault func() modelserver.Step
		times int64 // as often as the agent asks before it gives up
		kind  event.FaultKind
		more  []string
	}{
		"opencode, overloaded": {"opencode", soon(529), 6, event.KindOverload, nil},
		// opencode waits as long as the server asks for; the loop finds the reason in its log.
		"opencode, silent for an hour": {"opencode", func() modelserver.Step { return modelserver.Limited(time.Hour) }, 1, event.KindRate, []string{"--set", "limits.idle=45s"}},
		"copilot, a rate limit":        {"copilot", func() modelserver.Step { return modelserver.Limited(time.Hour) }, 1, event.KindRate, nil},
		"copilot, cut off":             {"copilot", cutOff, 6, event.KindNetwork, nil},
		"gemini, a rate limit":         {"gemini", soon(429), 1, event.KindRate, nil},
		"gemini, cut off":              {"gemini", cutOff, 1, event.KindNetwork, nil},
		"qwen, a rate limit":           {"qwen", soon(429), 7, event.KindRate, nil},
		"claude-agent-acp, overloaded": {"claude-agent-acp", soon(529), 1, event.KindOverload, nil},
		"codex-acp, a rate limit":      {"codex-acp", soon(429), 1, event.KindRate, nil},
		"qwen, cut off":                {"qwen", func() modelserver.Step { return modelserver.Step{Text: "Half a", Drop: true} }, 4, event.KindNetwork, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			r, flags := startACP(t, row.agent, failing(row.times, row.fault))
			r.impatient(row.agent)
			r.outlives(row.kind, append(flags, row.more...))
		})
	}
}

// impatient has an agent give up soon.
func (r *real) impatient(agent string) {
	for _, entry := range r.env {
		home, ok := strings.CutPrefix(entry, "HOME=")
		if !ok {
			continue
		}
		switch agent {
		case "gemini":
			edit(r.t, filepath.Join(home, ".gemini", "settings.json"), "general", map[string]any{"enableAutoUpdate": false, "maxAttempts": 1})
		case "claude-agent-acp":
			r.env = append(r.env, "CLAUDE_CODE_MAX_RETRIES=0")
		case "codex-acp":
			path := filepath.Join(home, ".codex", "config.toml")
			text, err := os.ReadFile(path)
			if err == nil {
				const wire = `wire_api = "responses"`
				text = bytes.Replace(text, []byte(wire), []byte(wire+"\nrequest_max_retries = 0\nstream_max_retries = 0"), 1)
				err = os.WriteFile(path, text, 0o600)
			}
			if err != nil {
				r.t.Fatal(err)
			}
		case "qwen":
			edit(r.t, filepath.Join(home, ".qwen", "settings.json"), "model", map[string]any{"generationConfig": map[string]any{"maxRetries": 0}})
		}
	}
}

// edit sets a member of an object in a file.
func edit(t *testing.T, path, name string, value any) {
	t.Helper()
	var settings map[string]any
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err == nil {
		settings[name] = value
		text, err = json.Marshal(settings)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A fault that the agent gets over is shown while it lasts, and the iteration goes on.
func TestRealACPRecoversFromFaults(t *testing.T) {
	for name, row := range map[string]struct {
		agent string
		fault func() modelserver.Step
		kinds []event.FaultKind // of agent.retried
	}{
		"opencode, a rate limit": {"opencode", soon(429), []event.FaultKind{event.KindRate}},
		"opencode, cut off":      {"opencode", cutOff, []event.FaultKind{event.KindNetwork}},
		"copilot, a rate limit":  {"copilot", soon(429), []event.FaultKind{""}}, // it names no kind
		"copilot, out of order":  {"copilot", soon(503), []event.FaultKind{event.KindOverload}},
		"copilot, cut off":       {"copilot", cutOff, []event.FaultKind{event.KindNetwork}},
		"gemini, a rate limit": {"gemini", func() modelserver.Step {
			return modelserver.Step{Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[` +
				`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},` +
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`}
		}, []event.FaultKind{event.KindRate}},
		"gemini, out of order": {"gemini", soon(503), []event.FaultKind{event.KindOverload}},
		// These report nothing.
		"qwen, a rate limit":             {"qwen", soon(429), nil},
		"claude-agent-acp, a rate limit": {"claude-agent-acp", soon(429), nil},
		"pi-acp, a rate limit":           {"pi-acp", soon(429), nil},
		"codex-acp, a rate limit":        {"codex-acp", soon(429), []event.FaultKind{event.KindRate}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			r, flags := startACP(t, row.agent, once(row.fault))
			if stderr, code := r.exits(flags...); code != 0 {
				t.Errorf("ralph ended with %d: %s", code, stderr)
			}
			if kinds, limits := r.faults(); !slices.Equal(kinds, row.kinds) || len(limits) > len(kinds) {
				t.Errorf("tried again for %q, limited by %q, want %q", kinds, limits, row.kinds)
			}
			r.ended(event.OutcomeDone)
		})
	}
}

// faults are the kinds of faults in the journal.
func (r *real) faults() (retried, limited []event.FaultKind) {
	r.t.Helper()
	for _, e := range r.events() {
		switch e.Type {
		case event.TypeAgentRetried:
			p, err := event.As[event.AgentRetried](e)
			if err != nil {
				r.t.Fatal(err)
			}
			retried = append(retried, p.Kind)
		case event.TypeAgentLimited:
			p, err := event.As[event.AgentLimited](e)
			if err != nil {
				r.t.Fatal(err)
			}
			limited = append(limited, p.Kind)
		}
	}
	return retried, limited
}

// ended checks the outcomes of the iterations.
func (r *real) ended(want ...event.Outcome) {
	r.t.Helper()
	var got []event.Outcome
	for _, e := range r.events() {
		if e.Type != event.TypeIterationEnded {
			continue
		}
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			r.t.Fatal(err)
		}
		got = append(got, p.Outcome)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the iterations ended %q, want %q", got, want)
	}
}

// Words about a fault, of a model or a tool, are no fault.
func TestRealACPFaultMessages(t *testing.T) {
	const fault = "Error: 429 Too Many Requests, insufficient_quota"
	for name := range acpHomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			r, flags := startACP(t, name, modelserver.PerContext(
				modelserver.Step{Text: fault, Tools: []modelserver.ToolCall{modelserver.Bash("echo '" + fault + "'; echo '" + fault + "' >&2")}, Usage: modelserver.Usage{In: 1, Out: 1}},
				modelserver.Step{Text: fault + " <promise>COMPLETE</promise>", Usage: modelserver.Usage{In: 1, Out: 1}},
			))
			if stderr, code := r.exits(flags...); code != 0 {
				t.Errorf("ralph ended with %d: %s", code, stderr)
			}
			if retried, limited := r.faults(); len(retried)+len(limited) > 0 {
				t.Errorf("tried again for %q, limited by %q", retried, limited)
			}
			r.ended(event.OutcomeDone)
		})
	}
}
