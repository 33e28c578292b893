package pi

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Abilities says what pi's RPC protocol can do.
func (d *Dialect) Abilities() agent.Abilities {
	return agent.Abilities{Live: true, Costs: true, Reset: !d.forked, Tools: true, Tokens: true, Same: true}
}

// phase is the state of the conversation.
type phase uint8

const (
	idle      phase = iota // no turn: before the first, or after AgentFinished
	greeting               // get_state is asked, the prompt is held until its answer
	prompted               // the prompt is written and not yet accepted
	running                // the agent works
	settling               // agent_settled came, the queue is being cleared
	resetting              // new_session is asked
)

// Dialect is one conversation with one pi process. It implements [agent.Dialect].
type Dialect struct {
	phase   phase
	greeted bool // this process has answered get_state
	// it began in a copy of an earlier session; whether the copy counts is not known before the
	// iteration's end
	forked   bool
	session  string // pi's id of the conversation, by the last such answer
	prompt   string
	requests agent.Requests

	// The ids of the requests whose answers matter; "" when none is awaited.
	stateID, promptID, clearID, resetID, probeID string

	turn    turn
	message message
	tools   map[string]*tool
	calls   agent.Calls
	steers  steers
	version version

	model string // of the last usage, so that it is not copied for each message
	line  *jsonscan.Document
}

// New returns the dialect for a process that has not been started yet.
func New() *Dialect { return &Dialect{line: jsonscan.NewDocument(), tools: map[string]*tool{}} }

var _ agent.Dialect = (*Dialect)(nil)

// Session returns pi's id of the conversation, "" as long as pi has not reported it.
func (d *Dialect) Session() string { return d.session }

// Open begins a turn. The first one of a process begins with get_state, because pi has no event
// that says it is ready: a pi that cannot start thus exits before it is given a
// prompt, and a long prompt is not pushed into a pipe that is not read yet.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.turn = turn{}
	d.steers = steers{}
	d.clearID, d.probeID, d.resetID = "", "", ""
	d.message.close()
	clear(d.tools)
	d.calls.Reset()
	d.prompt = p.Text
	if d.greeted {
		return [][]byte{d.askPrompt()}
	}
	d.phase = greeting
	d.stateID = d.requests.Next()
	return [][]byte{request(d.stateID, "get_state")}
}

func (d *Dialect) askPrompt() []byte {
	d.phase = prompted
	d.promptID = d.requests.Next()
	line := requestWithText(d.promptID, "prompt", d.prompt)
	d.prompt = ""
	return line
}

// Steer queues text for the running turn. pi gives it to the model after the tools of the current
// message. What is steered before pi has accepted the prompt is held until it has: a steer that
// overtakes the prompt would wait in the queue of a turn that may never begin.
func (d *Dialect) Steer(id, text string) (lines [][]byte, live bool) {
	if d.turn.aborting {
		return nil, false
	}
	switch d.phase {
	case greeting, prompted, running:
	default:
		return nil, false
	}
	s := &steer{command: id, request: d.requests.Next(), text: event.Plain(text).String()}
	line := requestWithText(s.request, "steer", text)
	d.steers.pending = append(d.steers.pending, s)
	if d.phase != running {
		d.steers.held = append(d.steers.held, line)
		return nil, true
	}
	return [][]byte{line}, true
}

// Reset asks for a new session. It is refused while a turn runs.
func (d *Dialect) Reset() (lines [][]byte, same bool) {
	if d.phase != idle || !d.greeted || d.forked {
		return nil, false
	}
	d.phase = resetting
	d.resetID = d.requests.Next()
	return [][]byte{request(d.resetID, "new_session")}, true
}

// Abort ends the running turn. The queue is cleared first: its entries would stay there. pi answers
// an abort with success even if nothing runs, so one from before agent_start is sent again after
// it; before pi has answered get_state the prompt is not sent at all.
func (d *Dialect) Abort() [][]byte {
	if d.turn.aborting {
		return nil
	}
	switch d.phase {
	case greeting, prompted:
		d.turn.aborting = true
		d.steers.held = nil
		return nil
	case running:
		d.turn.aborting = true
		return d.abortLines()
	}
	return nil
}

func (d *Dialect) abortLines() [][]byte {
	return [][]byte{request(d.requests.Next(), "clear_queue"), request(d.requests.Next(), "abort")}
}

// Stop aborts a running turn, so that pi ends its tools. Without one the closed
// stdin is all that pi needs.
func (d *Dialect) Stop() [][]byte { return d.Abort() }

type ask struct {
	ID      string  `json:"id"`
	Type    string  `json:"type"`
	Message *string `json:"message,omitempty"`
}

func request(id, command string) []byte { return agent.Line(ask{ID: id, Type: command}) }

func requestWithText(id, command, text string) []byte { return agent.Line(ask{id, command, &text}) }
