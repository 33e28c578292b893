package codex

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// said reads one line of `codex exec --json`. Its errors are words alone.
func (d *Dialect) said(m jsonscan.Value, out *agent.Decoded) {
	kind := m.Get("type")
	switch string(kind.Inner()) {
	case "thread.started":
		d.thread = m.Get("thread_id").Text()
		out.Notice("session", m.Get("thread_id"))
	case "item.started", "item.updated", "item.completed":
		d.turn.retries = 0
		d.saidItem(kind, m.Get("item"), out)
	case "turn.completed":
		total := readUsage(m.Get("usage"))
		if grown, ok := total.less(d.spent); ok && grown != (usage{}) {
			d.spent = total
			out.Add(grown.fact(""))
		}
		d.turn.outcome = event.AgentFinished{Outcome: "ok"}
		d.finish(out)
	case "turn.failed":
		why := agent.Brief(m.Get("error").Get("message"))
		d.turn.outcome, d.turn.limited = ended(kindOf(readFault(why)), why, "")
		d.finish(out)
	case "error":
		d.saidError(m.Get("message"), out)
	}
	if len(out.Facts) > 0 || out.DropRaw {
		return
	}
	if !kind.IsString() {
		out.Add(event.AgentUnread{})
		return
	}
	out.Add(event.AgentNoticed{What: out.Name("", kind)})
}

// saidError reads an error that did not end the turn, or not yet: what ends it is told again by turn.failed.
func (d *Dialect) saidError(message jsonscan.Value, out *agent.Decoded) {
	why, ok := strings.CutPrefix(agent.Brief(message), "Reconnecting... ")
	if !ok || !d.working() {
		out.Notice("error", message)
		return
	}
	if _, cause, ok := strings.Cut(why, " ("); ok {
		why = strings.TrimSuffix(cause, ")")
	}
	d.again(kindOf(readFault(why)), why, out)
}

func (d *Dialect) saidItem(kind, value jsonscan.Value, out *agent.Decoded) {
	var it item
	it.read(value)
	switch {
	case !d.working():
	case kind.Is("item.completed"):
		d.completedItem(&it, "", out)
	case it.kind.Is("todo_list"):
		d.todos(it.items, out)
	case it.name() != "":
		d.called(&it, "", out)
	}
	if len(out.Facts) == 0 {
		out.Notice(agent.Cut(kind.Text()+" "+it.kind.Text()), it.message)
	}
}
