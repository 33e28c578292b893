package acp

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// cost is what the session has cost so far. ACP reports the sum, and an event what was added to it.
type cost struct {
	reported bool    // in this turn, and it could be read
	total    float64 // as it was reported last
	booked   float64 // of it, what events reported
}

// read reads the cost in a usage_update. Another currency than dollars is no cost that ralph can
// add up.
func (c *cost) read(reported jsonscan.Value) {
	if !reported.IsObject() {
		return
	}
	currency := reported.Get("currency")
	amount, ok := agent.Dollars(reported.Get("amount"))
	if c.reported = ok && (!currency.Exists() || currency.Is("USD")); c.reported {
		c.total = amount
	}
}

// since returns what has not been reported, nil if the turn reported nothing that can be read: a
// later sum contains it. A sum that shrank has begun again.
func (c *cost) since() *float64 {
	if !c.reported {
		return nil
	}
	c.reported = false
	more := c.total - c.booked
	if more < 0 {
		more = c.total
	}
	c.booked = c.total
	return &more
}

// use is what one answer to a prompt says was used.
type use struct {
	agent.Usage
	known bool // something was reported
}

// readUse reads the answer's usage: that of the draft of ACP, or Gemini CLI's, whose input includes
// what came from the cache.
func readUse(result jsonscan.Value) use {
	if usage := result.Get("usage"); usage.IsObject() {
		return use{agent.ReadUsage(usage).SplitByTotal(), true}
	}
	quota := result.Get("_meta", "quota")
	if !quota.IsObject() {
		return use{}
	}
	u := agent.ReadUsage(quota.Get("token_count"))
	u.Model = quota.Get("model_usage").Item(0).Get("model").Text()
	return use{u, true}
}

// used is what the turn has used. Several prompts of one turn report the same numbers if they were
// answered together; no agent is known to report the sum of all.
func (d *Dialect) used(out *agent.Decoded) {
	var sum agent.Usage
	var last use
	unread := false
	for _, e := range d.turn.ended {
		u := e.used
		if !u.known || u == last {
			continue
		}
		last, unread = u, unread || !u.Complete
		sum = sum.Plus(u.Usage)
		sum.Model = u.Model
	}
	fact := sum.Fact()
	if fact.USD = d.cost.since(); last.known || fact.USD != nil || !d.turn.counted {
		out.Add(fact)
	}
	switch {
	case unread:
		out.UnreadUsage()
	case d.profile.lastOnly && last.known && (d.turn.worked || len(d.turn.ended) > 1):
		out.LeastUsage("the agent reports the tokens of its last request only")
	}
}

// End says what a turn that was not answered has cost so far, and that this is not all.
func (d *Dialect) End(_ int, out *agent.Decoded) {
	if usd := d.cost.since(); d.turn.open && usd != nil {
		out.Add(event.AgentUsed{USD: usd})
		out.Add(event.AgentUsed{})
	}
}

// counted reads what one request to the model used, if an agent reports that (Qwen Code 0.24.4).
func (d *Dialect) counted(usage jsonscan.Value, out *agent.Decoded) {
	if !usage.IsObject() {
		return
	}
	d.turn.counted = true
	u := agent.ReadUsage(usage).SplitByTotal()
	out.Add(u.Fact())
	if !u.Complete {
		out.UnreadUsage()
	}
}
