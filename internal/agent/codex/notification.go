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
	all           jsonscan.Value
	thread, delta jsonscan.Value
	item          jsonscan.Value // or the turn, in what is about one
	itemID        jsonscan.Value
	index         int64 // of a part of a reasoning
}

// read takes over the members of a notification's params.
func (p *params) read(value jsonscan.Value) {
	p.all = value
	for key, value := range value.Members() {
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
	ending int    // the request that interrupts it
	spent  usage
}

// othersMost bounds them against a Codex that never says the same id twice.
const othersMost = 256

// of returns whose a notification is: other is nil for our own thread, and for what is about no thread.
func (d *Dialect) of(thread jsonscan.Value) (o *other, parent string) {
	if !thread.IsString() || thread.Says(d.thread) {
		return nil, ""
	}
	id := thread.Text()
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
func (d *Dialect) spawned(call string, threads jsonscan.Value) {
	for thread := range threads.Items() {
		if o, _ := d.of(thread); o != nil {
			o.parent = call
		}
	}
}

// dismiss ends what subagents still do: their answer would reach nobody, and Codex lets them go on.
func (d *Dialect) dismiss(out *agent.Decoded) {
	if len(d.others) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(d.others)) {
		if o := d.others[id]; o.turn != "" {
			o.ending = d.next()
			out.Reply = append(out.Reply, interrupt(o.ending, id, o.turn))
		}
	}
}

// settled finishes the turn once nothing of it can follow any more.
func (d *Dialect) settled(out *agent.Decoded) {
	if d.phase != settling || d.awaited.clean != 0 {
		return
	}
	for _, o := range d.others {
		if o.turn != "" && o.ending != 0 {
			return
		}
	}
	d.finish(out)
}

// notified knows Codex's words. What it does not know is kept as a notice.
func (d *Dialect) notified(method, value jsonscan.Value, out *agent.Decoded) {
	var params params
	params.read(value)
	p := &params
	switch string(method.Inner()) {
	case "item/agentMessage/delta":
		d.told(speech, p, out)
	case "item/reasoning/summaryTextDelta":
		d.told(summary, p, out)
	case "item/reasoning/textDelta":
		d.told(thought, p, out)
	case "item/commandExecution/outputDelta", "item/fileChange/outputDelta", "item/mcpToolCall/progress":
		d.progressed(p, out)
	case "item/started":
		d.itemStarted(p, out)
	case "item/completed":
		d.itemCompleted(p, out)
	case "turn/started":
		d.turnStarted(p, out)
	case "turn/completed":
		d.turnCompleted(p, out)
	case "turn/plan/updated":
		d.planned(p, out)
	case "thread/tokenUsage/updated":
		d.used(p, out)
	case "account/rateLimits/updated":
		d.rateLimits(value, out)
	case "error":
		d.erred(p, out)
	case "thread/started":
		out.DropRaw = value.Get("thread", "id").Says(d.thread) // as the answer to thread/start
	case "model/rerouted":
		d.model = value.Get("toModel").Text()
		out.Add(event.AgentNoticed{What: "model/rerouted", Text: d.model})
	case "hook/completed":
		run := value.Get("run")
		out.Add(event.AgentNoticed{What: "hook/completed", Text: agent.Brief(run.Get("eventName")) + " " + agent.Brief(run.Get("status"))})
	case "warning", "guardianWarning", "configWarning", "deprecationNotice":
		said := p.delta
		if !said.Exists() {
			said = value.Get("summary")
		}
		out.Notice(method.Text(), said)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("", method)})
	}
}

func (d *Dialect) turnStarted(p *params, out *agent.Decoded) {
	id := p.item.Get("id")
	if o, _ := d.of(p.thread); o != nil {
		o.turn = id.Text()
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
	ours := d.turn.id == "" || p.item.Get("id").Says(d.turn.id)
	if ours && (d.phase == starting || d.phase == running) {
		d.completed(p.item, out)
		out.Notice("turn/completed", p.item.Get("status"))
	}
}

// planned takes the whole list, which Codex tells anew with each change.
func (d *Dialect) planned(p *params, out *agent.Decoded) {
	if o, _ := d.of(p.thread); o != nil || !d.working() {
		return
	}
	var todos []event.Todo
	for step := range p.all.Get("plan").Items() {
		status := "pending"
		switch string(step.Get("status").Inner()) {
		case "inProgress":
			status = "active"
		case "completed":
			status = "done"
		}
		todos = append(todos, event.Todo{Text: step.Get("step").Text(), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// erred tells what Codex tries again. What ends the turn is told again by turn/completed.
func (d *Dialect) erred(p *params, out *agent.Decoded) {
	failure := p.all.Get("error")
	said := agent.Brief(failure.Get("message"))
	if !p.all.Get("willRetry").IsTrue() || !d.working() {
		out.Add(event.AgentNoticed{What: "error", Text: said})
		return
	}
	if why := agent.Brief(failure.Get("additionalDetails")); why != "" {
		said = why
	}
	d.again(d.account.kind(failure.Get("codexErrorInfo"), said), said, out)
}
