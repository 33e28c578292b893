package acp

import (
	"strconv"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// version is the protocol's; it changes only where the two sides could not understand each other.
const version = 1

// ask writes a request and remembers it.
func (d *Dialect) ask(r request, method string, params []byte) []byte {
	d.asked++
	r.id = d.asked
	d.waiting = append(d.waiting, r)
	line := append(make([]byte, 0, len(params)+len(method)+80), `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, r.id, 10)
	return appendMethod(line, method, params)
}

// tell writes a notification.
func (d *Dialect) tell(method string, params []byte) []byte {
	line := append(make([]byte, 0, len(params)+len(method)+80), `{"jsonrpc":"2.0"`...)
	return appendMethod(line, method, params)
}

func appendMethod(line []byte, method string, params []byte) []byte {
	line = append(append(append(line, `,"method":"`...), method...), `","params":`...)
	return append(append(line, params...), '}')
}

// initialize says that nothing is served: an agent that was offered files or terminals would have its tools wait for
// ralph, and they are the same files.
func (d *Dialect) initialize() []byte {
	params := append(make([]byte, 0, 256), `{"protocolVersion":`...)
	params = strconv.AppendInt(params, version, 10)
	params = append(params, `,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"ralph","version":"1"}}`...)
	return d.ask(request{kind: asksInitialize}, "initialize", params)
}

func (d *Dialect) newSession() []byte {
	params := append(make([]byte, 0, len(d.dir)+64), `{"cwd":`...)
	params = jsonscan.AppendString(params, d.dir)
	return d.ask(request{kind: asksSession}, "session/new", append(params, `,"mcpServers":[]}`...))
}

// writePrompt writes the prompt that was held.
func (d *Dialect) writePrompt() []byte {
	d.phase = running
	line := d.ask(request{kind: asksPrompt}, "session/prompt", d.promptParams(d.prompt))
	d.prompt = ""
	return line
}

func (d *Dialect) promptParams(text string) []byte {
	params := d.sessionParams(len(text) + len(text)/16 + 64)
	params = append(params, `,"prompt":[{"type":"text","text":`...)
	return append(jsonscan.AppendString(params, text), `}]}`...)
}

// sessionParams begins params with the session that they are about. There is room for so many bytes more, the closing brace among them.
func (d *Dialect) sessionParams(room int) []byte {
	params := make([]byte, 0, len(d.session)+room+32)
	return jsonscan.AppendString(append(params, `{"sessionId":`...), d.session)
}

// reply writes the answer to a request of the agent's; id is as the agent spelled it.
func reply(id []byte, member, value string) []byte {
	line := append(make([]byte, 0, len(id)+len(value)+48), `{"jsonrpc":"2.0","id":`...)
	line = append(append(line, id...), `,"`...)
	return append(append(append(append(line, member...), `":`...), value...), '}')
}
