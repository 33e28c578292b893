package codex

import (
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// params are the members of a notification that several have in common.
type params struct {
	all           []byte
	thread, delta []byte
	item          []byte // or the turn, in what is about one
	itemID        []byte
	index         int64 // of a part of a reasoning
}

// read takes over the members of a notification's params.
func (p *params) read(value []byte) {
	p.all = value
	fields := jsonscan.Object(value)
	for key, value, ok := fields.Next(); ok; key, value, ok = fields.Next() {
		switch string(key) {
		case "threadId":
			p.thread = value
		case "turn", "item":
			p.item = value
		case "itemId":
			p.itemID = value
		case "delta", "message":
			p.delta = value
		case "summaryIndex", "contentIndex":
			p.index = number(value)
		}
	}
}

// other is a thread that is not ours: a subagent's.
type other struct {
	parent string // the call that began it, or its own id where that is not known
	turn   string // that it is in; "" for none
	ending string // the request that interrupts it
	spent  usage
}

// othersMost bounds them against a Codex that never says the same id twice.
const othersMost = 256

// of returns whose a notification is: other is nil for our own thread, and for what is about no thread.
func (d *Dialect) of(thread []byte) (o *other, parent string) {
	if !jsonscan.IsString(thread) || jsonscan.EqualString(thread, d.thread) {
		return nil, ""
	}
	id := text(thread)
	o = d.others[id]
	if o == nil {
		if len(d.others) == othersMost {
			clear(d.others)
		}
		o = &other{parent: id}
		d.others[id] = o
	}
	return o, o.parent
}

// spawned notes which call began the threads of subagents. Codex tells it before it tells anything of them.
func (d *Dialect) spawned(call string, threads []byte) {
	list := jsonscan.Array(threads)
	for thread, ok := list.Next(); ok; thread, ok = list.Next() {
		if o, _ := d.of(thread); o != nil {
			o.parent = call
		}
	}
}

// dismiss ends what subagents still do: their answer would reach nobody, and Codex lets them go on.
func (d *Dialect) dismiss(out *agent.Decoded) {
	for _, id := range slices.Sorted(maps.Keys(d.others)) {
		if o := d.others[id]; o.turn != "" {
			o.ending = d.nextID()
			out.Reply = append(out.Reply, d.interrupt(o.ending, id, o.turn))
		}
	}
}

// settled finishes the turn once nothing of it can follow any more.
func (d *Dialect) settled(out *agent.Decoded) {
	if d.phase != settling || d.awaited.clean != "" {
		return
	}
	for _, o := range d.others {
		if o.turn != "" && o.ending != "" {
			return
		}
	}
	d.finish(out)
}

// notified knows Codex's words. What it does not know is kept as a notice.
func (d *Dialect) notified(method, value []byte, out *agent.Decoded) {
	var params params
	params.read(value)
	p := &params
	switch string(method) {
	case `"item/agentMessage/delta"`:
		d.told(speech, p, out)
	case `"item/reasoning/summaryTextDelta"`:
		d.told(summary, p, out)
	case `"item/reasoning/textDelta"`:
		d.told(thought, p, out)
	case `"item/commandExecution/outputDelta"`, `"item/fileChange/outputDelta"`, `"item/mcpToolCall/progress"`:
		d.progressed(p, out)
	case `"item/started"`:
		d.itemStarted(p, out)
	case `"item/completed"`:
		d.itemCompleted(p, out)
	case `"turn/started"`:
		d.turnStarted(p, out)
	case `"turn/completed"`:
		d.turnCompleted(p, out)
	case `"turn/plan/updated"`:
		d.planned(p, out)
	case `"thread/tokenUsage/updated"`:
		d.used(p, out)
	case `"account/rateLimits/updated"`:
		d.rateLimits(value, out)
	case `"error"`:
		d.erred(p, out)
	case `"thread/started"`:
		out.DropRaw = jsonscan.EqualString(jsonscan.Get(value, "thread", "id"), d.thread) // as the answer to thread/start
	case `"model/rerouted"`:
		d.model = text(jsonscan.Get(value, "toModel"))
		out.Add(event.AgentNoticed{What: "model/rerouted", Text: d.model})
	case `"hook/completed"`:
		run := jsonscan.Get(value, "run")
		out.Add(event.AgentNoticed{What: "hook/completed", Text: short(jsonscan.Get(run, "eventName")) + " " + short(jsonscan.Get(run, "status"))})
	case `"warning"`, `"guardianWarning"`, `"configWarning"`, `"deprecationNotice"`:
		said := p.delta
		if said == nil {
			said = jsonscan.Get(value, "summary")
		}
		out.Add(event.AgentNoticed{What: text(method), Text: short(said)})
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: cut(text(method))})
	}
}

func (d *Dialect) turnStarted(p *params, out *agent.Decoded) {
	id := jsonscan.Get(p.item, "id")
	if o, _ := d.of(p.thread); o != nil {
		o.turn = text(id)
		return
	}
	d.began(id, out)
}

func (d *Dialect) turnCompleted(p *params, out *agent.Decoded) {
	if o, parent := d.of(p.thread); o != nil {
		o.turn = ""
		d.messages.close(out, parent)
		d.settled(out)
		return
	}
	ours := d.turn.id == "" || jsonscan.EqualString(jsonscan.Get(p.item, "id"), d.turn.id)
	if ours && (d.phase == starting || d.phase == running) {
		d.completed(p.item, out)
		out.Add(event.AgentNoticed{What: "turn/completed", Text: short(jsonscan.Get(p.item, "status"))})
	}
}

// planned takes the whole list, which Codex tells anew with each change.
func (d *Dialect) planned(p *params, out *agent.Decoded) {
	if o, _ := d.of(p.thread); o != nil || !d.working() {
		return
	}
	var todos []event.Todo
	steps := jsonscan.Array(jsonscan.Get(p.all, "plan"))
	for step, ok := steps.Next(); ok; step, ok = steps.Next() {
		status := "pending"
		switch string(jsonscan.Get(step, "status")) {
		case `"inProgress"`:
			status = "active"
		case `"completed"`:
			status = "done"
		}
		todos = append(todos, event.Todo{Text: text(jsonscan.Get(step, "step")), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// erred tells what Codex tries again. What ends the turn is told again by turn/completed.
func (d *Dialect) erred(p *params, out *agent.Decoded) {
	failure := jsonscan.Get(p.all, "error")
	said := short(jsonscan.Get(failure, "message"))
	if string(jsonscan.Get(p.all, "willRetry")) != "true" || !d.working() {
		out.Add(event.AgentNoticed{What: "error", Text: said})
		return
	}
	if why := short(jsonscan.Get(failure, "additionalDetails")); why != "" {
		said = why
	}
	d.turn.retries++
	d.turn.retried = event.AgentRetried{
		Attempt: d.turn.retries, Kind: d.account.kind(jsonscan.Get(failure, "codexErrorInfo")), Text: said,
	}
	out.Add(d.turn.retried)
}
