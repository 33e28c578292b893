package acp

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// cost is what the session has cost so far. ACP tells the sum, and an event tells what came to it.
type cost struct {
	told   bool    // in this turn, and it could be read
	total  float64 // as it was told last
	booked float64 // of it, what events have told
}

// read reads the cost in a usage_update. Another currency than dollars is no cost that ralph can add up.
func (c *cost) read(told jsonscan.Value) {
	if !told.IsObject() {
		return
	}
	currency := told.Get("currency")
	amount, ok := agent.Dollars(told.Get("amount"))
	if c.told = ok && (!currency.Exists() || currency.Is("USD")); c.told {
		c.total = amount
	}
}

// since returns what has not been reported, nil where the turn told nothing that can be read: a later sum makes up for that. A sum
// that shrank has begun again.
func (c *cost) since() *float64 {
	if !c.told {
		return nil
	}
	c.told = false
	more := c.total - c.booked
	if more < 0 {
		more = c.total
	}
	c.booked = c.total
	return &more
}

// use is what one answer to a prompt says was used.
type use struct {
	known                          bool // something was told
	unread                         bool // of which a part, or all, cannot be read
	in, out, cacheRead, cacheWrite int64
	model                          string
}

// readUse reads the answer's usage: that of the draft of ACP, or Gemini CLI's.
func readUse(result jsonscan.Value) use {
	if usage := result.Get("usage"); usage.IsObject() {
		return readUsage(usage)
	}
	if quota := result.Get("_meta", "quota"); quota.IsObject() {
		u := use{
			known: true,
		}
		u.in = u.count(quota.Get("token_count", "input_tokens")) // with what came from the cache, which is not told
		u.out = u.count(quota.Get("token_count", "output_tokens"))
		u.model = quota.Get("model_usage").Item(0).Get("model").Text()
		return u
	}
	return use{}
}

// readUsage tells by the total what each agent counts under its input and its output: for some what came from the
// cache is part of the input (Copilot), for some it is not (opencode, Codex, Claude); for opencode thinking is not part of the output.
func readUsage(usage jsonscan.Value) use {
	var in, out, read, write, total, thought int64
	var input, output bool
	u := use{known: true}
	for key, value := range usage.Members() {
		switch string(key) {
		case "inputTokens":
			in, input = u.count(value), true
		case "outputTokens":
			out, output = u.count(value), true
		case "cachedReadTokens":
			read = u.optional(value)
		case "cachedWriteTokens":
			write = u.optional(value)
		case "totalTokens":
			total, _ = agent.Tokens(value)
		case "thoughtTokens":
			thought = u.optional(value)
		}
	}
	u.unread = u.unread || !input || !output
	if thought > 0 && (total == in+out+thought || total == in+out+thought+read+write) {
		out += thought
	}
	if read+write > 0 && total == in+out {
		in = max(0, in-read-write)
	}
	u.in, u.out, u.cacheRead, u.cacheWrite = in, out, read, write
	return u
}

// count reads a number of tokens.
func (u *use) count(value jsonscan.Value) int64 {
	n, ok := agent.Tokens(value)
	u.unread = u.unread || !ok
	return n
}

// optional is count for a number that may be null.
func (u *use) optional(value jsonscan.Value) int64 {
	if value.IsNull() {
		return 0
	}
	return u.count(value)
}

// used is what the turn has used. Several prompts of one turn tell the same numbers where they were answered together; that
// they are the sum of all is for no agent known.
func (d *Dialect) used(out *agent.Decoded) {
	var sum event.AgentUsed
	var last use
	unread := false
	for _, e := range d.turn.ended {
		u := e.used
		if !u.known || u == last {
			continue
		}
		last, unread = u, unread || u.unread
		sum.In, sum.Out = sum.In+u.in, sum.Out+u.out
		sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.cacheRead, sum.CacheWrite+u.cacheWrite
		sum.Model = u.model
	}
	if sum.USD = d.cost.since(); last.known || sum.USD != nil || !d.turn.counted {
		out.Add(sum)
	}
	if unread {
		out.UnreadUsage()
	}
}

// End says what a turn that was not answered has cost by what was told, and that this is not all.
func (d *Dialect) End(out *agent.Decoded) {
	if usd := d.cost.since(); d.turn.open && usd != nil {
		out.Add(event.AgentUsed{USD: usd})
		out.Add(event.AgentUsed{})
	}
}

// counted reads what one request to the model used, where an agent tells that (Qwen Code 0.24.4).
func (d *Dialect) counted(usage jsonscan.Value, out *agent.Decoded) {
	if !usage.IsObject() {
		return
	}
	d.turn.counted = true
	u := readUsage(usage)
	out.Add(event.AgentUsed{In: u.in, Out: u.out, CacheRead: u.cacheRead, CacheWrite: u.cacheWrite})
	if u.unread {
		out.UnreadUsage()
	}
}
