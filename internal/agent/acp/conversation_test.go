package acp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// talk is a conversation whose agent's side is written by a test.
type talk struct {
	t            *testing.T
	d            *Dialect
	wrote        []string // what the dialect wrote since it was last looked at
	facts        []string
	fresh, stale bool
}

func newTalk(t *testing.T, program string, spec agent.Spec) *talk {
	t.Helper()
	k := &talk{t: t, d: New(program)}
	spec.Command, spec.Dir = []string{program}, "/p"
	if _, err := k.d.Command(spec); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *talk) write(lines [][]byte) {
	for _, line := range lines {
		k.wrote = append(k.wrote, string(line))
	}
}

func (k *talk) open(prompt string) { k.write(k.d.Open(agent.Prompt{Text: prompt, Iteration: 1})) }

func (k *talk) steer(id string) (live bool) {
	lines, live := k.d.Steer(id, "text of "+id)
	k.write(lines)
	return live
}

// say prints the members of a frame.
func (k *talk) say(format string, args ...any) {
	k.t.Helper()
	k.print(fmt.Sprintf(`{"jsonrpc":"2.0",`+format+`}`, args...), agent.Stdout)
}

// print prints a line.
func (k *talk) print(line string, to agent.Stream) {
	k.t.Helper()
	var out agent.Decoded
	k.d.Decode([]byte(line), to, &out)
	k.write(out.Reply)
	for _, fact := range out.Facts {
		switch p := fact.(type) {
		case event.AgentNoticed:
		case event.AgentSaid:
			if !p.Final {
				k.facts = append(k.facts, "said "+p.Text.String())
			}
		case event.ToolCalled:
			k.facts = append(k.facts, "called "+p.Name)
		case event.ToolReturned:
			k.facts = append(k.facts, strings.TrimSpace("returned "+p.Output.String()))
		case event.CommandDelivered:
			k.facts = append(k.facts, "delivered "+p.ID)
		case event.AgentAsked:
			k.facts = append(k.facts, "answered "+p.Answer)
		case event.AgentLimited:
			k.facts = append(k.facts, string("limited "+p.Kind))
		case event.AgentRetried:
			k.facts = append(k.facts, strings.TrimSpace(fmt.Sprintf("retried %d %d %s", p.Attempt, p.Delay, p.Kind)))
		case event.AgentUsed:
			cost := "unknown"
			if p.USD != nil {
				cost = fmt.Sprint(*p.USD)
			}
			k.facts = append(k.facts, fmt.Sprintf("used %d %d %s", p.In, p.Out, cost))
		case event.AgentFinished:
			k.facts = append(k.facts, strings.TrimSpace(string("finished "+p.Outcome+" ")+p.Error))
		default:
			k.facts = append(k.facts, string(fact.EventType()))
		}
	}
	k.fresh, k.stale = k.fresh || out.Fresh, k.stale || out.Stale
}

func (k *talk) update(body string, args ...any) {
	k.t.Helper()
	k.say(`"method":"session/update","params":{"sessionId":"s1","update":{%s}}`, fmt.Sprintf(body, args...))
}

func (k *talk) chunk(text string) {
	k.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}`, text)
}

func (k *talk) tool(id, status string) {
	k.update(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q,"title":"ls"`, id, status)
}

// begun is a talk whose first prompt is written, as request 3.
func begun(t *testing.T, program string) *talk {
	t.Helper()
	k := newTalk(t, program, agent.Spec{})
	k.open("go")
	k.greet()
	k.wrote = nil
	return k
}

// greet answers initialize and session/new.
func (k *talk) greet() {
	k.say(`"id":1,"result":{"protocolVersion":1}`)
	k.say(`"id":2,"result":{"sessionId":"s1"}`)
}

func (k *talk) expect(what string, got []string, want ...string) {
	k.t.Helper()
	if !slices.Equal(got, want) {
		k.t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func (k *talk) methods() (methods []string) {
	for _, line := range k.wrote {
		_, rest, _ := strings.Cut(line, `"method":"`)
		method, _, _ := strings.Cut(rest, `"`)
		methods = append(methods, method)
	}
	return methods
}

func TestPromptWaitsForSession(t *testing.T) {
	k := newTalk(t, "opencode", agent.Spec{})
	k.open("go")
	k.expect("at first", k.methods(), "initialize")
	k.say(`"id":1,"result":{"protocolVersion":1}`)
	k.expect("then", k.methods(), "initialize", "session/new")
	k.say(`"id":2,"result":{"sessionId":"s1"}`)
	k.expect("then", k.methods(), "initialize", "session/new", "session/prompt")
	if !strings.Contains(k.wrote[2], `"prompt":[{"text":"go","type":"text"}],"sessionId":"s1"`) {
		t.Errorf("the prompt: %s", k.wrote[2])
	}
}

func TestEarlySteerFollowsPrompt(t *testing.T) {
	k := newTalk(t, "opencode", agent.Spec{})
	k.open("go")
	if !k.steer("a") {
		t.Fatal("not taken")
	}
	k.greet()
	k.expect("written", k.methods(), "initialize", "session/new", "session/prompt", "session/prompt")
	k.chunk("hi")
	k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
	k.say(`"id":4,"result":{"stopReason":"end_turn"}`)
	k.expect("facts", k.facts, "said hi", "delivered a", "used 0 0 unknown", "finished ok")
}

func TestSteerDeliveredAfterTool(t *testing.T) {
	k := begun(t, "opencode")
	k.tool("t1", "in_progress")
	k.steer("a")
	k.chunk("still talking")
	k.tool("t1", "completed")
	k.expect("before the answer", k.facts, "called ls", "said still talking", "returned")
	k.chunk("ok")
	k.expect("after it", k.facts[3:], "delivered a", "said ok")
}

func TestLastAnswerEndsTurn(t *testing.T) {
	k := begun(t, "opencode")
	k.chunk("done")
	k.steer("a")
	k.say(`"id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}`)
	k.expect("while the steer is open", k.facts, "said done")
	k.chunk("and this")
	k.say(`"id":4,"result":{"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":3,"totalTokens":12}}`)
	k.expect("facts", k.facts[1:], "said and this", "delivered a", "used 14 5 unknown", "finished ok")
}

func TestRefusedSteerIsNotDelivered(t *testing.T) {
	k := begun(t, "claude-agent-acp")
	k.chunk("done")
	k.steer("a")
	k.say(`"id":4,"error":{"code":-32603,"message":"busy"}`)
	k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
	k.expect("facts", k.facts, "said done", "used 0 0 unknown", "finished ok")
}

func TestQwenDrainsSteers(t *testing.T) {
	const drain = `"id":7,"method":"craft/drainMidTurnQueue","params":{"sessionId":"s1"}`
	k := begun(t, "qwen")
	if !k.steer("a") || len(k.wrote) > 0 {
		t.Fatalf("written without being asked: %q", k.wrote)
	}
	k.tool("t1", "completed")
	k.say(drain)
	k.expect("written", k.wrote, `{"id":7,"jsonrpc":"2.0","result":{"hasQueuedPrompt":false,"messages":["text of a"]}}`)
	k.chunk("ok")
	k.steer("b")
	k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
	k.expect("facts", k.facts, "called tool", "returned", "delivered a", "said ok", "used 0 0 unknown", "finished ok")
	k.wrote = nil
	k.say(drain)
	k.expect("after the turn", k.wrote, `{"id":7,"jsonrpc":"2.0","result":{"hasQueuedPrompt":false,"messages":[]}}`)
}

func TestUnsteerableAgents(t *testing.T) {
	k := begun(t, "gemini")
	if k.steer("a") {
		t.Error("taken")
	}
}

func TestAbort(t *testing.T) {
	t.Run("before there is a session the prompt is never written", func(t *testing.T) {
		k := newTalk(t, "opencode", agent.Spec{})
		k.open("go")
		k.write(k.d.Abort())
		k.greet()
		k.expect("written", k.methods(), "initialize", "session/new")
		k.expect("facts", k.facts, "finished aborted")
	})
	t.Run("what is asked meanwhile is cancelled", func(t *testing.T) {
		k := begun(t, "opencode")
		k.write(k.d.Abort())
		k.say(`"id":"x","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1"},"options":[{"optionId":"y","kind":"allow_once"}]}`)
		k.say(`"id":3,"error":{"code":-32603,"message":"aborted"}`)
		k.expect("written", k.wrote, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
			`{"id":"x","jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}`)
		k.expect("facts", k.facts, "answered cancelled", "used 0 0 unknown", "finished aborted")
	})
}

func TestPermission(t *testing.T) {
	for name, test := range map[string]struct{ options, reply, answer string }{
		"once rather than always": {
			`{"optionId":"a","kind":"allow_always"},{"optionId":"o","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}`,
			`{"outcome":{"optionId":"o","outcome":"selected"}}`, "answered allow_once",
		},
		"always where there is no once": {
			`{"optionId":"r","kind":"reject_once"},{"optionId":"a","kind":"allow_always"}`,
			`{"outcome":{"optionId":"a","outcome":"selected"}}`, "answered allow_always",
		},
		"none where it cannot be allowed": {
			`{"optionId":"r","kind":"reject_once"}`, `{"outcome":{"outcome":"cancelled"}}`, "answered cancelled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, "opencode")
			k.say(`"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1","title":"ls"},"options":[%s]}`, test.options)
			k.expect("written", k.wrote, `{"id":0,"jsonrpc":"2.0","result":`+test.reply+`}`)
			if last := k.facts[len(k.facts)-1]; last != test.answer {
				t.Error(last)
			}
		})
	}
}

// What is asked for is judged by the permissions: by what kind of call it is, and where the files
// are that it names.
func TestPermissionsOfLoop(t *testing.T) {
	const options = `[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]`
	for name, row := range map[string]struct{ permissions, call, want string }{
		"everything":                  {"", `"kind":"execute"`, "allow_once"},
		"a command":                   {agent.PermitWorkspace, `"kind":"execute"`, "reject_once"},
		"a call without a kind":       {agent.PermitWorkspace, `"title":"x"`, "reject_once"},
		"reading anywhere":            {agent.PermitWorkspace, `"kind":"read","locations":[{"path":"/etc/hosts"}]`, "allow_once"},
		"a file in the folder":        {agent.PermitWorkspace, `"kind":"edit","locations":[{"path":"/p/a/b.go"}]`, "allow_once"},
		"one by its relative name":    {agent.PermitWorkspace, `"kind":"edit","content":[{"type":"diff","path":"b.go","newText":"x"}]`, "allow_once"},
		"one outside":                 {agent.PermitWorkspace, `"kind":"edit","locations":[{"path":"/etc/hosts"}]`, "reject_once"},
		"one beside":                  {agent.PermitWorkspace, `"kind":"edit","locations":[{"path":"/p2/x"}]`, "reject_once"},
		"one that climbs out":         {agent.PermitWorkspace, `"kind":"edit","locations":[{"path":"/p/../etc/hosts"}]`, "reject_once"},
		"one of two outside":          {agent.PermitWorkspace, `"kind":"move","locations":[{"path":"/p/x"},{"path":"/q/x"}]`, "reject_once"},
		"the diff says outside":       {agent.PermitWorkspace, `"kind":"edit","locations":[{"path":"/p/x"}],"content":[{"type":"diff","path":"/q"}]`, "reject_once"},
		"an edit that names no file":  {agent.PermitWorkspace, `"kind":"edit"`, "reject_once"},
		"a file where all is refused": {agent.PermitAsk, `"kind":"edit","locations":[{"path":"/p/x"}]`, "reject_once"},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, "gemini")
			k.d.permissions, k.d.dir = row.permissions, "/p"
			k.say(`"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1",%s},"options":%s}`, row.call, options)
			if last := k.facts[len(k.facts)-1]; last != "answered "+row.want {
				t.Error(last)
			}
		})
	}
}

func TestUnknownRequestsAreRefused(t *testing.T) {
	k := begun(t, "opencode")
	k.say(`"id":12,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}`)
	k.expect("written", k.wrote, `{"error":{"code":-32601,"message":"ralph does not serve this"},"id":12,"jsonrpc":"2.0"}`)
}

func TestRefusedStart(t *testing.T) {
	for name, test := range map[string]struct {
		answers []string
		facts   []string
	}{
		"another version": {
			[]string{`"id":1,"result":{"protocolVersion":2}`},
			[]string{"finished error the agent speaks version 2 of the Agent Client Protocol, and ralph speaks 1"},
		},
		"no login": {
			[]string{`"id":1,"result":{"protocolVersion":1}`, `"id":2,"error":{"code":-32000,"message":"Authentication required"}`},
			[]string{"limited auth", "finished error session/new: Authentication required"},
		},
		"no session": {
			[]string{`"id":1,"result":{"protocolVersion":1}`, `"id":2,"result":{}`},
			[]string{"finished error session/new: the answer to session/new names no session"},
		},
		"a refusal": {
			[]string{`"id":1,"error":{"code":-32603,"message":"no"}`},
			[]string{"finished error initialize: no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, "opencode", agent.Spec{})
			k.open("go")
			for _, answer := range test.answers {
				k.say("%s", answer)
			}
			k.expect("facts", k.facts, test.facts...)
			if _, same := k.d.Reset(); same {
				t.Error("the process is used again")
			}
		})
	}
}

func TestModelChosenInSession(t *testing.T) {
	spec := agent.Spec{Model: "m2", Provider: "p", Thinking: "high"}
	const options = `"configOptions":[{"id":"mdl","category":"model"},{"id":"thk","category":"thought_level"}]`
	t.Run("as options", func(t *testing.T) {
		k := newTalk(t, "opencode", spec)
		k.open("go")
		k.say(`"id":1,"result":{"protocolVersion":1}`)
		k.say(`"id":2,"result":{"sessionId":"s1",%s}`, options)
		k.say(`"id":3,"result":{%s}`, options)
		k.say(`"id":4,"result":{%s}`, options)
		k.expect("written", k.wrote[2:4],
			`{"id":3,"jsonrpc":"2.0","method":"session/set_config_option","params":{"configId":"mdl","sessionId":"s1","value":"p/m2"}}`,
			`{"id":4,"jsonrpc":"2.0","method":"session/set_config_option","params":{"configId":"thk","sessionId":"s1","value":"high"}}`)
		k.expect("methods", k.methods()[4:], "session/prompt")
	})
	t.Run("as ACP had it before", func(t *testing.T) {
		k := newTalk(t, "goose", agent.Spec{Model: "m2"})
		k.open("go")
		k.say(`"id":1,"result":{"protocolVersion":1}`)
		k.say(`"id":2,"result":{"sessionId":"s1","models":{"availableModels":[]}}`)
		k.say(`"id":3,"result":{}`)
		k.expect("methods", k.methods(), "initialize", "session/new", "session/set_model", "session/prompt")
	})
	t.Run("a model that is not taken ends the turn before it costs anything", func(t *testing.T) {
		k := newTalk(t, "opencode", agent.Spec{Model: "m2"})
		k.open("go")
		k.say(`"id":1,"result":{"protocolVersion":1}`)
		k.say(`"id":2,"result":{"sessionId":"s1",%s}`, options)
		k.say(`"id":3,"error":{"code":-32602,"message":"model not found"}`)
		k.expect("facts", k.facts, `finished error the agent does not take the model "m2": model not found`)
	})
	t.Run("so does an agent that offers no choice", func(t *testing.T) {
		k := newTalk(t, "kimi", agent.Spec{Model: "m2"})
		k.open("go")
		k.greet()
		k.expect("facts", k.facts, "finished error model: the agent offers no choice of models: leave its model out, or choose it with its flags")
	})
}

func TestNewSessionIsFresh(t *testing.T) {
	k := begun(t, "opencode")
	k.chunk("hi")
	k.update(`"sessionUpdate":"usage_update","cost":{"amount":0.5,"currency":"USD"}`)
	k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
	lines, same := k.d.Reset()
	k.write(lines)
	k.expect("written", k.methods(), "session/new")
	if !same || k.fresh {
		t.Fatalf("same %t, fresh %t before the answer", same, k.fresh)
	}
	k.say(`"id":4,"result":{"sessionId":"s2"}`)
	if !k.fresh {
		t.Fatal("not fresh")
	}
	k.open("again")
	k.chunk("of the old session")
	k.say(`"method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"new"}}}`)
	k.say(`"method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"usage_update","cost":{"amount":0.25,"currency":"USD"}}}`)
	k.say(`"id":5,"result":{"stopReason":"end_turn"}`)
	k.expect("facts", k.facts, "said hi", "used 0 0 0.5", "finished ok", "said new", "used 0 0 0.25", "finished ok")
}

func TestErrorsShownAsText(t *testing.T) {
	for name, test := range map[string]struct {
		program string
		chunks  []string
		want    []string
	}{
		"without a word": {"pi-acp", nil, []string{"used 0 0 unknown", "finished ok"}},
		"an error as words": {
			"copilot", []string{"Error: You have hit your rate limit (HTTP 429)."},
			[]string{"said Error: You have hit your rate limit (HTTP 429).", "used 0 0 unknown", "limited rate", "finished error You have hit your rate limit (HTTP 429)."},
		},
		"an error that the model got over": {"copilot", []string{"Error: x", "All is well."}, []string{"said Error: x", "said All is well.", "used 0 0 unknown", "finished ok"}},
		"words of another agent's":         {"opencode", []string{"Error: is what the test prints."}, []string{"said Error: is what the test prints.", "used 0 0 unknown", "finished ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, test.program)
			for _, words := range test.chunks {
				k.chunk(words)
			}
			k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
			k.expect("facts", k.facts, test.want...)
		})
	}
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[string]string{
		"end_turn": "finished ok", "cancelled": "finished aborted", "max_tokens": "finished length max_tokens",
		"max_turn_requests": "finished length max_turn_requests", "refusal": "finished error the agent refused to go on",
		"of a later version": "finished error the agent stopped for an unknown reason: of a later version",
	} {
		t.Run(reason, func(t *testing.T) {
			k := begun(t, "opencode")
			k.chunk("hi")
			k.say(`"id":3,"result":{"stopReason":%q}`, reason)
			k.expect("facts", k.facts[2:], want)
		})
	}
}

func TestOpenCallsEndWithTurn(t *testing.T) {
	k := begun(t, "opencode")
	k.tool("t1", "in_progress")
	k.say(`"id":3,"result":{"stopReason":"cancelled"}`)
	k.expect("facts", k.facts, "called ls", "used 0 0 unknown", "returned "+agent.NoResult, "finished aborted")
}

func TestPlanIsReported(t *testing.T) {
	k := begun(t, "opencode")
	k.update(`"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]`)
	k.expect("facts", k.facts, "agent.planned")
}
