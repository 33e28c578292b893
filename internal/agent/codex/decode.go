package codex

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decode reads one line of Codex. Its log is on stderr.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	m, ok := out.Read(d.line, line, from)
	switch {
	case !ok:
	case d.once:
		d.execLine(m, out)
	default:
		d.message(m, out)
	}
}

// message reads a response, a request or a notification.
func (d *Dialect) message(m jsonscan.Value, out *agent.Decoded) {
	method, id, params := m.Get("method"), m.Get("id"), m.Get("params")
	switch {
	case !method.IsString() && !id.Exists():
		out.Add(event.AgentUnparsed{})
	case !method.IsString():
		d.response(id, m.Get("result"), m.Get("error"), out)
	case id.Exists():
		d.requested(method, id, params, out)
	default:
		d.notified(method, params, out)
	}
}

// response reads the answer to a request. One that is not awaited matters only if it is an error.
func (d *Dialect) response(id, result, failed jsonscan.Value, out *agent.Decoded) {
	switch {
	case agent.Answers(id, d.awaited.initialize):
		d.initialized(result, failed, out)
	case agent.Answers(id, d.awaited.thread):
		d.threadStarted(result, failed, out)
	case agent.Answers(id, d.awaited.turn):
		d.turnAnswered(result, failed, out)
	case agent.Answers(id, d.awaited.clean):
		d.awaited.clean = ""
		d.settled(out)
	case failed.Exists():
		d.refused(id, failed, out)
	case result.IsObject() && bytes.HasPrefix(id.Inner(), []byte("ralph-")):
		out.DropRaw = true
	default:
		out.Add(event.AgentNoticed{What: "response"})
	}
}

// refused reads an error. A steer that came too late has no delivery, and the loop puts it into the
// next prompt.
func (d *Dialect) refused(id, failed jsonscan.Value, out *agent.Decoded) {
	d.steers = slices.DeleteFunc(d.steers, func(s steer) bool { return id.Says(s.request) })
	for _, o := range d.others { // it was over already
		if agent.Answers(id, o.ending) {
			o.turn = ""
		}
	}
	d.settled(out)
	out.Notice("refused", failed.Get("message"))
}

func (d *Dialect) initialized(result, failed jsonscan.Value, out *agent.Decoded) {
	d.awaited.initialize = ""
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
	d.awaited.thread = ""
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
		d.end(event.AgentFinished{Outcome: "aborted"}, out)
		return
	}
	out.Reply = append(out.Reply, d.askTurn())
}

func (d *Dialect) turnAnswered(result, failed jsonscan.Value, out *agent.Decoded) {
	d.awaited.turn = ""
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
		out.Reply = append(out.Reply, interrupt(d.requests.Next(), d.thread, turn))
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
	outcome := event.AgentFinished{Outcome: "error", Error: why, Kind: "other"}
	if d.turn.aborting {
		outcome = event.AgentFinished{Outcome: "aborted"}
	}
	d.end(outcome, out)
}

// completed ends the turn but for what it left running.
func (d *Dialect) completed(turn jsonscan.Value, out *agent.Decoded) {
	status, failure := turn.Get("status"), turn.Get("error")
	switch string(status.Inner()) {
	case "completed":
		d.turn.outcome = d.turn.good()
	case "interrupted":
		d.turn.outcome = event.AgentFinished{Outcome: "aborted"}
	default:
		d.turn.outcome, d.turn.limited = d.account.outcome(failure, d.turn.retried)
		if d.turn.aborting {
			d.turn.outcome, d.turn.limited = event.AgentFinished{Outcome: "aborted"}, event.AgentLimited{}
		}
	}
	d.phase = settling
	d.messages.close(out, "")
	d.dismiss(out)
	d.awaited.clean = d.requests.Next()
	out.Reply = append(out.Reply, onThread(d.awaited.clean, "thread/backgroundTerminals/clean", d.thread, nil))
}

// end ends the turn with this outcome.
func (d *Dialect) end(outcome event.AgentFinished, out *agent.Decoded) {
	d.turn.outcome = outcome
	d.finish(out)
}

// finish ends the turn. A command that was ended with it may still be reported later.
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
