package codex

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// usage counts tokens as Codex does: input holds what came from the cache and went into it, output holds the reasoning.
type usage struct{ input, cached, written, output int64 }

func readUsage(value jsonscan.Value) (u usage) {
	for key, value := range value.Members() {
		switch n := max(number(value), 0); string(key) {
		case "inputTokens", "input_tokens":
			u.input = n
		case "cachedInputTokens", "cached_input_tokens":
			u.cached = n
		case "cacheWriteInputTokens", "cache_write_input_tokens":
			u.written = n
		case "outputTokens", "output_tokens":
			u.output = n
		}
	}
	return u
}

// less returns what a total has grown by. ok is false where it shrank: it has begun anew.
func (u usage) less(before usage) (grown usage, ok bool) {
	grown = usage{u.input - before.input, u.cached - before.cached, u.written - before.written, u.output - before.output}
	return grown, min(grown.input, grown.cached, grown.written, grown.output) >= 0
}

// used reports what a thread's totals have grown by. Codex tells them again with news of the account's limits.
func (d *Dialect) used(p *params, out *agent.Decoded) {
	spent := &d.spent
	if o, _ := d.of(p.thread); o != nil {
		spent = &o.spent
	}
	totals := p.all.Get("tokenUsage", "total")
	if !totals.IsObject() {
		return
	}
	total := readUsage(totals)
	grown, ok := total.less(*spent)
	if !ok {
		grown = readUsage(p.all.Get("tokenUsage", "last"))
	}
	*spent = total
	if out.DropRaw = grown == (usage{}); !out.DropRaw {
		out.Add(grown.fact(d.model))
	}
}

func (u usage) fact(model string) event.AgentUsed {
	return event.AgentUsed{
		In: max(u.input-u.cached-u.written, 0), Out: u.output, CacheRead: u.cached, CacheWrite: u.written, Model: model,
	}
}
