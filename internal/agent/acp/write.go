package acp

import (
	"encoding/json"
	"maps"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// version is that of the protocol; it changes only if the two sides could not understand each
// other.
const version = 1

type object = agent.Object

// ask writes a request, and remembers how its answer is read.
func (d *Dialect) ask(r request, method string, params object) []byte {
	d.asked++
	r.id = d.asked
	d.waiting = append(d.waiting, r)
	return agent.Line(object{"jsonrpc": "2.0", "id": r.id, "method": method, "params": params})
}

// askSession writes a request about the session, with further params.
func (d *Dialect) askSession(read answer, method string, params object) []byte {
	all := object{"sessionId": d.session}
	maps.Copy(all, params)
	return d.ask(request{answer: read}, method, all)
}

func (d *Dialect) askPrompt(read answer, method, text string) []byte {
	prompt := object{"sessionId": d.session, "prompt": []object{{"type": "text", "text": text}}}
	return d.ask(request{prompt: true, answer: read}, method, prompt)
}

// cancel writes the one notification that ralph sends.
func (d *Dialect) cancel() []byte {
	return agent.Line(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": d.session}})
}

// initialize offers neither files nor terminals: the agent's tools would wait for ralph, and they
// are the same files. It takes notices, or codex-acp 2.6.0 and claude-agent-acp 0.100.0 would
// report their own warnings as words of the model.
func (d *Dialect) initialize() []byte {
	return d.ask(request{answer: d.initialized}, "initialize", object{
		"protocolVersion": version,
		"clientCapabilities": object{
			"fs":       object{"readTextFile": false, "writeTextFile": false},
			"terminal": false, "session": object{"notices": object{}},
		},
		"clientInfo": object{"name": "ralph", "version": "1"},
	})
}

func (d *Dialect) newSession() []byte {
	return d.ask(request{answer: d.entered}, "session/new", object{"cwd": d.dir, "mcpServers": []object{}})
}

// begin writes the prompt that was held.
func (d *Dialect) begin() []byte {
	d.phase = running
	line := d.writePrompt("", d.prompt)
	d.prompt = ""
	return line
}

// writePrompt writes a prompt: the turn's, or that of a command.
func (d *Dialect) writePrompt(command, text string) []byte {
	return d.askPrompt(func(result, failed jsonscan.Value, out *agent.Decoded) {
		d.promptAnswered(command, result, failed, out)
	},
		"session/prompt", text)
}

// reply writes the answer to a request of the agent's: its member is result or error.
func reply(id jsonscan.Value, member string, value object) []byte {
	return agent.Line(object{"jsonrpc": "2.0", "id": json.RawMessage(id.Raw()), member: value})
}
