package codex

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// execLine reads one line of `codex exec --json`. Its errors are words alone.
func (d *Dialect) execLine(m jsonscan.Value, out *agent.Decoded) {
	kind := m.Get("type")
	switch string(kind.Inner()) {
	case "thread.started":
		d.thread = m.Get("thread_id").Text()
		out.Notice("session", m.Get("thread_id"))
	case "item.started", "item.updated", "item.completed":
		d.turn.retries = 0
		d.execItem(kind, m.Get("item"), out)
	case "turn.completed":
		total := agent.ReadUsage(m.Get("usage"))
		if more, ok := grown(total, d.spent); ok && more.Tokens() > 0 {
			d.spent = total
			out.Add(factOf(more, ""))
		}
		d.end(d.turn.good(), out)
	case "turn.failed":
		why := agent.Brief(m.Get("error").Get("message"))
		d.turn.outcome, d.turn.limited = ended(kindOf(readFault(why)), why, "")
		d.finish(out)
	case "error":
		d.execError(m.Get("message"), out)
	}
	if len(out.Facts) > 0 || out.DropRaw {
		return
	}
	if !kind.IsString() {
		out.Add(event.AgentUnparsed{})
		return
	}
	out.Add(event.AgentNoticed{What: out.Name("", kind)})
}

// execError reads an error that did not end the turn, or not yet: what ends it is repeated by
// turn.failed.
func (d *Dialect) execError(message jsonscan.Value, out *agent.Decoded) {
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

func (d *Dialect) execItem(kind, value jsonscan.Value, out *agent.Decoded) {
	it := itemOf(value)
	switch {
	case !d.working():
	case kind.Is("item.completed"):
		d.completedItem(it, "", out)
	case it.kind.Is("todo_list"):
		out.Plan(it.get("items"), "text")
	case it.name() != "":
		d.called(it, "", out)
	}
	if len(out.Facts) == 0 {
		out.Notice(agent.Cut(kind.Text()+" "+it.kind.Text()), it.get("message"))
	}
}
