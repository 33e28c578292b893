package codex

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// said reads one line of `codex exec --json`. Its errors are words alone: what kind they are is not known, and whether
// one was overcome shows only in what follows.
func (d *Dialect) said(m members, out *agent.Decoded) {
	kind := m.get("type")
	switch string(kind) {
	case `"thread.started"`:
		out.Add(event.AgentNoticed{What: "session", Text: short(m.get("thread_id"))})
	case `"item.started"`, `"item.updated"`, `"item.completed"`:
		d.saidItem(kind, m.get("item"), out)
	case `"turn.completed"`:
		total := readUsage(m.get("usage"))
		if grown, ok := total.less(d.spent); ok && grown != (usage{}) {
			d.spent = total
			out.Add(grown.fact(""))
		}
		d.turn.outcome = event.AgentFinished{Outcome: "ok"}
		d.finish(out)
	case `"turn.failed"`:
		d.turn.outcome = event.AgentFinished{Outcome: "error", Error: short(jsonscan.Get(m.get("error"), "message")), Kind: "other"}
		d.finish(out)
	case `"error"`:
		out.Add(event.AgentNoticed{What: "error", Text: short(m.get("message"))})
	}
	if len(out.Facts) > 0 || out.DropRaw {
		return
	}
	if !jsonscan.IsString(kind) {
		out.Add(event.AgentUnread{})
		return
	}
	out.Add(event.AgentNoticed{What: cut(text(kind))})
}

func (d *Dialect) saidItem(kind, value []byte, out *agent.Decoded) {
	var it item
	it.read(value)
	switch {
	case !d.working():
	case string(kind) == `"item.completed"`:
		d.completedItem(&it, "", out)
	case string(it.kind) == `"todo_list"`:
		d.todos(it.items, out)
	case it.name() != "":
		d.called(&it, "", out)
	}
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: cut(text(kind) + " " + text(it.kind)), Text: short(it.message)})
	}
}
