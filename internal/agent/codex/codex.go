package codex

import (
	"bytes"
	"math"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// phase is where the conversation with an app-server stands.
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
	find func(program string) string // the native program behind a wrapper
	ask  agent.Ask                   // what the program can do; nil where nobody is to be asked

	once   bool   // this is `codex exec`: one prompt on stdin, no requests
	params []byte // of thread/start
	trusts bool   // the settings allow everything, so approvals are given

	phase   phase
	greeted bool
	prompt  string
	asked   int // requests so far; numbers their ids
	// awaited are the requests whose answers matter; 0 when none is.
	awaited struct{ initialize, thread, turn, clean int }

	thread   string // ours
	threads  int    // of this process so far
	turn     turn
	steers   []steer
	messages messages
	calls    agent.Calls
	others   map[string]*other // threads of subagents
	spent    usage             // by our thread
	account  account
	model    string

	line    *jsonscan.Document
	scratch []byte // texts that had to be joined; valid until the next Decode
}

// turn is what is known of the turn that Open began.
type turn struct {
	id       string
	aborting bool               // Abort was called
	told     bool               // its prompt was echoed
	retries  int                // in a row
	retried  event.AgentRetried // the last
	outcome  event.AgentFinished
	limited  event.AgentLimited
}

// steer is a text that was sent into the running turn and not given to the model yet.
type steer struct {
	command, text string
	request       int
}

// New returns the dialect for a process that has not been started yet. find returns the native program behind the wrapper
// that npm installs, or ""; see [Native]. nil finds none. ask is for what the program can do, which decides between app-server and exec
// where the user does not; with nil it is taken for a current one.
func New(find func(program string) string, ask agent.Ask) *Dialect {
	return &Dialect{find: find, ask: ask, line: jsonscan.NewDocument(), scratch: make([]byte, 0, usualScratch), others: map[string]*other{}}
}

var _ agent.Dialect = (*Dialect)(nil)

// Abilities says what the protocol can do. It is known once Command was called.
func (d *Dialect) Abilities() agent.Abilities {
	if d.once {
		return agent.Abilities{Tools: true, Tokens: true}
	}
	return agent.Abilities{Live: true, Reset: true, Tools: true, Tokens: true, Same: true}
}

// Session returns the id of the thread, "" as long as Codex has not told it.
func (d *Dialect) Session() string { return d.thread }

// Open begins a turn. The first one of a process begins with initialize: the thread and the prompt follow its answer.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.turn, d.steers = turn{}, nil
	d.awaited.turn, d.awaited.clean = 0, 0
	d.messages.reset()
	d.calls.Reset()
	d.prompt = p.Text
	switch {
	case d.once:
		d.phase = running
		return [][]byte{[]byte(p.Text)}
	case !d.greeted:
		d.phase = greeting
		d.awaited.initialize = d.next()
		return [][]byte{request(d.awaited.initialize, "initialize", greetings)}
	case d.thread == "":
		return [][]byte{d.askThread(opening)}
	}
	return [][]byte{d.askTurn()}
}

// Steer sends text into the running turn. What is steered before the turn has an id is held until it has one.
func (d *Dialect) Steer(id, text string) (lines [][]byte, live bool) {
	if d.once || d.turn.aborting {
		return nil, false
	}
	switch d.phase {
	case greeting, opening, starting, running:
	default:
		return nil, false
	}
	s := steer{command: id, request: d.next(), text: event.Plain(text).String()}
	d.steers = append(d.steers, s)
	if d.phase != running {
		return nil, true
	}
	return [][]byte{d.askSteer(s)}, true
}

// threadsMost is how many threads a process gets. 0.169.0 keeps those in memory that were left: 1.6 MB and their context each.
const threadsMost = 32

// Reset asks for another thread, and leaves the one before.
func (d *Dialect) Reset() (lines [][]byte, same bool) {
	if d.once || d.phase != idle || d.thread == "" || d.threads >= threadsMost {
		return nil, false
	}
	left := d.leave(d.thread)
	d.thread, d.spent, d.others = "", usage{}, map[string]*other{}
	return [][]byte{left, d.askThread(resetting)}, true
}

// Abort interrupts the running turn. Before it has an id there is nothing to interrupt yet: it is done as soon as it has one.
func (d *Dialect) Abort() [][]byte {
	if d.once || d.turn.aborting {
		return nil
	}
	switch d.phase {
	case greeting, opening, starting:
		d.turn.aborting = true
	case running:
		d.turn.aborting = true
		return [][]byte{interrupt(d.next(), d.thread, d.turn.id)}
	}
	return nil
}

// Stop interrupts a running turn. Without one the closed stdin is all that Codex needs: it ends its tools and itself.
func (d *Dialect) Stop() [][]byte { return d.Abort() }

// greetings name ralph, which ends up in Codex's user agent. The experimental methods are those that end a thread's terminals. What is
// opted out of repeats what other lines tell, some of it with each byte of a patch.
var greetings = []byte(`{"clientInfo":{"name":"ralph","title":"ralph","version":"1"},"capabilities":{"experimentalApi":true,"optOutNotificationMethods":[` +
	`"turn/diff/updated","item/fileChange/patchUpdated","item/plan/delta","item/reasoning/summaryPartAdded","thread/status/changed",` +
	`"serverRequest/resolved","remoteControl/status/changed"]}}`)

func (d *Dialect) askThread(next phase) []byte {
	d.phase = next
	d.threads++
	d.awaited.thread = d.next()
	return request(d.awaited.thread, "thread/start", d.params)
}

// promptID is the id by which Codex echoes the prompt, so that it is not taken for a steer of the same words.
const promptID = "ralph-prompt"

func (d *Dialect) askTurn() []byte {
	d.phase = starting
	d.awaited.turn = d.next()
	line := d.input(d.awaited.turn, "turn/start", "", promptID, d.prompt)
	d.prompt = ""
	return line
}

func (d *Dialect) askSteer(s steer) []byte {
	return d.input(s.request, "turn/steer", d.turn.id, s.command, s.text)
}

func (d *Dialect) input(number int, method, expected, id, text string) []byte {
	line := onThread(number, method, d.thread, len(text)+len(text)/16+256)
	if expected != "" {
		line = jsonscan.AppendString(append(line, `,"expectedTurnId":`...), expected)
	}
	line = jsonscan.AppendString(append(line, `,"clientUserMessageId":`...), id)
	line = jsonscan.AppendString(append(line, `,"input":[{"type":"text","text":`...), text)
	return append(line, `}]}}`...)
}

func interrupt(number int, thread, turn string) []byte {
	line := onThread(number, "turn/interrupt", thread, len(turn)+len(`,"turnId":""}}`))
	line = jsonscan.AppendString(append(line, `,"turnId":`...), turn)
	return append(line, `}}`...)
}

func (d *Dialect) leave(thread string) []byte {
	return append(onThread(d.next(), "thread/unsubscribe", thread, len(`}}`)), `}}`...)
}

// onThread begins a request about a thread: more of its params may follow, for which there is room, and then two braces.
func onThread(number int, method, thread string, room int) []byte {
	line := begin(number, method, len(`{"threadId":""`)+len(thread)+room)
	return jsonscan.AppendString(append(line, `{"threadId":`...), thread)
}

// ours begins the ids of ralph's requests; their numbers follow.
const ours = "ralph-"

func (d *Dialect) next() int {
	d.asked++
	return d.asked
}

// answers returns the number of the request of ours that an answer with this id is for, and -1 where it is for none.
func answers(id jsonscan.Value) int {
	digits, found := bytes.CutPrefix(id.Inner(), []byte(ours))
	number, ok := jsonscan.Int(digits)
	if !found || !ok || number <= 0 || number > math.MaxInt32 {
		return -1
	}
	return int(number)
}

func request(number int, method string, params []byte) []byte {
	return append(append(begin(number, method, len(params)+1), params...), '}')
}

// begin writes a request up to its params. They follow, for which there is room, and a brace.
func begin(number int, method string, room int) []byte {
	const digits = 20 // at the most
	line := make([]byte, 0, len(`{"id":"","method":"","params":`)+len(ours)+digits+len(method)+room)
	line = strconv.AppendInt(append(line, `{"id":"`+ours...), int64(number), 10)
	line = append(append(line, `","method":"`...), method...)
	return append(line, `","params":`...)
}
