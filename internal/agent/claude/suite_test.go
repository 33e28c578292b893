package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/journal/event"
)

var suite = agenttest.Agent{
	New:  func() agent.Dialect { return New(nil) },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program}} },
	Fake: func() agenttest.Fake { return new(streamJSON).hear },
}

func TestMain(m *testing.M) { agenttest.Main(m, suite) }

func TestSuite(t *testing.T) { agenttest.Suite(t, withStreams(t)) }

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, withStreams(f)) }

func withStreams(t testing.TB) agenttest.Agent {
	a := suite
	a.Streams = map[string][]byte{}
	for _, path := range captures(t) {
		a.Streams[path] = bytes.Join(printed(t, path), []byte("\n"))
	}
	return a
}

// streamJSON is the side of Claude Code 2.1.329 of a process that was given --replay-user-messages:
// it answers each line of stdin at once with all that follows from it.
type streamJSON struct {
	waiting  string // the uuid of the message whose turn is open
	messages int
	out      [][]byte
}

func (c *streamJSON) hear(stdin []byte) [][]byte {
	c.out = nil
	if stdin == nil {
		return nil // init comes with the first message
	}
	if stdin[0] != '{' {
		return ampPrints(string(stdin)) // an argument: it is Amp that is played
	}
	var in struct {
		Type, UUID string
		Message    json.RawMessage
		Request    struct{ Subtype string }
		RequestID  string `json:"request_id"`
	}
	if err := json.Unmarshal(stdin, &in); err != nil {
		panic(err) // the dialect never writes anything else
	}
	switch {
	case in.Type == "user":
		c.user(in.UUID, in.Message)
	case in.Type == "control_request":
		c.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q}}`, in.RequestID)
		if c.waiting != "" {
			c.result(`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic]"]`)
		}
	}
	return c.out
}

// user takes a message: one that comes while a tool runs goes along with its result.
func (c *streamJSON) user(uuid string, message json.RawMessage) {
	c.say(`{"type":"command_lifecycle","command_uuid":%q,"state":"queued"}`, uuid)
	steer := c.waiting != ""
	if steer {
		c.say(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"done"}]},"parent_tool_use_id":null}`, c.messages)
	} else {
		c.say(`{"type":"system","subtype":"init","claude_code_version":"2.1.329"}`)
		c.waiting = uuid
	}
	c.say(`{"type":"command_lifecycle","command_uuid":%q,"state":"started"}`, uuid)
	c.say(`{"type":"user","message":%s,"uuid":%q,"isReplay":true}`, message, uuid)
	c.messages++
	c.block(`{"type":"text","text":"I am looking at it, caf\u00e9."}`)
	if steer || !strings.Contains(string(message), agenttest.Wait) {
		c.result(`"subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"I am looking at it, caf\u00e9."`)
		return
	}
	c.block(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"make"}}`, c.messages))
}

func (c *streamJSON) block(content string) {
	c.say(`{"type":"assistant","message":{"id":"msg_%d","role":"assistant","content":[%s]},"parent_tool_use_id":null}`, c.messages, content)
}

func (c *streamJSON) result(how event.Claim) {
	c.say(`{%s,"queued_turn_count":0,"model_usage_since_last_result":{"m":{"inputTokens":10,"outputTokens":2,"costUSD":0.01}},"type":"result"}`, how)
	c.say(`{"type":"command_lifecycle","command_uuid":%q,"state":"completed"}`, c.waiting)
	c.waiting = ""
}

func (c *streamJSON) say(format string, args ...any) {
	c.out = append(c.out, fmt.Appendf(nil, format, args...))
}
