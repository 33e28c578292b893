package codex

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	keptMembers = 256     // of a line; more are given back
	keptScratch = 1 << 20 // bytes
	noticeLimit = 2 << 10 // bytes of text in a notice or an error; the whole stands in raw
)

// members are the top level of a line.
type members []jsonscan.Member

// get returns the value of a member, nil where there is none.
func (m members) get(key string) []byte {
	for i := range m {
		if string(m[i].Key) == key {
			return m[i].Value
		}
	}
	return nil
}

// Decode reads one line of Codex. What stands on stderr is its log.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		return
	}
	index, err := jsonscan.Index(line, d.members)
	d.members = index[:0]
	if cap(index) > keptMembers {
		d.members = nil
	}
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
		d.said(index, out)
	default:
		out.JSON = true
		d.message(index, out)
	}
}

// message tells a response, a request and a notification apart.
func (d *Dialect) message(m members, out *agent.Decoded) {
	method, id := m.get("method"), m.get("id")
	switch {
	case !jsonscan.IsString(method) && id == nil:
		out.Add(event.AgentUnread{})
	case !jsonscan.IsString(method):
		d.response(id, m, out)
	case id != nil:
		d.requested(method, id, m.get("params"), out)
	default:
		d.notified(method, m.get("params"), out)
	}
}

// response reads the answer to a request. Those that nobody waits for say nothing where they are no errors.
func (d *Dialect) response(id []byte, m members, out *agent.Decoded) {
	result, failed := m.get("result"), m.get("error")
	switch {
	case is(id, d.awaited.initialize):
		d.initialized(result, failed, out)
	case is(id, d.awaited.thread):
		d.threadStarted(result, failed, out)
	case is(id, d.awaited.turn):
		d.turnAnswered(result, failed, out)
	case is(id, d.awaited.clean):
		d.awaited.clean = ""
		d.settled(out)
	case failed != nil:
		d.refused(id, failed, out)
	case jsonscan.IsObject(result) && strings.HasPrefix(text(id), "ralph-"):
		out.DropRaw = true
	default:
		out.Add(event.AgentNoticed{What: "response"})
	}
}

func is(id []byte, awaited string) bool { return awaited != "" && jsonscan.EqualString(id, awaited) }

// refused: a steer that came too late has no delivery, and the loop puts it into the next prompt.
func (d *Dialect) refused(id, failed []byte, out *agent.Decoded) {
	for i, s := range d.steers {
		if is(id, s.request) {
			d.steers = slices.Delete(d.steers, i, i+1)
			break
		}
	}
	for _, o := range d.others { // it was over already
		if is(id, o.ending) {
			o.turn = ""
		}
	}
	d.settled(out)
	out.Add(event.AgentNoticed{What: "refused", Text: short(jsonscan.Get(failed, "message"))})
}

func (d *Dialect) initialized(result, failed []byte, out *agent.Decoded) {
	d.awaited.initialize = ""
	if d.phase != greeting {
		return
	}
	if failed != nil {
		d.fails("initialize", failed, out)
		return
	}
	d.greeted = true
	out.Add(event.AgentNoticed{What: "initialize", Text: short(jsonscan.Get(result, "userAgent"))})
	out.Reply = append(out.Reply, []byte(`{"method":"initialized"}`), d.askThread(opening))
}

// threadStarted gives the turn its thread, or confirms a fresh context.
func (d *Dialect) threadStarted(result, failed []byte, out *agent.Decoded) {
	d.awaited.thread = ""
	thread := text(jsonscan.Get(result, "thread", "id"))
	switch {
	case d.phase == resetting && thread == "":
		d.phase = idle
		out.Stale = true
		out.Add(event.AgentNoticed{What: "thread/start", Text: short(jsonscan.Get(failed, "message"))})
		return
	case d.phase != resetting && d.phase != opening:
		return
	case thread == "":
		d.fails("thread/start", failed, out)
		return
	}
	d.thread, d.model = thread, text(jsonscan.Get(result, "model"))
	out.Add(event.AgentNoticed{What: "session", Text: thread})
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

func (d *Dialect) turnAnswered(result, failed []byte, out *agent.Decoded) {
	d.awaited.turn = ""
	if failed != nil && d.phase == starting {
		d.fails("turn/start", failed, out)
		return
	}
	out.DropRaw = true // turn/started says the same
	d.began(jsonscan.Get(result, "turn", "id"), out)
}

// began gives the turn its id, and sends what waited for it.
func (d *Dialect) began(id []byte, out *agent.Decoded) {
	turn := text(id)
	if d.phase != starting || turn == "" {
		return
	}
	d.phase, d.turn.id = running, turn
	if d.turn.aborting {
		out.Reply = append(out.Reply, d.interrupt(d.nextID(), d.thread, turn))
		return
	}
	for _, s := range d.steers {
		out.Reply = append(out.Reply, d.askSteer(s))
	}
}

// fails ends a turn that Codex did not even begin.
func (d *Dialect) fails(method string, failed []byte, out *agent.Decoded) {
	why := "codex app-server refused " + method
	if said := short(jsonscan.Get(failed, "message")); said != "" {
		why += ": " + said
	}
	d.turn.outcome = event.AgentFinished{Outcome: "error", Error: why, Kind: "other"}
	if d.turn.aborting {
		d.turn.outcome = event.AgentFinished{Outcome: "aborted"}
	}
	d.finish(out)
}

// completed ends the turn but for what it left running.
func (d *Dialect) completed(turn []byte, out *agent.Decoded) {
	status, failure := jsonscan.Get(turn, "status"), jsonscan.Get(turn, "error")
	switch string(status) {
	case `"completed"`:
		d.turn.outcome = event.AgentFinished{Outcome: "ok"}
	case `"interrupted"`:
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
	d.awaited.clean = d.nextID()
	out.Reply = append(out.Reply, request(d.awaited.clean, "thread/backgroundTerminals/clean", onThread(d.thread)))
}

// finish ends the turn. A command that was ended with it may still be told, behind the answer to its ending.
func (d *Dialect) finish(out *agent.Decoded) {
	if d.phase == idle || d.phase == resetting {
		return
	}
	d.calls.Lose(out, func(agent.Call) bool { return true })
	if d.turn.limited.Kind != "" {
		out.Add(d.turn.limited)
	}
	out.Add(d.turn.outcome)
	d.phase = idle
	d.turn, d.steers, d.prompt = turn{}, nil, ""
	d.messages.reset()
}

// working reports whether what a tool does is part of a turn.
func (d *Dialect) working() bool {
	return d.phase == starting || d.phase == running || d.phase == settling
}

// text returns the text of a string value, "" for anything else.
func text(value []byte) string {
	if !jsonscan.IsString(value) {
		return ""
	}
	return jsonscan.Unquote(value)
}

// short is text for a person, cut to noticeLimit.
func short(value []byte) string { return cut(text(value)) }

func cut(s string) string {
	if len(s) <= noticeLimit {
		return s
	}
	end := noticeLimit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// plain keeps a line that is no JSON as a text.
func plain(line []byte) event.Text { return jsonscan.AppendStringBytes(nil, line) }

func number(value []byte) int64 {
	n, _ := jsonscan.Int(value)
	return n
}
