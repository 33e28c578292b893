//go:build realagents && unix

// The real agents that speak the Agent Client Protocol: run tools/agents/acp/install.sh first.
package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// aside reports whether a request is not part of the conversation: opencode asks for a title,
// without tools; Qwen Code asks for what to remember and for what a person might say next.
func aside(req modelserver.Request) bool {
	return len(req.Tools) == 0 || req.Holds("Managed memory") || req.Holds("[SUGGESTION MODE")
}

// besides answers requests that are aside, and has script answer the others.
func besides(script modelserver.Script) modelserver.Script {
	return func(req modelserver.Request) modelserver.Step {
		if aside(req) {
			return modelserver.Step{Text: "Nothing."}
		}
		return script(req)
	}
}

// conversation returns the requests that are not aside.
func (r *real) conversation() []modelserver.Request {
	var requests []modelserver.Request
	for _, req := range r.server.Requests() {
		if !aside(req) {
			requests = append(requests, req)
		}
	}
	return requests
}

// acpIterations is the story of bothIterations with an agent that serves them in one process.
func (r *real) acpIterations(live bool, start ...string) {
	r.t.Helper()
	r.bothIterations(live, start...)
	if pids := r.processes(); len(pids) != 2 || pids[0] != pids[1] {
		r.t.Errorf("two iterations in processes %v, want one process", pids)
	}
}

// bothIterations is the story of two iterations: the second one's requests contain nothing of the
// first. An agent that can be steered gets the word in mid-turn, any other in its second prompt.
func (r *real) bothIterations(live bool, start ...string) {
	t := r.t
	r.run(append([]string{"start", "night", "--detach", "-p", "FIRST-PROMPT: do the task"}, start...)...)
	r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
	if live {
		var outcome client.Receipt
		said := r.run("steer", "--loop", "night", "--wait", "0s", "--json", "STEER-WORD use the other branch")
		if err := json.Unmarshal([]byte(said), &outcome); err != nil {
			t.Fatalf("steer said %q: %v", said, err)
		}
		r.until("the steer's decision", func(e event.Event) bool {
			return e.Type == event.TypeDecided && strings.Contains(string(e.Data()), outcome.ID)
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
	// A word that comes while the model answers is sent in a request of its own.
	if first < 2 || first > 3 || second != 2 || steered != live {
		t.Errorf("%d requests in the first iteration, %d in the second, steer reached the model: %v", first, second, steered)
	}
	delivered := 0
	for _, e := range r.events() {
		if p, err := event.As[event.CommandDelivered](e); e.Type == event.TypeCommandDelivered && err == nil && p.How == "live" && e.Iter == 1 {
			delivered++
		}
	}
	if live != (delivered == 1) {
		t.Errorf("delivered live %d times", delivered)
	}
	sessions := map[string]bool{}
	for _, e := range r.events() {
		if p, err := event.As[event.AgentStarted](e); e.Type == event.TypeAgentStarted && err == nil {
			sessions[p.Session] = true
		}
	}
	if len(sessions) != 2 || sessions[""] {
		t.Errorf("two iterations in the conversations %v", sessions)
	}
	r.run("journal", "verify", "night")
}

// used returns the usage that the loop reports.
func (r *real) used() event.Usage {
	r.t.Helper()
	s, err := loopstate.Rebuild(r.dir())
	if err != nil {
		r.t.Fatal(err)
	}
	if s.Lifecycle.Ended == nil || s.Lifecycle.Ended.Reason != event.ReasonPromise || s.Lifecycle.Iteration != 2 {
		r.t.Fatalf("the loop ended as %+v in iteration %d", s.Lifecycle.Ended, s.Lifecycle.Iteration)
	}
	return s.Budget.Used()
}

// processes returns those that served the iterations.
func (r *real) processes() (pids []int) {
	r.t.Helper()
	for _, e := range r.events() {
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
	// Requests of 1000 and 100 tokens at 1 and 5 dollars per million. opencode reports the cost of
	// all, but only the tokens of each turn's last one.
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

// Qwen Code speaks Claude Code's stream-json as well: each iteration is a process that cannot be
// steered.
func TestRealQwenAsClaude(t *testing.T) {
	r := newReal(t, besides(twoIterations(t)))
	program, env := modelserver.QwenHome(t, r.server)
	r.begin(env)
	r.bothIterations(false, "--agent", program+" --auth-type openai", "--protocol", "claude")
	if pids := r.processes(); len(pids) != 2 || pids[0] == pids[1] {
		t.Errorf("two iterations in processes %v, want two", pids)
	}
	if used := r.used(); used.In != int64(1000*len(r.conversation())) || used.Out != int64(100*len(r.conversation())) || used.USD != nil {
		t.Errorf("accounted for as %+v", used)
	}
	for _, e := range r.events() {
		if p, err := event.As[event.AgentUnparsed](e); e.Type == event.TypeAgentUnparsed && (err != nil || p.Stream == "") {
			t.Errorf("not understood: %s %s", e.Data(), e.Raw())
		}
	}
}

// A missing login ends the loop, even if the agent reports a successful end (Copilot).
func TestRealACPMissingLogin(t *testing.T) {
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
			var kinds []event.FaultKind
			for _, e := range r.events() {
				if p, err := event.As[event.AgentLimited](e); e.Type == event.TypeAgentLimited && err == nil {
					kinds = append(kinds, p.Kind)
				}
			}
			// Copilot first reports a temporary fault.
			if len(kinds) == 0 || kinds[len(kinds)-1] != event.KindAuth {
				t.Errorf("limits %v, want the login", kinds)
			}
		})
	}
}

// acpHomes make what each agent needs to be started: its command and its environment.
var acpHomes = map[string]func(testing.TB, *modelserver.Server) (command string, env []string){
	"opencode": modelserver.OpencodeHome,
	"copilot":  modelserver.CopilotHome,
	// Without a model, it asks for one with a form that the script does not know.
	"gemini": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		program, env := modelserver.GeminiHome(tb, s)
		return program + " --model gemini-2.5-flash", env
	},
	"qwen": func(tb testing.TB, s *modelserver.Server) (string, []string) {
		program, env := modelserver.QwenHome(tb, s)
		return program + " --auth-type openai", env
	},
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
		"claude-agent-acp": {true, []string{"--set", "agents.claude-agent-acp.passKeys=true"}},
		"codex-acp":        {true, []string{"--set", "agents.codex-acp.passKeys=true"}},
		"pi-acp":           {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t, besides(twoIterations(t)))
			command, env := bridges[name](t, r.server)
			r.begin(env)
			r.acpIterations(row.live, append([]string{"--agent", command}, row.more...)...)
			n := int64(len(r.conversation()))
			if name == "pi-acp" {
				n = 0 // it reports no usage
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
