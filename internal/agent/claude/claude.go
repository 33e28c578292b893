package claude

import (
	"crypto/sha256"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// Abilities of Claude Code's stream-json protocol.
var Abilities = agent.Abilities{Live: true, Costs: true, Tools: true, Tokens: true, Same: true}

// Dialect is one conversation with one Claude Code process. It implements [agent.Dialect].
type Dialect struct {
	variant *variant  // nil for Claude Code itself
	ask     agent.Ask // what the program can do; nil: it is taken for a current one

	confined  bool   // what Claude asks about is denied
	session   string // the id of the conversation; empty if it is not known beforehand
	loop      string // seeds the uuids, with iteration and written
	iteration int
	written   int // user messages so far
	requests  agent.Requests
	unnamed   int // messages without an id so far

	sent []message // all user messages of this process, oldest first
	// echoes says that this Claude reports when it takes a message. It is known before the first
	// tool returns: the prompt is echoed with the first response at the latest.
	echoes bool

	turn     turn
	streams  streams
	spent    spending // by the process, so far
	question question
	// lastResult is the uuid of the last result. A repeated one ends nothing and counts
	// nothing.
	lastResult string
	calls      agent.Calls

	line *jsonscan.Document
}

// New returns the dialect for a process that has not been started yet. ask asks its program; a nil
// one takes it for a current one.
func New(ask agent.Ask) *Dialect {
	return &Dialect{ask: ask, line: jsonscan.NewDocument(), streams: streams{}}
}

var (
	_ agent.Dialect = (*Dialect)(nil)
	_ agent.Ender   = (*Dialect)(nil)
	_ agent.Namer   = (*Dialect)(nil)
)

// Session returns the id of the conversation, by which `claude --resume` finds it again.
func (d *Dialect) Session() string { return d.session }

// Abilities says what the protocol can do.
func (d *Dialect) Abilities() agent.Abilities {
	if d.variant != nil {
		return agent.Abilities{Tools: true, Tokens: true}
	}
	return Abilities
}

// Open begins a turn with the prompt. Nothing else has to be said first: Claude needs no
// initialize.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.iteration = p.Iteration
	uuid := d.nextUUID()
	d.turn = turn{open: true}
	d.calls.Reset()
	d.sent = append(d.sent, message{uuid: uuid, waits: true})
	if d.variant != nil && d.variant.prompt != "" {
		return nil
	}
	return [][]byte{userLine(uuid, "", p.Text)}
}

// Steer sends text into the running turn. Priority "next" goes along with the result of the tool
// that is running, or begins another turn once the text that is being written is complete; "now"
// would cut that off.
func (d *Dialect) Steer(id, text string) (lines [][]byte, live bool) {
	if !d.turn.open || d.turn.aborting || d.variant != nil {
		return nil, false
	}
	uuid := d.nextUUID()
	d.sent = append(d.sent, message{uuid: uuid, command: id, steer: true, waits: true})
	return [][]byte{userLine(uuid, "next", text)}, true
}

// Reset is not possible: each iteration gets a process of its own.
func (d *Dialect) Reset() (lines [][]byte, same bool) { return nil, false }

// Abort interrupts the running turn. Claude answers at once, kills the tools that are running and
// ends with a result; a message that still waits would begin another turn after it, which is not
// waited for.
func (d *Dialect) Abort() [][]byte {
	if !d.turn.open || d.turn.aborting || d.variant != nil {
		return nil
	}
	d.turn.aborting = true
	return [][]byte{d.request("interrupt")}
}

// Stop asks the process to end. A turn that still runs is interrupted by it, with its tools.
func (d *Dialect) Stop() [][]byte {
	if d.variant != nil {
		return nil
	}
	return [][]byte{d.request("end_session")}
}

// nextUUID returns a valid UUID (version 8) that no other message of this loop's iteration has.
// Claude drops a message whose uuid it has seen in the same session.
func (d *Dialect) nextUUID() string {
	d.written++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%d/%d", d.loop, d.iteration, d.written))
	return agent.UUID([16]byte(sum[:]), 8)
}

func (d *Dialect) request(subtype string) []byte {
	return agent.Line(object{"type": "control_request", "request_id": d.requests.Next(), "request": object{"subtype": subtype}})
}

type object = agent.Object

func userLine(uuid, priority, text string) []byte {
	message := object{"role": "user", "content": []object{{"type": "text", "text": text}}}
	line := object{"type": "user", "uuid": uuid, "message": message}
	if priority != "" {
		line["priority"] = priority
	}
	return agent.Line(line)
}
