package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decode reads one line of the player.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentNoticed{What: "stderr", Text: string(line)})
		return
	}
	line = bytes.Trim(line, " \t\r\n") // the white space of JSON, and no other
	if len(line) == 0 {
		out.DropRaw = true
		return
	}
	value, err := d.line.Read(line)
	if err != nil {
		out.Add(event.AgentUnparsed{Line: event.Plain(string(line))})
		return
	}
	out.JSON = true
	r := reader{line: value, out: out}
	fact := d.fact(&r)
	if r.bad {
		fact = event.AgentUnparsed{}
	}
	out.Add(fact)
	if fact := d.refused(); fact != nil {
		out.Add(fact)
	}
	if d.ready && d.held != nil {
		out.Reply = append(out.Reply, d.held...)
		d.held = nil
	}
}

// refused ends a turn that cannot begin: it was aborted before the player was ready, or
// the command names another version of ralph, whose lines may mean other things.
func (d *Dialect) refused() event.Payload {
	foreign := d.version != 0 && d.version != player.Version
	switch {
	case !d.running || !d.ready:
		return nil
	case d.aborted:
		d.running, d.aborted = false, false
		return event.AgentFinished{Outcome: "aborted"}
	case foreign:
		d.running, d.steers, d.held = false, nil, nil
		return event.AgentFinished{Outcome: "error", Kind: "other", Error: fmt.Sprintf(
			"the player speaks version %d of the rehearsal's protocol, and this ralph speaks %d", d.version, player.Version)}
	}
	return nil
}

// fact returns what a line says. It changes nothing before it has read all of it.
func (d *Dialect) fact(r *reader) event.Payload {
	switch kind := r.string("type"); kind {
	case "said":
		return event.AgentSaid{Block: r.string("block"), Text: r.text("text"), Final: r.bool("final")}
	case "thought":
		return event.AgentThought{Block: r.string("block"), Text: r.text("text"), Final: r.bool("final")}
	case "called":
		return event.ToolCalled{ID: r.string("id"), Name: r.string("name"), Input: r.raw("input")}
	case "progressed":
		return event.ToolProgressed{ID: r.string("id"), Text: r.text("text")}
	case "returned":
		return event.ToolReturned{ID: r.string("id"), OK: r.bool("ok"), Output: r.text("output"), Took: r.count("took")}
	case "used":
		return event.AgentUsed{
			In: r.count("in"), Out: r.count("out"), CacheRead: r.count("cacheRead"), CacheWrite: r.count("cacheWrite"),
			USD: r.sum("usd"), Model: r.optional("model"),
		}
	case "planned":
		return event.AgentPlanned{Todos: r.todos("todos")}
	case "limited":
		return event.AgentLimited{
			Kind: oneOf(r, "kind", event.LimitKinds...), Until: r.optional("until"), Text: r.optional("text"),
		}
	case "retried":
		return event.AgentRetried{
			Attempt: int(r.count("attempt")), Max: int(r.count("max")), Delay: r.count("delay"), Text: r.optional("text"),
		}
	case "compacted":
		return event.AgentCompacted{Before: r.count("before"), After: r.count("after")}
	case "steered":
		return d.steered(r.string("id"))
	case "fresh", "stale":
		return d.answered(kind, r)
	case "finished":
		return d.finished(r)
	case "noticed":
		return event.AgentNoticed{What: r.string("what"), Text: r.optional("text")}
	case "ready":
		d.ready, d.version = true, r.count("version")
		r.out.Own = true // ralph may have been started by a launcher
		return event.AgentNoticed{What: kind, Text: r.optional("scenario")}
	default:
		return event.AgentNoticed{What: kind}
	}
}

func (d *Dialect) steered(id string) event.Payload {
	if !d.steers[id] {
		return event.AgentNoticed{What: "steered", Text: "not asked for: " + id}
	}
	delete(d.steers, id)
	return event.CommandDelivered{ID: id, How: "live", Iteration: d.iteration}
}

func (d *Dialect) answered(kind string, r *reader) event.Payload {
	why := r.optional("why")
	if d.resetting && !r.bad {
		d.resetting = false
		r.out.Fresh, r.out.Stale = kind == "fresh", kind == "stale"
		if r.out.Fresh {
			d.session = ""
		}
	}
	return event.AgentNoticed{What: kind, Text: why}
}

func (d *Dialect) finished(r *reader) event.Payload {
	p := event.AgentFinished{
		Outcome: oneOf(r, "outcome", event.TurnOK, event.TurnError, event.TurnAborted, event.TurnLength),
		Kind:    event.FaultKind(r.optional("kind")), Error: r.optional("error"),
	}
	if r.bad {
		return p
	}
	if !d.running {
		return event.AgentNoticed{What: "finished", Text: "no turn was running"}
	}
	d.running, d.steers = false, nil
	return p
}

// reader takes the fields of a line. A field of the wrong kind makes the line unread.
type reader struct {
	line jsonscan.Value
	out  *agent.Decoded // texts may use its memory
	bad  bool
}

func (r *reader) text(key string) event.Text {
	value := r.line.Get(key)
	if !value.IsString() {
		r.bad = true
		return nil
	}
	return event.Quoted(value.Raw())
}

func (r *reader) string(key string) string {
	value := r.line.Get(key)
	r.bad = r.bad || !value.IsString()
	return r.out.Text(value)
}

func (r *reader) optional(key string) string {
	value := r.line.Get(key)
	r.bad = r.bad || value.Exists() && !value.IsString()
	return r.out.Text(value)
}

func oneOf[T ~string](r *reader, key string, known ...T) T {
	value := r.line.Get(key)
	for _, word := range known {
		if value.Says(string(word)) {
			return word
		}
	}
	r.bad = true
	return ""
}

func (r *reader) raw(key string) json.RawMessage { return r.line.Get(key).Raw() }

func (r *reader) bool(key string) bool {
	value := r.line.Get(key)
	if !value.Exists() {
		return false
	}
	b, ok := value.Bool()
	r.bad = r.bad || !ok
	return b
}

// count reads a number from 0 that may be missing.
func (r *reader) count(key string) int64 {
	value := r.line.Get(key)
	if !value.Exists() {
		return 0
	}
	n, ok := value.Int()
	r.bad = r.bad || !ok || n < 0
	return n
}

func (r *reader) sum(key string) *float64 {
	value := r.line.Get(key)
	if !value.Exists() {
		return nil
	}
	sum, ok := value.Float()
	r.bad = r.bad || !ok || sum < 0
	return &sum
}

// statuses of an entry of a plan.
var statuses = []event.TodoStatus{event.TodoPending, event.TodoActive, event.TodoDone}

func (r *reader) todos(key string) []event.Todo {
	value := r.line.Get(key)
	if !value.IsArray() {
		r.bad = true
		return nil
	}
	todos := []event.Todo{}
	for item := range value.Items() {
		text, status := item.Get("text"), item.Get("status")
		todo := event.Todo{Text: r.out.Text(text), Status: event.TodoStatus(r.out.Text(status))}
		if !text.IsString() || !slices.Contains(statuses, todo.Status) {
			r.bad = true
			return nil
		}
		todos = append(todos, todo)
	}
	return todos
}
