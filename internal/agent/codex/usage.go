package codex

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Codex counts what came from the cache and went into it as input, and reasoning as output.

// grown returns what a total has grown by. ok is false if it shrank: it began again.
func grown(total, before agent.Usage) (u agent.Usage, ok bool) {
	u = agent.Usage{
		In: total.In - before.In, Out: total.Out - before.Out,
		CacheRead: total.CacheRead - before.CacheRead, CacheWrite: total.CacheWrite - before.CacheWrite,
	}
	return u, min(u.In, u.Out, u.CacheRead, u.CacheWrite) >= 0
}

// used reports the growth of a thread's totals. Codex repeats them with news of the account's
// limits.
func (d *Dialect) used(p jsonscan.Value, out *agent.Decoded) {
	spent := &d.spent
	if o, _ := d.of(p.Get("threadId")); o != nil {
		spent = &o.spent
	}
	totals := p.Get("tokenUsage", "total")
	if !totals.IsObject() {
		return
	}
	total := agent.ReadUsage(totals)
	more, ok := grown(total, *spent)
	if !ok {
		more = agent.ReadUsage(p.Get("tokenUsage", "last"))
	}
	*spent = total
	if out.DropRaw = more.Tokens() == 0; !out.DropRaw {
		out.Add(factOf(more, d.model))
	}
}

func factOf(u agent.Usage, model string) event.AgentUsed {
	u.In, u.Model = max(u.In-u.CacheRead-u.CacheWrite, 0), model
	return u.Fact()
}
