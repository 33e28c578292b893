package rehearsal

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// keepMembers bounds the memory that is kept from one line to the next.
const keepMembers = 1 << 10

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
	members, err := jsonscan.Index(line, d.members[:0])
	if err != nil {
		out.Add(event.AgentUnread{Line: event.Plain(string(line))})
		return
	}
	out.JSON = true
	if cap(members) <= keepMembers {
		d.members = members
	}
	r := reader{members: members}
	fact := d.fact(&r, out)
	if r.bad {
		fact = event.AgentUnread{}
	}
	out.Add(fact)
}

// fact returns what a line says. It changes nothing before it has read all of it.
func (d *Dialect) fact(r *reader, out *agent.Decoded) event.Payload {
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
			Kind: r.oneOf("kind", "rate", "overload", "quota", "auth", "network", "context"), Until: r.optional("until"), Text: r.optional("text"),
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
		return d.answered(kind, r, out)
	case "finished":
		return d.finished(r)
	case "noticed":
		return event.AgentNoticed{What: r.string("what"), Text: r.optional("text")}
	case "ready":
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

func (d *Dialect) answered(kind string, r *reader, out *agent.Decoded) event.Payload {
	why := r.optional("why")
	if d.resetting && !r.bad {
		d.resetting = false
		out.Fresh, out.Stale = kind == "fresh", kind == "stale"
	}
	return event.AgentNoticed{What: kind, Text: why}
}

func (d *Dialect) finished(r *reader) event.Payload {
	p := event.AgentFinished{
		Outcome: r.oneOf("outcome", "ok", "error", "aborted", "length"), Kind: r.optional("kind"), Error: r.optional("error"),
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

// reader takes the fields of a line. One that is not what it should be makes the whole line
// unread.
type reader struct {
	members []jsonscan.Member
	bad     bool
}

func (r *reader) get(key string) []byte {
	for _, m := range r.members {
		if jsonscan.EqualKey(m.Key, key) {
			return m.Value
		}
	}
	return nil
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

func (r *reader) text(key string) event.Text {
	value := r.get(key)
	if !isString(value) {
		r.bad = true
		return nil
	}
	return event.Quoted(value)
}

func (r *reader) string(key string) string { return r.text(key).String() }

func (r *reader) optional(key string) string {
	if r.get(key) == nil {
		return ""
	}
	return r.string(key)
}

func (r *reader) oneOf(key string, known ...string) string {
	s := r.string(key)
	if !slices.Contains(known, s) {
		r.bad = true
	}
	return s
}

func (r *reader) raw(key string) json.RawMessage { return r.get(key) }

func (r *reader) bool(key string) bool {
	value := r.get(key)
	if value == nil {
		return false
	}
	b, ok := jsonscan.Bool(value)
	r.bad = r.bad || !ok
	return b
}

// count reads a number from 0 that may be missing.
func (r *reader) count(key string) int64 {
	value := r.get(key)
	if value == nil {
		return 0
	}
	n, ok := jsonscan.Int(value)
	r.bad = r.bad || !ok || n < 0
	return n
}

func (r *reader) sum(key string) *float64 {
	value := r.get(key)
	if value == nil {
		return nil
	}
	sum, ok := jsonscan.Float(value)
	r.bad = r.bad || !ok || sum < 0
	return &sum
}

// statuses of an entry of a plan.
var statuses = []string{"pending", "active", "done"}

func (r *reader) todos(key string) []event.Todo {
	value := r.get(key)
	if len(value) == 0 || value[0] != '[' {
		r.bad = true
		return nil
	}
	todos := []event.Todo{}
	items := jsonscan.Array(value)
	for item, ok := items.Next(); ok; item, ok = items.Next() {
		text, status := jsonscan.Get(item, "text"), jsonscan.Get(item, "status")
		todo := event.Todo{Text: jsonscan.Unquote(text), Status: jsonscan.Unquote(status)}
		if !isString(text) || !slices.Contains(statuses, todo.Status) {
			r.bad = true
			return nil
		}
		todos = append(todos, todo)
	}
	return todos
}
