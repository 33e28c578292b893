package agentstream

import (
	"fmt"
	"io"
)

// Pi writes size bytes or a little more of what pi 1.5.2 prints in its RPC mode, without the answer to the
// prompt. It ends with agent_settled.
func Pi(w io.Writer, corpus string, size int64) error {
	p := pi{newStream(w, corpus, size)}
	p.print(`{"type":"agent_start"}`)
	for p.left > 0 {
		p.turn()
	}
	p.print(`{"type":"agent_end","messages":[],"willRetry":false}`)
	p.print(`{"type":"agent_settled"}`)
	return p.out.Flush()
}

type pi struct{ *stream }

const piUsage = `"usage":{"input":293,"output":40,"cacheRead":292,"cacheWrite":0,"reasoning":0,"totalTokens":625,"cost":{"input":0.00029299999999999997,"output":7.999999999999999e-05,"cacheRead":2.92e-05,"cacheWrite":0,"total":0.00040219999999999996,"totalFromProvider":false}}`

// turn is one message of the assistant with one tool.
func (p *pi) turn() {
	p.message++
	call := fmt.Sprintf("call_%d_0", p.message)
	text := p.piece(p.skewed(120, 0.9, 16<<10))
	command := p.piece(p.skewed(80, 0.8, 8<<10))
	p.print(`{"type":"turn_start"}`)
	p.print(`{"type":"message_start","message":{"role":"assistant","content":[],"api":"openai-completions","provider":"fake","model":"tools",` + piUsage + `,"stopReason":"pending","timestamp":1795225332879}}`)
	p.update(`{"type":"text_start","contentIndex":0}`)
	for _, piece := range p.cuts(text) {
		p.update(`{"type":"text_delta","contentIndex":0,"delta":%q}`, piece)
	}
	p.update(`{"type":"text_end","contentIndex":0,"content":%q}`, text)
	p.update(`{"type":"toolcall_start","contentIndex":1,"id":%q,"toolName":"bash"}`, call)
	p.update(`{"type":"toolcall_end","contentIndex":1,"toolCall":{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":%q}}}`, call, command)
	message := func(open, end string, args ...any) {
		p.print(open+`{"role":"assistant","content":[{"type":"text","text":%q},{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":%q}}],"api":"openai-completions","provider":"fake","model":"tools",`+piUsage+`,"stopReason":"toolUse","timestamp":1795225332879,"responseId":"chatcmpl-1","rawStopReason":"tool_calls","durationMs":48,"thinkingLevel":"off"}`+end,
			append([]any{text, call, command}, args...)...)
	}
	message(`{"type":"message_end","message":`, `}`)
	output := p.piece(p.skewed(600, 1.6, 48<<10))
	p.print(`{"type":"tool_execution_start","toolCallId":%q,"toolName":"bash","args":{"command":%q}}`, call, command)
	p.print(`{"type":"tool_execution_update","toolCallId":%q,"toolName":"bash","args":{"command":%q},"partialResult":{"content":[{"type":"text","text":%q}],"details":{}}}`, call, command, output)
	p.print(`{"type":"tool_execution_end","toolCallId":%q,"toolName":"bash","result":{"content":[{"type":"text","text":%q}],"structuredContent":{"output":%q,"truncated":false,"exit_code":0,"wall_time_seconds":0}},"isError":false,"durationMs":14}`, call, output, output)
	const result = `{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":[{"type":"text","text":%q}],"isError":false,"durationMs":14,"timestamp":1795225332947}`
	p.print(`{"type":"message_start","message":`+result+`}`, call, output)
	p.print(`{"type":"message_end","message":`+result+`}`, call, output)
	message(`{"type":"turn_end","message":`, `,"toolResults":[`+result+`]}`, call, output)
}

func (p *pi) update(event string, args ...any) {
	p.print(`{"type":"message_update",`+piUsage+`,"assistantMessageEvent":`+event+`}`, args...)
}
