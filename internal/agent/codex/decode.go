package codex

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Bytes of scratch memory.
const (
	usualScratch = 1 << 10
	keptScratch  = 1 << 20
)

// Decode reads one line of Codex. What stands on stderr is its log.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		return
	}
	m, err := d.line.Read(line)
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
	switch {
	case err != nil && len(bytes.TrimSpace(line)) > 0:
		out.Add(event.AgentUnread{Line: plain(line)})
	case err != nil:
		out.DropRaw = true
	case d.once:
		out.JSON = true
		d.said(m, out)
	default:
		out.JSON = true
		d.message(m, out)
	}
}

// frame are the members of a line of the app-server.
type frame struct{ method, id, params, result, failed jsonscan.Value }

// read takes over the members of a line.
func (f *frame) read(line jsonscan.Value) {
	for key, value := range line.Members() {
		switch string(key) {
		case "method":
			f.method = value
		case "id":
			f.id = value
		case "params":
			f.params = value
		case "result":
			f.result = value
		case "error":
			f.failed = value
		}
	}
}

// message tells a response, a request and a notification apart.
func (d *Dialect) message(line jsonscan.Value, out *agent.Decoded) {
	var f frame
	f.read(line)
	switch {
	case !f.method.IsString() && !f.id.Exists():
		out.Add(event.AgentUnread{})
	case !f.method.IsString():
		d.response(answers(f.id), f.result, f.failed, out)
	case f.id.Exists():
		d.requested(f.method, f.id, f.params, out)
	default:
		d.notified(f.method, f.params, out)
	}
}

// response reads the answer to a request. Those that nobody waits for say nothing where they are no errors.
func (d *Dialect) response(number int, result, failed jsonscan.Value, out *agent.Decoded) {
	switch {
	case number == d.awaited.initialize:
		d.initialized(result, failed, out)
	case number == d.awaited.thread:
		d.threadStarted(result, failed, out)
	case number == d.awaited.turn:
		d.turnAnswered(result, failed, out)
	case number == d.awaited.clean:
		d.awaited.clean = 0
		d.settled(out)
	case failed.Exists():
		d.refused(number, failed, out)
	case result.IsObject() && number > 0:
		out.DropRaw = true
	default:
		out.Add(event.AgentNoticed{What: "response"})
	}
}

// refused: a steer that came too late has no delivery, and the loop puts it into the next prompt.
func (d *Dialect) refused(number int, failed jsonscan.Value, out *agent.Decoded) {
	for i, s := range d.steers {
		if s.request == number {
			d.steers = slices.Delete(d.steers, i, i+1)
			break
		}
	}
	for _, o := range d.others { // it was over already
		if o.ending == number {
			o.turn = ""
		}
	}
	d.settled(out)
	out.Notice("refused", failed.Get("message"))
}

func (d *Dialect) initialized(result, failed jsonscan.Value, out *agent.Decoded) {
	d.awaited.initialize = 0
	if d.phase != greeting {
		return
	}
	if failed.Exists() {
		d.fails("initialize", failed, out)
		return
	}
	d.greeted = true
	out.Notice("initialize", result.Get("userAgent"))
	out.Reply = append(out.Reply, []byte(`{"method":"initialized"}`), d.askThread(opening))
}

// threadStarted gives the turn its thread, or confirms a fresh context.
func (d *Dialect) threadStarted(result, failed jsonscan.Value, out *agent.Decoded) {
	d.awaited.thread = 0
	thread := result.Get("thread", "id").Text()
	switch {
	case d.phase == resetting && thread == "":
		d.phase = idle
		out.Stale = true
		out.Notice("thread/start", failed.Get("message"))
		return
	case d.phase != resetting && d.phase != opening:
		return
	case thread == "":
		d.fails("thread/start", failed, out)
		return
	}
	d.thread, d.model = thread, result.Get("model").Text()
	out.Add(event.AgentNoticed{What: "session", Text: thread})
	out.Own = true // npm's launcher, or a version manager's, has the program as a child
	if d.phase == resetting {
		d.phase = idle
		out.Fresh = true
		return
	}
	if d.turn.aborting {
		d.turn.outcome = event.AgentFinished{Outcome: "aborted"}
		d.finish(out)
		return
	}
	out.Reply = append(out.Reply, d.askTurn())
}

func (d *Dialect) turnAnswered(result, failed jsonscan.Value, out *agent.Decoded) {
	d.awaited.turn = 0
	if failed.Exists() && d.phase == starting {
		d.fails("turn/start", failed, out)
		return
	}
	out.DropRaw = true // turn/started says the same
	d.began(result.Get("turn", "id"), out)
}

// began gives the turn its id, and sends what waited for it.
func (d *Dialect) began(id jsonscan.Value, out *agent.Decoded) {
	if d.phase != starting || len(id.Inner()) == 0 {
		return
	}
	turn := id.Text()
	d.phase, d.turn.id = running, turn
	if d.turn.aborting {
		out.Reply = append(out.Reply, interrupt(d.next(), d.thread, turn))
		return
	}
	for _, s := range d.steers {
		out.Reply = append(out.Reply, d.askSteer(s))
	}
}

// fails ends a turn that Codex did not even begin.
func (d *Dialect) fails(method string, failed jsonscan.Value, out *agent.Decoded) {
	why := "codex app-server refused " + method
	if said := agent.Brief(failed.Get("message")); said != "" {
		why += ": " + said
	}
	d.turn.outcome = event.AgentFinished{Outcome: "error", Error: why, Kind: "other"}
	if d.turn.aborting {
		d.turn.outcome = event.AgentFinished{Outcome: "aborted"}
	}
	d.finish(out)
}

// completed ends the turn but for what it left running.
func (d *Dialect) completed(turn jsonscan.Value, out *agent.Decoded) {
	status, failure := turn.Get("status"), turn.Get("error")
	switch string(status.Inner()) {
	case "completed":
		d.turn.outcome = event.AgentFinished{Outcome: "ok"}
	case "interrupted":
		d.turn.outcome = event.AgentFinished{Outcome: "aborted"}
	default:
		d.turn.outcome, d.turn.limited = d.account.judge(failure, d.turn.retried)
		if d.turn.aborting {
			d.turn.outcome, d.turn.limited = event.AgentFinished{Outcome: "aborted"}, event.AgentLimited{}
		}
	}
	d.phase = settling
	d.messages.close(out, "")
	d.dismiss(out)
	d.awaited.clean = d.next()
	clean := onThread(d.awaited.clean, "thread/backgroundTerminals/clean", d.thread, len(`}}`))
	out.Reply = append(out.Reply, append(clean, `}}`...))
}

// finish ends the turn. A command that was ended with it may still be told, behind the answer to its ending.
func (d *Dialect) finish(out *agent.Decoded) {
	if d.phase == idle || d.phase == resetting {
		return
	}
	d.calls.Lose(out, func(agent.Call) bool { return true })
	out.Limit(d.turn.limited)
	out.Add(d.turn.outcome)
	d.phase = idle
	d.turn, d.steers, d.prompt = turn{}, nil, ""
	d.messages.reset()
}

// working reports whether what a tool does is part of a turn.
func (d *Dialect) working() bool {
	return d.phase == starting || d.phase == running || d.phase == settling
}

// plain keeps a line that is no JSON as a text.
func plain(line []byte) event.Text { return jsonscan.AppendStringBytes(nil, line) }

func number(value jsonscan.Value) int64 {
	n, _ := value.Int()
	return n
}
