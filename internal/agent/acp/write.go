package acp

import (
	"strconv"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// version is the protocol's; it changes only where the two sides could not understand each other.
const version = 1

// ends closes the params of a line, and the line.
const ends = "}}"

// ask begins a request, and remembers it. What its params hold and ends have to follow, for which there is room.
func (d *Dialect) ask(r request, method string, room int) []byte {
	d.asked++
	r.id = d.asked
	d.waiting = append(d.waiting, r)
	line := append(make([]byte, 0, len(method)+room+80), `{"jsonrpc":"2.0","id":`...)
	line = append(strconv.AppendInt(line, r.id, 10), `,"method":"`...)
	return append(append(line, method...), `","params":{`...)
}

// askSession begins a request about the session, as ask does. More members may follow.
func (d *Dialect) askSession(r request, method string, room int) []byte {
	line := d.ask(r, method, len(d.session)+room+16)
	return jsonscan.AppendString(append(line, `"sessionId":`...), d.session)
}

func (d *Dialect) askPrompt(r request, method, text string) []byte {
	line := d.askSession(r, method, len(text)+len(text)/16+64)
	line = append(line, `,"prompt":[{"type":"text","text":`...)
	return append(append(jsonscan.AppendString(line, text), `}]`...), ends...)
}

// cancel writes the one notification that ralph sends.
func (d *Dialect) cancel() []byte {
	line := []byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":`)
	return append(jsonscan.AppendString(line, d.session), ends...)
}

// initialize says that nothing is served: an agent that was offered files or terminals would have its tools wait for
// ralph, and they are the same files. Notices are taken: codex-acp 2.6.0 and claude-agent-acp 0.100.0 else put their own warnings in
// the model's place.
func (d *Dialect) initialize() []byte {
	line := append(d.ask(request{kind: asksInitialize}, "initialize", 256), `"protocolVersion":`...)
	line = strconv.AppendInt(line, version, 10)
	line = append(line, `,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"session":{"notices":{}}},"clientInfo":{"name":"ralph","version":"1"}`...)
	return append(line, ends...)
}

func (d *Dialect) newSession() []byte {
	line := append(d.ask(request{kind: asksSession}, "session/new", len(d.dir)+64), `"cwd":`...)
	line = append(jsonscan.AppendString(line, d.dir), `,"mcpServers":[]`...)
	return append(line, ends...)
}

// writePrompt writes the prompt that was held.
func (d *Dialect) writePrompt() []byte {
	d.phase = running
	line := d.askPrompt(request{kind: asksPrompt}, "session/prompt", d.prompt)
	d.prompt = ""
	return line
}

// reply writes the answer to a request of the agent's; id is as the agent spelled it.
func reply(id []byte, member, value string) []byte {
	line := append(make([]byte, 0, len(id)+len(value)+48), `{"jsonrpc":"2.0","id":`...)
	line = append(append(line, id...), `,"`...)
	return append(append(append(append(line, member...), `":`...), value...), '}')
}
