package codex

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// other is a thread that is not ours: a subagent's.
type other struct {
	parent string // the call that began it, or its own id if that is not known
	turn   string // that it is in; "" for none
	ending string // the request that interrupts it
	spent  agent.Usage
}

// othersMost bounds them against a Codex that always names another id.
const othersMost = 256

// of returns the thread of a notification: nil for our own thread, and for no thread.
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

// spawned notes the call that began the threads of subagents. Codex reports it before anything of
// them.
func (d *Dialect) spawned(call string, threads jsonscan.Value) {
	for thread := range threads.Items() {
		if o, _ := d.of(thread); o != nil {
			o.parent = call
		}
	}
}

// dismiss interrupts subagents that still work: Codex lets them run on after the turn.
func (d *Dialect) dismiss(out *agent.Decoded) {
	if len(d.others) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(d.others)) {
		if o := d.others[id]; o.turn != "" {
			o.ending = d.requests.Next()
			out.Reply = append(out.Reply, interrupt(o.ending, id, o.turn))
		}
	}
}

// settled finishes the turn once nothing of it can follow.
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

// notified reads a notification. An unknown one is kept as a notice.
func (d *Dialect) notified(method, p jsonscan.Value, out *agent.Decoded) {
	if read := notifications[string(method.Inner())]; read != nil {
		read(d, p, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("", method)})
	}
}

// notifications are their readers by method.
var notifications = map[string]func(d *Dialect, p jsonscan.Value, out *agent.Decoded){
	"item/agentMessage/delta":           func(d *Dialect, p jsonscan.Value, out *agent.Decoded) { d.delta(speech, p, out) },
	"item/reasoning/summaryTextDelta":   func(d *Dialect, p jsonscan.Value, out *agent.Decoded) { d.delta(summary, p, out) },
	"item/reasoning/textDelta":          func(d *Dialect, p jsonscan.Value, out *agent.Decoded) { d.delta(thought, p, out) },
	"item/commandExecution/outputDelta": (*Dialect).progressed,
	"item/fileChange/outputDelta":       (*Dialect).progressed,
	"item/mcpToolCall/progress":         (*Dialect).progressed,
	"item/started":                      (*Dialect).itemStarted,
	"item/completed":                    (*Dialect).itemCompleted,
	"turn/started":                      (*Dialect).turnStarted,
	"turn/completed":                    (*Dialect).turnCompleted,
	"turn/plan/updated":                 (*Dialect).planned,
	"thread/tokenUsage/updated":         (*Dialect).used,
	"account/rateLimits/updated":        (*Dialect).rateLimits,
	"error":                             (*Dialect).erred,
	"thread/started": func(d *Dialect, p jsonscan.Value, out *agent.Decoded) {
		out.DropRaw = p.Get("thread", "id").Says(d.thread) // as the answer to thread/start
	},
	"model/rerouted": func(d *Dialect, p jsonscan.Value, out *agent.Decoded) {
		d.model = p.Get("toModel").Text()
		out.Add(event.AgentNoticed{What: "model/rerouted", Text: d.model})
	},
	"hook/completed": func(_ *Dialect, p jsonscan.Value, out *agent.Decoded) {
		run := p.Get("run")
		if run.Get("eventName").Is("stop") && run.Get("status").Is("blocked") {
			var said []string
			for entry := range run.Get("entries").Items() {
				if kind := entry.Get("kind"); kind.Is("feedback") || kind.Is("stop") {
					said = append(said, entry.Get("text").Text())
				}
			}
			out.Add(event.AgentNoticed{What: event.NoticeSentBack, Text: agent.Cut(strings.Join(said, "\n"))})
			return
		}
		out.Add(event.AgentNoticed{What: "hook/completed", Text: agent.Brief(run.Get("eventName")) + " " + agent.Brief(run.Get("status"))})
	},
	"warning":           warned("warning"),
	"guardianWarning":   warned("guardianWarning"),
	"configWarning":     warned("configWarning"),
	"deprecationNotice": warned("deprecationNotice"),
}

// warned returns the reader of a warning for a person.
func warned(method string) func(*Dialect, jsonscan.Value, *agent.Decoded) {
	return func(_ *Dialect, p jsonscan.Value, out *agent.Decoded) {
		said := deltaText(p)
		if !said.Exists() {
			said = p.Get("summary")
		}
		out.Notice(method, said)
	}
}

func (d *Dialect) turnStarted(p jsonscan.Value, out *agent.Decoded) {
	id := p.Get("turn", "id")
	if o, _ := d.of(p.Get("threadId")); o != nil {
		o.turn = id.Text()
		return
	}
	d.began(id, out)
}

func (d *Dialect) turnCompleted(p jsonscan.Value, out *agent.Decoded) {
	if o, parent := d.of(p.Get("threadId")); o != nil {
		o.turn = ""
		d.messages.close(out, parent)
		d.settled(out)
		return
	}
	ours := d.turn.id == "" || p.Get("turn", "id").Says(d.turn.id)
	if ours && (d.phase == starting || d.phase == running) {
		d.completed(p.Get("turn"), out)
		out.Notice("turn/completed", p.Get("turn", "status"))
	}
}

// planned reads the list of things to do, which Codex repeats with each change.
func (d *Dialect) planned(p jsonscan.Value, out *agent.Decoded) {
	if o, _ := d.of(p.Get("threadId")); o != nil || !d.working() {
		return
	}
	out.Plan(p.Get("plan"), "step")
}

// erred reports a request that Codex makes again. turn/completed repeats what ends the turn.
func (d *Dialect) erred(p jsonscan.Value, out *agent.Decoded) {
	failure := p.Get("error")
	said := agent.Brief(failure.Get("message"))
	if !p.Get("willRetry").IsTrue() || !d.working() {
		out.Add(event.AgentNoticed{What: "error", Text: said})
		return
	}
	if why := agent.Brief(failure.Get("additionalDetails")); why != "" {
		said = why
	}
	d.again(d.account.kind(failure.Get("codexErrorInfo"), said), said, out)
}
