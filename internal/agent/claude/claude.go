package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// Abilities of Claude Code's stream-json protocol.
var Abilities = agent.Abilities{Live: true, Costs: true, Tools: true, Tokens: true, Same: true}

// Dialect is one conversation with one Claude Code process. It implements [agent.Dialect].
type Dialect struct {
	variant *variant  // nil for Claude Code itself
	ask     agent.Ask // what the program can do; nil where it is taken for a current one

	confined  bool   // what Claude asks about is denied
	session   string // the id of the conversation; empty where it is not known beforehand
	loop      string // seeds the uuids, with iteration and written
	iteration int
	written   int // user messages so far
	requested int // control requests so far
	unnamed   int // messages without an id so far

	sent []message // all user messages of this process, oldest first
	// echoes says that this Claude tells when it takes a message. It is known before the first tool returns: the
	// prompt is echoed with the first response at the latest.
	echoes bool

	turn    turn
	streams streams
	spent   spending // by the whole process, so far
	// lastResult is the uuid of the last result. One that is told again ends nothing and counts nothing.
	lastResult string
	calls      agent.Calls

	line    *jsonscan.Document
	scratch []byte // texts that had to be joined; valid until the next Decode
}

// New returns the dialect for a process that has not been started yet. ask asks its program; a nil one asks nobody and takes it for
// a current one.
func New(ask agent.Ask) *Dialect { return &Dialect{ask: ask, line: jsonscan.NewDocument()} }

var (
	_ agent.Dialect = (*Dialect)(nil)
	_ agent.Ender   = (*Dialect)(nil)
	_ agent.Namer   = (*Dialect)(nil)
)

// Session returns the id of the conversation, by which `claude --resume` goes on with it.
func (d *Dialect) Session() string { return d.session }

// Abilities says what the protocol can do.
func (d *Dialect) Abilities() agent.Abilities {
	if d.variant != nil {
		return agent.Abilities{Tools: true, Tokens: true}
	}
	return Abilities
}

// Open begins a turn with the prompt. Nothing else has to be said first: Claude needs no initialize.
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

// Steer sends text into the running turn. Priority "next" goes along with the result of the tool that is
// running, or begins another turn once the text that is being written is complete; "now" would cut that off.
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

// Abort interrupts the running turn. Claude answers at once, kills the tools that are running and ends with a result; a message that
// still waits would begin another turn after it, which nobody waits for.
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

// nextUUID returns a valid UUID (version 8) that no other message of this loop's iteration has. Claude drops a message whose
// uuid it has seen in the same session.
func (d *Dialect) nextUUID() string {
	d.written++
	seed := strconv.AppendInt([]byte(d.loop), int64(d.iteration), 10)
	sum := sha256.Sum256(strconv.AppendInt(append(seed, '/'), int64(d.written), 10))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	text := hex.EncodeToString(id)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func (d *Dialect) request(subtype string) []byte {
	d.requested++
	line := append([]byte(nil), `{"type":"control_request","request_id":"ralph-`...)
	line = strconv.AppendInt(line, int64(d.requested), 10)
	line = append(line, `","request":{"subtype":"`...)
	line = append(line, subtype...)
	return append(line, `"}}`...)
}

func userLine(uuid, priority, text string) []byte {
	line := make([]byte, 0, len(text)+len(text)/16+192)
	line = append(line, `{"type":"user","uuid":"`...)
	line = append(line, uuid...)
	if priority != "" {
		line = append(line, `","priority":"`...)
		line = append(line, priority...)
	}
	line = append(line, `","message":{"role":"user","content":[{"type":"text","text":`...)
	line = jsonscan.AppendString(line, text)
	return append(line, `}]}}`...)
}
