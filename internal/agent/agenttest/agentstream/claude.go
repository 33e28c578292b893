package agentstream

import (
	"fmt"
	"io"
)

// Claude writes size bytes or a little more of what Claude Code 2.1.329 prints with --output-format
// stream-json, --verbose and, for one message in four, --include-partial-messages. It ends with a result.
func Claude(w io.Writer, corpus string, size int64) error {
	c := claude{stream: newStream(w, corpus, size)}
	c.session = c.uuid()
	c.print(`{"type":"system","subtype":"init","cwd":"/home/dev/work","session_id":%q,"tools":["Bash","Edit","Read","Write"],"mcp_servers":[],"model":"claude-opus-5-5","permissionMode":"bypassPermissions","apiKeySource":"none","claude_code_version":"2.1.329","output_style":"default","uuid":%q}`, c.session, c.uuid())
	for c.left > 0 {
		c.turn()
	}
	c.print(`{"duration_api_ms":75,"stop_reason":"end_turn","session_id":%q,"total_cost_usd":0.00162,"usage":{"input_tokens":200,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":40},"permission_denials":[],"terminal_reason":"completed","is_error":false,"num_turns":%r,"subtype":"success","api_error_status":null,"result":"done","type":"result","duration_ms":4863,"uuid":%q}`,
		c.session, c.message, c.uuid())
	return c.out.Flush()
}

type claude struct {
	*stream
	session string
	id      string // of the message
	partial bool
	block   int
}

// turn is one message of the assistant with what it leads to.
func (c *claude) turn() {
	c.message++
	c.id, c.block, c.partial = fmt.Sprintf("msg_%s", c.stream.id(20)), 0, c.message%4 == 0
	c.print(`{"type":"system","subtype":"status","status":"requesting","session_id":%q,"uuid":%q}`, c.session, c.uuid())
	if c.partial {
		c.event(`{"type":"message_start","message":{"id":%q,"type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":50}}}`, c.id)
	}
	if c.dice.IntN(3) == 0 {
		c.words("thinking", c.skewed(400, 0.8, 8<<10))
	}
	if c.dice.IntN(2) == 0 {
		c.words("text", c.skewed(250, 0.9, 16<<10))
	}
	tool := "toolu_" + c.stream.id(20)
	c.tool(tool)
	if c.partial {
		c.event(`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":100,"output_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":50}}`)
		c.event(`{"type":"message_stop"}`)
	}
	c.returned(tool)
}

// event is one event of the API's own stream.
func (c *claude) event(format string, args ...any) {
	c.print(`{"type":"stream_event","event":`+format+`,"session_id":%q,"parent_tool_use_id":null,"uuid":%q,"api_message_id":%q}`,
		append(args, c.session, c.uuid(), c.id)...)
}

// words is a block of text or thinking, streamed or not.
func (c *claude) words(kind string, n int) {
	text := c.piece(n)
	if c.partial {
		c.event(`{"type":"content_block_start","index":%r,"content_block":{"type":%q,%q:""}}`, c.block, kind, kind)
		for _, piece := range c.cuts(text) {
			c.event(`{"type":"content_block_delta","index":%r,"delta":{"type":%q,%q:%q}}`, c.block, kind+"_delta", kind, piece)
		}
	}
	c.assistant(`{"type":%q,%q:%q}`, kind, kind, text)
	if c.partial {
		c.event(`{"type":"content_block_stop","index":%r}`, c.block)
	}
	c.block++
}

func (c *claude) assistant(block string, args ...any) {
	c.print(`{"type":"assistant","message":{"id":%q,"type":"message","role":"assistant","model":"claude-opus-5-5","content":[`+block+`],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":50},"context_management":null},"parent_tool_use_id":null,"session_id":%q,"uuid":%q,"timestamp":"2026-11-21T01:32:51.645Z","request_id":"req_0001"}`,
		append(append([]any{c.id}, args...), c.session, c.uuid())...)
}

func (c *claude) tool(id string) {
	switch c.dice.IntN(4) {
	case 0:
		c.assistant(`{"type":"tool_use","id":%q,"name":"Edit","input":{"file_path":"/home/ada/parser/main.go","old_string":%q,"new_string":%q}}`,
			id, c.piece(c.skewed(150, 0.9, 8<<10)), c.piece(c.skewed(200, 0.9, 8<<10)))
	case 1:
		c.assistant(`{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"/home/ada/parser/main.go"}}`, id)
	default:
		c.assistant(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q,"description":"run it"}}`, id, c.piece(c.skewed(60, 0.8, 4<<10)))
	}
}

// returned is a tool's result, which Claude prints twice over: as the model gets it
// and as the program has it.
func (c *claude) returned(id string) {
	output := c.piece(c.skewed(900, 1.6, 48<<10))
	c.print(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%q,"is_error":false}]},"parent_tool_use_id":null,"session_id":%q,"uuid":%q,"timestamp":"2026-11-21T01:32:51.704Z","tool_use_result":{"stdout":%q,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}`,
		id, output, c.session, c.uuid(), output)
}
