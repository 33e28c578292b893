//go:build realagents && unix

// The real agents that speak the Agent Client Protocol: run tools/agents/acp/install.sh first.
package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// aside reports whether a request is none of the conversation: opencode asks for a title, without tools; Qwen Code asks for what to
// remember and for what a person might say next.
func aside(req modelserver.Request) bool {
	return len(req.Tools) == 0 || req.Holds("Managed memory") || req.Holds("[SUGGESTION MODE")
}

// besides answers what an agent asks aside.
func besides(script modelserver.Script) modelserver.Script {
	return func(req modelserver.Request) modelserver.Step {
		if aside(req) {
			return modelserver.Step{Text: "Nothing."}
		}
		return script(req)
	}
}

// conversation are the requests that are not aside.
func (r *real) conversation() []modelserver.Request {
	var requests []modelserver.Request
	for _, req := range r.server.Requests() {
		if !aside(req) {
			requests = append(requests, req)
		}
	}
	return requests
}

// acpIterations is the story of two iterations: the second one's requests hold nothing of the first. Where the agent can be steered, the
// word reaches the model in mid-turn, else in the second prompt.
func (r *real) acpIterations(live bool, start ...string) {
	t := r.t
	r.run(append([]string{"start", "night", "--detach", "-p", "FIRST-PROMPT: do the task"}, start...)...)
	r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
	if live {
		var fate fate
		said := r.run("steer", "--loop", "night", "--wait", "0s", "--json", "STEER-WORD use the other branch")
		if err := json.Unmarshal([]byte(said), &fate); err != nil {
			t.Fatalf("steer said %q: %v", said, err)
		}
		r.until("the steer's decision", func(e event.Event) bool {
			return e.Type == event.TypeDecided && strings.Contains(string(e.Data()), fate.ID)
		})
	}
	r.run("follow-up", "--loop", "night", "--wait", "0s", "SECOND-WORD then the docs")
	if err := os.WriteFile(filepath.Join(r.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
	var first, second int
	steered := false
	for _, req := range r.conversation() {
		if req.Holds("SECOND-WORD") {
			second++
			for _, stale := range []string{"STEER-WORD", "FIRST-ANSWER", "tool-begins"} {
				if strings.Contains(string(req.Body), stale) {
					t.Errorf("a request of the second iteration holds %q of the first", stale)
				}
			}
			continue
		}
		first++
		steered = steered || req.Holds("STEER-WORD") && req.Holds("tool-ends")
	}
	// A word that comes while the model answers is told with a request of its own.
	if first < 2 || first > 3 || second != 2 || steered != live {
		t.Errorf("%d requests in the first iteration, %d in the second, steer reached the model: %v", first, second, steered)
	}
	delivered := 0
	for _, e := range r.told() {
		if p, err := event.As[event.CommandDelivered](e); e.Type == event.TypeCommandDelivered && err == nil && p.How == "live" && e.Iter == 1 {
			delivered++
		}
	}
	if live != (delivered == 1) {
		t.Errorf("delivered live %d times", delivered)
	}
	if pids := r.processes(); len(pids) != 2 || pids[0] != pids[1] {
		t.Errorf("two iterations in processes %v, want one process", pids)
	}
	r.run("journal", "verify", "night")
}

// used is what the loop says it has used.
func (r *real) used() event.Usage {
	r.t.Helper()
	s, err := projector.Rebuild(r.dir())
	if err != nil {
		r.t.Fatal(err)
	}
	if s.Life.Ended == nil || s.Life.Ended.Reason != event.ReasonPromise || s.Life.Iteration != 2 {
		r.t.Fatalf("the loop ended as %+v in iteration %d", s.Life.Ended, s.Life.Iteration)
	}
	return s.Budget.Used()
}

// processes are those that served the iterations.
func (r *real) processes() (pids []int) {
	r.t.Helper()
	for _, e := range r.told() {
		if e.Type != event.TypeAgentStarted {
			continue
		}
		p, err := event.As[event.AgentStarted](e)
		if err != nil {
			r.t.Fatal(err)
		}
		pids = append(pids, p.PID)
	}
	return pids
}

func TestRealOpencode(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.OpencodeHome(t, r.server)
	r.begin(env)
	r.acpIterations(true, "--agent", program, "--model", "fake/"+modelserver.OtherModel)
	for _, req := range r.conversation() {
		if req.Model != modelserver.OtherModel {
			t.Errorf("model %q was asked", req.Model)
		}
	}
	// Requests of 1000 and 100 tokens at 1 and 5 dollars per million. Of the tokens, opencode tells those of each turn's last one.
	cost := 0.0015 * float64(len(r.conversation()))
	used := r.used()
	if used.USD == nil || math.Abs(*used.USD-cost) > 1e-9 || used.In != 2000 || used.Out != 200 {
		t.Errorf("accounted for as %+v", used)
	}
}

func TestRealCopilot(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.CopilotHome(t, r.server)
	r.begin(env)
	r.acpIterations(false, "--agent", program)
	if used := r.used(); used.In != int64(1000*len(r.conversation())) || used.Out != int64(100*len(r.conversation())) || used.USD != nil {
		t.Errorf("accounted for as %+v", used)
	}
}

func TestRealQwen(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.QwenHome(t, r.server)
	r.begin(env)
	r.acpIterations(true, "--agent", program+" --auth-type openai")
	if used := r.used(); used.In != int64(1000*len(r.conversation())) || used.Out != int64(100*len(r.conversation())) || used.USD != nil {
		t.Errorf("accounted for as %+v", used)
	}
}

// Qwen Code speaks Claude Code's stream-json as well: a process for each iteration, which cannot be steered.
func TestRealQwenAsClaude(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.QwenHome(t, r.server)
	r.begin(env)
	r.acpIterations(false, "--agent", program+" --auth-type openai", "--protocol", "claude")
	if pids := r.processes(); len(pids) != 2 || pids[0] == pids[1] {
		t.Errorf("two iterations in processes %v, want two", pids)
	}
	if used := r.used(); used.In != int64(1000*len(r.conversation())) || used.Out != int64(100*len(r.conversation())) || used.USD != nil {
		t.Errorf("accounted for as %+v", used)
	}
	for _, e := range r.told() {
		if p, err := event.As[event.AgentUnread](e); e.Type == event.TypeAgentUnread && (err != nil || p.Stream == "") {
			t.Errorf("not understood: %s %s", e.Data(), e.Raw())
		}
	}
}

// A login that is missing ends the loop, also where the agent says so under the name of a good end (Copilot).
func TestRealACPLoginThatIsMissing(t *testing.T) {
	refused := always(modelserver.Step{Status: 401, Body: `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`})
	for _, name := range []string{"opencode", "copilot", "gemini", "qwen", "claude-agent-acp", "codex-acp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			r, flags := startACP(t, name, refused)
			r.impatient(name)
			stderr, code := r.exits(flags...)
			if known, _ := (config.Agent{Command: name}).Known(); code != 4 || known.Login == "" || !strings.Contains(stderr, known.Login+", then resume the loop") {
				t.Errorf("ralph ended with %d: %s", code, stderr)
			}
			var kinds []string
			for _, e := range r.told() {
				if p, err := event.As[event.AgentLimited](e); e.Type == event.TypeAgentLimited && err == nil {
					kinds = append(kinds, p.Kind)
				}
			}
			// Copilot takes it for something that passes before it says so.
			if len(kinds) == 0 || kinds[len(kinds)-1] != policy.KindAuth {
				t.Errorf("limits %v, want the login", kinds)
			}
		})
	}
}

// acpHomes make what each agent needs to be started: its command and its environment.
var acpHomes = map[string]func(testing.TB, *modelserver.Server) (command string, env []string){
	"opencode": modelserver.OpencodeHome,
	"copilot":  modelserver.CopilotHome,
	// Without a model it asks one which to take, in a form that the script knows nothing of.
	"gemini": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		program, env := modelserver.GeminiHome(tb, s)
		return program + " --model gemini-2.5-flash", env
	},
	"qwen": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		program, env := modelserver.QwenHome(tb, s)
		return program + " --auth-type openai", env
	},
}

// startACP makes the loop of an agent, and returns what starts it.
func startACP(t *testing.T, name string, script modelserver.Script) (r *real, flags []string) {
	t.Helper()
	r = newReal(t, besides(script))
	home, flags := acpHomes[name], []string(nil)
	if home == nil {
		home, flags = bridges[name], []string{"--set", "agent.passKeys=true"}
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

// A fault that lasts until the agent gives up, or the loop no longer waits for it, is none of the iteration's.
func TestRealACPFaultsThatPass(t *testing.T) {
	for name, row := range map[string]struct {
		agent string
		fault func() modelserver.Step
		times int64 // as often as the agent asks before it gives up
		kind  string
		more  []string
	}{
		"opencode, overloaded": {"opencode", soon(529), 6, policy.KindOverload, nil},
		// It waits for as long as it was told to; what it logged tells the loop what for.
		"opencode, silent for an hour": {"opencode", func() modelserver.Step { return modelserver.Limited(time.Hour) }, 1, policy.KindRate, []string{"--set", "limits.idle=20s"}},
		"copilot, a rate limit":        {"copilot", func() modelserver.Step { return modelserver.Limited(time.Hour) }, 1, policy.KindRate, nil},
		"copilot, cut off":             {"copilot", cutOff, 6, policy.KindNetwork, nil},
		"gemini, a rate limit":         {"gemini", soon(429), 1, policy.KindRate, nil},
		"gemini, cut off":              {"gemini", cutOff, 1, policy.KindNetwork, nil},
		"qwen, a rate limit":           {"qwen", soon(429), 7, policy.KindRate, nil},
		"claude-agent-acp, overloaded": {"claude-agent-acp", soon(529), 1, policy.KindOverload, nil},
		"codex-acp, a rate limit":      {"codex-acp", soon(429), 1, policy.KindRate, nil},
		"qwen, cut off":                {"qwen", func() modelserver.Step { return modelserver.Step{Text: "Half a", Drop: true} }, 4, policy.KindNetwork, nil},
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

// A fault that the agent gets over by itself shows while it lasts, and the iteration goes on.
func TestRealACPFaultsThatAreGotOver(t *testing.T) {
	for name, row := range map[string]struct {
		agent string
		fault func() modelserver.Step
		kinds []string // of agent.retried
	}{
		"opencode, a rate limit": {"opencode", soon(429), []string{policy.KindRate}},
		"opencode, cut off":      {"opencode", cutOff, []string{policy.KindNetwork}},
		"copilot, a rate limit":  {"copilot", soon(429), []string{""}}, // it does not say what for
		"copilot, out of order":  {"copilot", soon(503), []string{policy.KindOverload}},
		"copilot, cut off":       {"copilot", cutOff, []string{policy.KindNetwork}},
		"gemini, a rate limit": {"gemini", func() modelserver.Step {
			return modelserver.Step{Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[` +
				`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},` +
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`}
		}, []string{policy.KindRate}},
		"gemini, out of order": {"gemini", soon(503), []string{policy.KindOverload}},
		// These say nothing.
		"qwen, a rate limit":             {"qwen", soon(429), nil},
		"claude-agent-acp, a rate limit": {"claude-agent-acp", soon(429), nil},
		"pi-acp, a rate limit":           {"pi-acp", soon(429), nil},
		"codex-acp, a rate limit":        {"codex-acp", soon(429), []string{policy.KindRate}},
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

// faults are the kinds of what the loop was told of.
func (r *real) faults() (retried, limited []string) {
	r.t.Helper()
	for _, e := range r.told() {
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

// ended holds how the iterations ended against what they should have come to.
func (r *real) ended(want ...event.Outcome) {
	r.t.Helper()
	var got []event.Outcome
	for _, e := range r.told() {
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

// What a model and its tools say of faults is none.
func TestRealACPWordsOfAFault(t *testing.T) {
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

// bridges are the second way to agents that have dialects of their own.
var bridges = map[string]func(testing.TB, *modelserver.Server) (command string, env []string){
	"claude-agent-acp": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		return modelserver.Bridge(tb, "claude-agent-acp"), modelserver.ClaudeHome(tb, s)
	},
	"codex-acp": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		_, env := modelserver.CodexHome(tb, s)
		return modelserver.Bridge(tb, "codex-acp"), env
	},
	"pi-acp": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		env, _ := modelserver.PiHome(tb, s)
		return modelserver.Bridge(tb, "pi-acp"), env
	},
}

func TestRealACPBridges(t *testing.T) {
	for name, row := range map[string]struct {
		live bool
		more []string
	}{
		"claude-agent-acp": {true, []string{"--set", "agent.passKeys=true"}},
		"codex-acp":        {true, []string{"--set", "agent.passKeys=true"}},
		"pi-acp":           {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t, besides(twoIterations(t)))
			command, env := bridges[name](t, r.server)
			r.begin(env)
			r.acpIterations(row.live, append([]string{"--agent", command}, row.more...)...)
			n := int64(len(r.conversation()))
			if name == "pi-acp" {
				n = 0 // it does not tell
			}
			if used := r.used(); used.In != 1000*n || used.Out != 100*n || (used.USD != nil && *used.USD > 0) != (name == "claude-agent-acp") {
				t.Errorf("%d requests are accounted for as %+v", n, used)
			}
		})
	}
}

func TestRealGemini(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.GeminiHome(t, r.server)
	r.begin(env)
	r.acpIterations(false, "--agent", program, "--model", "gemini-2.5-flash")
	if used := r.used(); used.In != int64(1000*len(r.conversation())) || used.Out != int64(100*len(r.conversation())) || used.USD != nil {
		t.Errorf("accounted for as %+v", used)
	}
}
