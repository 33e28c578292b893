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
	line := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, r.id, 10)
	return appendMethod(line, method, params)
}

// tell writes a notification.
func (d *Dialect) tell(method string, params []byte) []byte {
	return appendMethod([]byte(`{"jsonrpc":"2.0"`), method, params)
}

func appendMethod(line []byte, method string, params []byte) []byte {
	line = append(append(append(line, `,"method":"`...), method...), `","params":`...)
	return append(append(line, params...), '}')
}

// initialize says that nothing is served: an agent that was offered files or terminals would have its tools wait for
// ralph, and they are the same files.
func (d *Dialect) initialize() []byte {
	params := append([]byte(nil), `{"protocolVersion":`...)
	params = strconv.AppendInt(params, version, 10)
	params = append(params, `,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"ralph","version":"1"}}`...)
	return d.ask(request{kind: asksInitialize}, "initialize", params)
}

func (d *Dialect) newSession() []byte {
	params := jsonscan.AppendString([]byte(`{"cwd":`), d.dir)
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
	more := jsonscan.AppendString([]byte(`,"prompt":[{"type":"text","text":`), text)
	return d.sessionParams(string(append(more, `}]`...)))
}

// sessionParams begins with the session that they are about; more are its further members.
func (d *Dialect) sessionParams(more string) []byte {
	params := jsonscan.AppendString([]byte(`{"sessionId":`), d.session)
	return append(append(params, more...), '}')
}

// reply writes the answer to a request of the agent's; id is as the agent spelled it.
func reply(id []byte, member, value string) []byte {
	line := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	line = append(append(line, id...), `,"`...)
	return append(append(append(append(line, member...), `":`...), value...), '}')
}
