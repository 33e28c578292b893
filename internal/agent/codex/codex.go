package codex

import (
	"maps"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// phase is the state of the conversation with an app-server.
type phase uint8

const (
	idle      phase = iota // no turn: before the first, or after AgentFinished
	greeting               // initialize is asked, the prompt is held
	opening                // thread/start is asked, the prompt is held
	starting               // turn/start is asked
	running                // the turn's id is known
	settling               // turn/completed came, its terminals are being ended
	resetting              // thread/start is asked between two turns
)

// Dialect is one conversation with one Codex process. It implements [agent.Dialect].
type Dialect struct {
	find func(program string) string // the native program that a wrapper starts
	ask  agent.Ask                   // what the program can do; nil if that is not to be asked

	once   bool   // this is `codex exec`: one prompt on stdin, no requests
	params object // of thread/start
	trusts bool   // the settings allow everything, so approvals are given

	phase    phase
	greeted  bool
	prompt   string
	requests agent.Requests
	// awaited are the requests whose answers matter; "" when none is.
	awaited struct{ initialize, thread, turn, clean string }

	thread   string // ours
	threads  int    // of this process so far
	turn     turn
	steers   []steer
	messages messages
	calls    agent.Calls
	others   map[string]*other // threads of subagents
	spent    agent.Usage       // by our thread
	account  account
	model    string

	line *jsonscan.Document
}

// turn is what is known of the turn that Open began.
type turn struct {
	id       string
	aborting bool               // Abort was called
	echoed   bool               // its prompt was echoed
	refusal  string             // what the last message says that refuses
	retries  int                // in a row
	retried  event.AgentRetried // the last
	outcome  event.AgentFinished
	limited  event.AgentLimited
}

// steer is a text that was sent into the running turn and not given to the model yet.
type steer struct {
	command, text string
	request       string
}

// New returns the dialect for a process that has not been started yet. find returns the native
// program that the wrapper of npm starts, or ""; see [Native]. nil finds none. ask finds out what
// the program can do, which decides between app-server and exec if the user does not; without it
// the program is taken for a current one.
func New(find func(program string) string, ask agent.Ask) *Dialect {
	return &Dialect{find: find, ask: ask, line: jsonscan.NewDocument(), others: map[string]*other{}}
}

var _ agent.Dialect = (*Dialect)(nil)

// Abilities says what the protocol can do. It is known once Command was called.
func (d *Dialect) Abilities() agent.Abilities {
	if d.once {
		return agent.Abilities{Tools: true, Tokens: true}
	}
	return agent.Abilities{Live: true, Reset: true, Tools: true, Tokens: true, Same: true}
}

// Session returns the id of the thread, "" as long as Codex has not reported it.
func (d *Dialect) Session() string { return d.thread }

// Open begins a turn. The first one of a process begins with initialize: the thread and the prompt
// follow its answer.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.turn, d.steers = turn{}, nil
	d.awaited.turn, d.awaited.clean = "", ""
	d.messages.reset()
	d.calls.Reset()
	d.prompt = p.Text
	switch {
	case d.once:
		d.phase = running
		return [][]byte{[]byte(p.Text)}
	case !d.greeted:
		d.phase = greeting
		d.awaited.initialize = d.requests.Next()
		return [][]byte{request(d.awaited.initialize, "initialize", greetings)}
	case d.thread == "":
		return [][]byte{d.askThread(opening)}
	}
	return [][]byte{d.askTurn()}
}

// Steer sends text into the running turn. What is steered before the turn has an id is held until
// it has one.
func (d *Dialect) Steer(id, text string) (lines [][]byte, live bool) {
	if d.once || d.turn.aborting {
		return nil, false
	}
	switch d.phase {
	case greeting, opening, starting, running:
	default:
		return nil, false
	}
	s := steer{command: id, request: d.requests.Next(), text: event.Plain(text).String()}
	d.steers = append(d.steers, s)
	if d.phase != running {
		return nil, true
	}
	return [][]byte{d.askSteer(s)}, true
}

// threadsMost is how many threads a process gets. 0.169.0 keeps the earlier ones in memory: 1.6 MB
// and their context each.
const threadsMost = 32

// Reset asks for another thread, and leaves the one before.
func (d *Dialect) Reset() (lines [][]byte, same bool) {
	if d.once || d.phase != idle || d.thread == "" || d.threads >= threadsMost {
		return nil, false
	}
	left := onThread(d.requests.Next(), "thread/unsubscribe", d.thread, nil)
	d.thread, d.spent, d.others = "", agent.Usage{}, map[string]*other{}
	return [][]byte{left, d.askThread(resetting)}, true
}

// Abort interrupts the running turn. Before it has an id there is nothing to interrupt yet: it is
// done as soon as it has one.
func (d *Dialect) Abort() [][]byte {
	if d.once || d.turn.aborting {
		return nil
	}
	switch d.phase {
	case greeting, opening, starting:
		d.turn.aborting = true
	case running:
		d.turn.aborting = true
		return [][]byte{interrupt(d.requests.Next(), d.thread, d.turn.id)}
	}
	return nil
}

// Stop interrupts a running turn. Without one the closed stdin is all that Codex needs: it ends its
// tools and itself.
func (d *Dialect) Stop() [][]byte { return d.Abort() }

type object = agent.Object

// greetings name ralph, which becomes a part of Codex's user agent. The experimental methods are
// those that end a thread's terminals. The notifications that are opted out of repeat other lines.
var greetings = object{
	"clientInfo": object{"name": "ralph", "title": "ralph", "version": "1"},
	"capabilities": object{"experimentalApi": true, "optOutNotificationMethods": []string{
		"turn/diff/updated", "item/fileChange/patchUpdated", "item/plan/delta", "item/reasoning/summaryPartAdded",
		"thread/status/changed", "serverRequest/resolved", "remoteControl/status/changed",
	}},
}

func (d *Dialect) askThread(next phase) []byte {
	d.phase = next
	d.threads++
	d.awaited.thread = d.requests.Next()
	return request(d.awaited.thread, "thread/start", d.params)
}

// promptID is the id by which Codex echoes the prompt, so that it is not taken for a steer of the
// same words.
const promptID = "ralph-prompt"

func (d *Dialect) askTurn() []byte {
	d.phase = starting
	d.awaited.turn = d.requests.Next()
	line := d.input(d.awaited.turn, "turn/start", "", promptID, d.prompt)
	d.prompt = ""
	return line
}

func (d *Dialect) askSteer(s steer) []byte {
	return d.input(s.request, "turn/steer", d.turn.id, s.command, s.text)
}

func (d *Dialect) input(id, method, expected, message, text string) []byte {
	params := object{"clientUserMessageId": message, "input": []object{{"type": "text", "text": text}}}
	if expected != "" {
		params["expectedTurnId"] = expected
	}
	return onThread(id, method, d.thread, params)
}

func interrupt(id, thread, turn string) []byte {
	return onThread(id, "turn/interrupt", thread, object{"turnId": turn})
}

// onThread returns a request about a thread, with further params.
func onThread(id, method, thread string, params object) []byte {
	all := object{"threadId": thread}
	maps.Copy(all, params)
	return request(id, method, all)
}

func request(id, method string, params object) []byte {
	return agent.Line(object{"id": id, "method": method, "params": params})
}
