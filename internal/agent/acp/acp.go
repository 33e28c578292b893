package acp

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// phase is the state of the conversation.
type phase uint8

const (
	idle      phase = iota // no turn: before the first, or after AgentFinished
	opening                // the way to a session: initialize, session/new, its options
	running                // the prompt is written
	resetting              // the way to another session
)

// Dialect is one conversation with one process. It implements [agent.Dialect].
type Dialect struct {
	profile     *profile
	dir         string
	permissions string // one of those of [agent.Spec]
	// of each session; empty if nothing has to be chosen there
	wants struct{ model, thinking string }

	phase   phase
	greeted bool   // initialize is answered
	session string // the id of the session; empty if there is none
	// the agent's own words when the session begins, if it announces them (pi-acp)
	startup string
	closes  bool  // the agent can close sessions
	asked   int64 // requests so far; numbers their ids
	waiting []request
	prompt  string // held until there is a session

	turn    turn
	message message
	tools   map[string]*tool // by their ids
	calls   agent.Calls
	cost    cost

	line *jsonscan.Document
}

// New returns the dialect for a process that has not been started yet. program is the name of the
// program, by which its profile is found; see config.Agent.Program.
func New(program string) *Dialect {
	return &Dialect{
		profile: profileOf(program), tools: map[string]*tool{},
		line: jsonscan.NewDocument(),
	}
}

var (
	_ agent.Dialect = (*Dialect)(nil)
	_ agent.Ender   = (*Dialect)(nil)
	_ agent.Namer   = (*Dialect)(nil)
)

// Session returns the id of the session, by which the agent's own means find it.
func (d *Dialect) Session() string { return d.session }

// Abilities says what the agent can do by its profile.
func (d *Dialect) Abilities() agent.Abilities {
	return agent.Abilities{Live: d.profile.busy != notTaken, Costs: d.profile.costs, Reset: true, Tools: true, Tokens: d.profile.tokens, Same: true}
}

// Open begins a turn. The first one of a process has to be greeted and needs a session.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.turn = turn{open: true}
	d.waiting = d.waiting[:0] // what was not answered by now never will be
	d.message.end(nil)
	clear(d.tools)
	d.calls.Reset()
	d.prompt = p.Text
	switch {
	case d.session != "":
		return [][]byte{d.begin()}
	case d.greeted:
		d.phase = opening
		return [][]byte{d.newSession()}
	}
	d.phase = opening
	return [][]byte{d.initialize()}
}

// Steer puts text into the running turn, if the agent can take it. What comes before the prompt is
// written waits for it.
func (d *Dialect) Steer(id, text string) (lines [][]byte, live bool) {
	if d.profile.busy == notTaken || d.turn.aborting || d.phase != opening && d.phase != running {
		return nil, false
	}
	if d.phase == opening || d.profile.busy == isAsked {
		d.turn.held = append(d.turn.held, held{id, text})
		return nil, true
	}
	return [][]byte{d.steer(id, text)}, true
}

func (d *Dialect) steer(id, text string) []byte {
	d.turn.steers = append(d.turn.steers, steer{command: id})
	if d.profile.busy == bySteering {
		return d.askPrompt(func(result, failed jsonscan.Value, out *agent.Decoded) { d.steeringAnswered(id, result, failed, out) },
			"_session/steering", text)
	}
	return d.writePrompt(id, text)
}

// Reset asks for another session in the same process, and closes the one before if the agent can.
func (d *Dialect) Reset() (lines [][]byte, same bool) {
	if d.phase != idle || d.session == "" {
		return nil, false
	}
	d.phase = resetting
	if d.closes {
		lines = append(lines, d.askSession(d.closed, "session/close", nil))
	}
	d.session = ""
	return append(lines, d.newSession()), true
}

// Abort cancels the running turn. One that has no session yet ends as soon as there is one.
func (d *Dialect) Abort() [][]byte {
	if !d.turn.open || d.turn.aborting {
		return nil
	}
	d.turn.aborting = true
	if d.phase != running {
		return nil
	}
	return [][]byte{d.cancel()}
}

// Stop cancels a running turn, so that the agent ends its tools. Without one the closed stdin is
// all that it needs.
func (d *Dialect) Stop() [][]byte { return d.Abort() }

// turn is what is known of the turn that Open began.
type turn struct {
	open      bool
	aborting  bool
	held      []held  // steers that wait for the prompt to be written, or for the agent to ask
	steers    []steer // written and not known to have reached the model
	ended     []ending
	worked    bool            // a tool was called
	spoke     bool            // something was said or thought
	counted   bool            // usage is reported bit by bit
	retries   int             // of the model's last answer
	failure   string          // the last words, if they may be an error
	proved    bool            // failure is of a request that was made again before
	asked     bool            // the model is asked, and has not answered yet
	retryText string          // words that may say that it is asked again: what comes next decides
	broken    bool            // the agent says that it gave up: what it says next is why
	stuck     event.FaultKind // the kind of fault that holds up the request that is made again
	// begun in the agent's log: its next line shows whether the request is made again
	failed event.AgentRetried
}

type held struct{ command, text string }

// steer is one that was written. passed says that a tool returned since: the model's next request
// holds it.
type steer struct {
	command string
	passed  bool
}

// An answer reads what an agent answers to a request: either the result or the error exists.
type answer func(result, failed jsonscan.Value, out *agent.Decoded)

// request is one of ours that is not answered.
type request struct {
	id     int64
	prompt bool // the turn lasts until it is answered
	answer answer
}

// prompted reports whether a prompt of this turn is not answered.
func (d *Dialect) prompted() bool {
	return slices.ContainsFunc(d.waiting, func(r request) bool { return r.prompt })
}
