package agent

import (
	"time"

	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/journal/event"
)

// Spec says what a dialect is asked to run. It is plain data and has everything that a dialect may
// depend on.
type Spec struct {
	Command []string // the user's command, split; never empty
	// the user's flags, split; they replace a dialect's defaults where both set the same
	Flags    []string
	Model    string // its model, or ""
	Provider string // its provider, or ""
	Thinking string // its thinking, or ""
	Dir      string // absolute working directory of the agent
	LoopDir  string // absolute folder of the loop
	// a random UUID, for an agent that takes the id of its conversation; Start makes one
	Session   string
	Iteration int
	// Resume is the agent's own id of an earlier session; this process begins in a copy of it; ""
	// is a fresh one.
	Resume string
	// Of pi alone.
	SessionDir         string
	Extensions, Skills []string
	// Prompt is what Open will be given first, for a dialect whose agent takes it as an
	// argument.
	Prompt  string
	Purpose string // of that prompt; see Prompt.Purpose
	Root    bool   // ralph runs as uid 0
	// Permissions is one of those below; "" is PermitFull. What the user's flags
	// say wins.
	Permissions string
	// Hooks is ralph's program, which answers the hooks of an agent that has them; "" for none.
	Hooks string
}

// What an agent may do without being asked.
const (
	PermitFull      = "full"      // everything
	PermitWorkspace = "workspace" // change files in Spec.Dir
	PermitAsk       = "ask"       // what its own settings allow without asking
)

// Confined reports whether the agent may not do everything.
func (s Spec) Confined() bool { return s.Permissions != "" && s.Permissions != PermitFull }

// ByItsFlags is Command.May if the user's flags or options decide it.
const ByItsFlags = "what its own flags say"

// Command is what internal/ground/process starts.
type Command struct {
	Argv []string
	Env  []string // added to the agent's environment, KEY=VALUE
	Drop []string // names removed from it
	// Text says that output is free text, not lines. Decode then gets the pieces as
	// they were printed: a complete line with its newline, an unfinished one as soon
	// as it is read, and an empty piece once, when the stream has ended.
	Text bool
	// CloseStdin says that stdin ends once the lines of Open are written.
	CloseStdin bool
	// ParentDeath asks the kernel to end the agent with SIGTERM when ralph dies
	// (Linux). Agents that quit by themselves when stdin ends do not need it.
	ParentDeath bool
	// May says what the agent may do, for a person; "" if it is not known.
	May string
	// Lax says that the agent may do more than Spec.Permissions allows.
	Lax bool
	// Notice is what a person should know if ralph speaks with the agent in an unusual way.
	Notice string
}

// Ask runs a command line that should print something and end, and returns what it printed on both
// streams and its exit code. It reports false if the program could not be run, or did not end in
// time. The same question is asked for each conversation, so an Ask remembers its answers.
type Ask func(argv []string) (said string, code int, ok bool)

// NoPerson is the answer to an agent's question for a person.
const NoPerson = "No person is there to answer. Decide by yourself, and continue."

// Prompt is one iteration's prompt.
type Prompt struct {
	Text      string
	Iteration int
	Purpose   string // empty for the work of an iteration
}

// PurposeMessage is the purpose of a prompt that asks for a commit message.
const PurposeMessage = "message"

// Decoded is what one line came to. A dialect appends to the slices that it is given; all memory
// may be shared with the line, which is valid until the next Decode.
type Decoded struct {
	// Facts in the order in which they happened.
	Facts []event.Payload
	// Reply are lines to write to the agent's stdin at once, without newline.
	Reply [][]byte
	// DropRaw says that the line repeats what earlier lines held, so that only the
	// facts are kept of it.
	DropRaw bool
	// JSON says that the dialect has checked the line to be one valid JSON value, so
	// that it need not be checked again before it goes into the journal.
	JSON bool
	// Fresh says that a reset was confirmed; Stale that it was refused and the
	// process has to be replaced.
	Fresh, Stale bool
	// Own says that the agent is ready for a turn and nothing of an earlier one is left: the
	// processes that it has started by now are its own, and are not ended with what the next turn
	// leaves running.
	Own bool
	// At is when the line was read, in the machine's zone; zero if that is not known.
	At time.Time

	memory []byte // texts of the facts that had to be put together
}

// Reset clears d for another line and keeps its memory.
func (d *Decoded) Reset() {
	if len(d.Facts) > 1 {
		// the next line overwrites the first, and most lines have only one
		clear(d.Facts[1:])
	}
	d.Facts, d.Reply = d.Facts[:0], d.Reply[:0]
	d.DropRaw, d.JSON, d.Fresh, d.Stale, d.Own, d.At = false, false, false, false, false, time.Time{}
	if d.memory = d.memory[:0]; cap(d.memory) > keptMemory {
		d.memory = nil
	}
}

// Add appends a fact.
func (d *Decoded) Add(p event.Payload) { d.Facts = append(d.Facts, p) }

// Limit adds what an agent says of a fault that waiting or a person mends; nothing for any other
// kind. Where it does not state until when, its words may.
func (d *Decoded) Limit(p event.AgentLimited) {
	if !fault.Waits(p.Kind) {
		return
	}
	if p.Until == "" {
		p.Until = fault.Until(p.Text, d.At)
	}
	d.Add(p)
}

// Stream says where a line came from.
type Stream bool

// The two streams of a process.
const (
	Stdout Stream = false
	Stderr Stream = true
)

// A Dialect speaks one agent's line protocol. It does no I/O, starts no goroutine, reads no clock,
// and keeps only what one conversation needs; a new process gets a new Dialect. Its methods are
// called by one goroutine at a time.
//
// A dialect reports what happened; it never decides whether the loop continues. For each turn that
// Open starts it reports [event.AgentFinished] exactly once, when nothing of the turn can follow
// any more, or not at all if the process ends first. It never panics and never reports an error:
// what it does not understand becomes [event.AgentUnparsed].
type Dialect interface {
	// Command returns what to start. Called once, first.
	Command(Spec) (Command, error)

	// Open returns the lines that begin a turn with this prompt. Called after
	// Command for the first iteration and after a confirmed Reset for the next.
	Open(Prompt) [][]byte

	// Decode reads one line without its newline (but see Command.Text). The line may
	// be anything at all.
	Decode(line []byte, from Stream, out *Decoded)

	// Steer returns the lines that put text into the running turn. live is false if that cannot be
	// done now (no turn is running, or the protocol has no way): the text then goes into the next
	// prompt. If it is live, Decode reports [event.CommandDelivered] with this id once the model
	// has been given the text, if the protocol says so; else with the next line that shows the
	// agent alive. A text that was accepted but not delivered when the turn finishes has no such
	// event, and the loop puts it into the next prompt.
	Steer(id, text string) (lines [][]byte, live bool)

	// Reset returns the lines that ask the same process for a fresh context. same is false if the
	// agent cannot: it gets a new process. Decode then answers with Decoded.Fresh or Decoded.Stale.
	// Nothing may be sent before.
	Reset() (lines [][]byte, same bool)

	// Abort returns the lines that end the running turn and leave the process alive for Stop; none
	// if the protocol has no way.
	Abort() [][]byte

	// Stop returns the lines of the polite ending of the process, sent before
	// its stdin is closed and before signals.
	Stop() [][]byte

	// Abilities says what this protocol can do.
	Abilities() Abilities
}

// Namer is a Dialect that knows the agent's own id of the conversation, by which a person finds it
// again with the agent's own means.
type Namer interface {
	// Session returns that id, "" as long as it is not known. Where it is not known once Open was
	// called, the first lines report it.
	Session() string
}

// Ender is a Dialect that may know more than it has reported, such as usage, when the process ends.
// End reports it after the last line. No turn has to be running. code is how the process exited, -1
// after a signal.
type Ender interface {
	End(code int, out *Decoded)
}

// Abilities say what an agent's protocol can do, for doctor and for agent.started.
type Abilities struct {
	Live  bool // can be steered in mid-turn
	Costs bool // reports what it costs
	Reset bool // can get a fresh context in the same process
	Tools bool // shows the tools it uses
	Same  bool // takes another prompt in the same context
	// Tokens says that it reports the tokens that it uses.
	Tokens bool
	// ExitEnds says that the end of the process is the end of the turn: the
	// protocol has no other way to say so.
	ExitEnds bool
}

// Patience says how long the polite steps of an ending may take.
type Patience struct {
	Abort time.Duration // from Abort to AgentFinished
	Stop  time.Duration // from Stop and the closed stdin to the process's exit
	Term  time.Duration // from SIGTERM to SIGKILL
	Reset time.Duration // from Reset to its answer
	Start time.Duration // until agent.started is reported without the id of the conversation
}

// DefaultPatience is what a real agent needs: Claude Code 2.1.329 takes up to 1.3 s to clean up
// after SIGTERM, pi 1.5.2 about 30 ms. pi 1.5.2 has a fresh context in 29 ms, with extensions it
// may be more. Gemini CLI 0.61.0 and Qwen Code 0.24.4 take seconds to start, on a busy machine half
// a minute.
var DefaultPatience = Patience{Abort: 5 * time.Second, Stop: 5 * time.Second, Term: 5 * time.Second, Reset: 10 * time.Second, Start: time.Minute}
