package acp

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// cost is what the session has cost so far. ACP tells the sum, and an event tells what came to it.
type cost struct {
	known  bool
	total  float64 // as it was told last
	booked float64 // of it, what events have told
}

// costs reads the cost in a usage_update. Another currency than dollars is no cost that ralph can add up.
func (c *cost) read(told jsonscan.Value) {
	if currency := told.Get("currency"); currency.Exists() && !currency.Is("USD") {
		return
	}
	if amount, ok := told.Get("amount").Float(); ok && amount >= 0 {
		c.known, c.total = true, amount
	}
}

// since returns what has not been told, nil where nothing is known. A sum that shrank has begun anew.
func (c *cost) since() *float64 {
	if !c.known {
		return nil
	}
	more := c.total - c.booked
	if more < 0 {
		more = c.total
	}
	c.booked = c.total
	return &more
}

// use is what one answer to a prompt says was used.
type use struct {
	known                          bool
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
			in:    count(quota.Get("token_count", "input_tokens")), // with what came from the cache, which is not told
			out:   count(quota.Get("token_count", "output_tokens")),
		}
		u.model = quota.Get("model_usage").Item(0).Get("model").Text()
		return u
	}
	return use{}
}

// readUsage tells by the total what each agent counts under its input and its output: for some what came from the
// cache is part of the input (Copilot), for some it is not (opencode, Codex, Claude); for opencode thinking is not part of the output.
func readUsage(usage jsonscan.Value) use {
	var in, out, read, write, total, thought int64
	for key, value := range usage.Members() {
		switch n := count(value); string(key) {
		case "inputTokens":
			in = n
		case "outputTokens":
			out = n
		case "cachedReadTokens":
			read = n
		case "cachedWriteTokens":
			write = n
		case "totalTokens":
			total = n
		case "thoughtTokens":
			thought = n
		}
	}
	if thought > 0 && (total == in+out+thought || total == in+out+thought+read+write) {
		out += thought
	}
	if read+write > 0 && total == in+out {
		in = max(0, in-read-write)
	}
	return use{known: true, in: in, out: out, cacheRead: read, cacheWrite: write}
}

// used is what the turn has used. Several prompts of one turn tell the same numbers where they were answered together; that
// they are the sum of all is for no agent known.
func (d *Dialect) used() (sum event.AgentUsed, told bool) {
	var last use
	for _, e := range d.turn.ended {
		u := e.used
		if !u.known || u == last {
			continue
		}
		last = u
		sum.In, sum.Out = sum.In+u.in, sum.Out+u.out
		sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.cacheRead, sum.CacheWrite+u.cacheWrite
		sum.Model = u.model
	}
	sum.USD = d.cost.since()
	return sum, last.known || sum.USD != nil || !d.turn.counted
}

// counted reads what one request to the model used, where an agent tells that (Qwen Code 0.24.4).
func (d *Dialect) counted(usage jsonscan.Value, out *agent.Decoded) {
	if !usage.IsObject() {
		return
	}
	d.turn.counted = true
	u := readUsage(usage)
	out.Add(event.AgentUsed{In: u.in, Out: u.out, CacheRead: u.cacheRead, CacheWrite: u.cacheWrite})
}
