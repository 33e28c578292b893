package claude

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// spending is what the process had used by its last result: Claude's totals are those of the process, and it may end
// several turns.
type spending struct {
	usd    float64
	models []modelSpending
	told   bool // message by message
	// earlier says that the totals begin with those of an earlier process, whose session this one goes on with. With its first
	// result they are known.
	earlier bool
}

type modelSpending struct {
	model string
	use   use
}

// use is one model's usage.
type use struct {
	in, out, cacheRead, cacheWrite int64
	usd                            float64
	known                          bool // whether usd is what it cost
}

// used reports what this result adds to what was used. Best is model_usage_since_last_result (2.1.329), which says just that; else the
// totals by model are compared with those of the result before; `usage` is the last resort, since it counts
// no subagents and no response that was cut off. It is the first one where a session is gone on with, of which only tokens are then known.
func (d *Dialect) used(m jsonscan.Value, out *agent.Decoded) {
	facts := len(out.Facts)
	defer func() { d.spent.earlier = false }()
	since, totals := m.Get("model_usage_since_last_result"), m.Get("modelUsage")
	switch {
	case since.IsObject():
		d.usedSince(since, out)
	case totals.IsObject():
		d.usedOf(totals, out)
		if d.spent.earlier {
			d.usedPlain(m, out)
		}
	case d.spent.told:
		return
	default:
		d.usedPlain(m, out)
	}
	if len(out.Facts) == facts && d.spent.earlier {
		out.Add(event.AgentUsed{}) // of what it cost nothing is known
	} else if len(out.Facts) == facts {
		out.Add(event.AgentUsed{USD: new(float64)}) // known to be nothing
	}
}

func (d *Dialect) usedSince(since jsonscan.Value, out *agent.Decoded) {
	for name, value := range since.Members() {
		readUse(value).report(unescaped(name), out)
	}
}

func (d *Dialect) usedOf(totals jsonscan.Value, out *agent.Decoded) {
	for name, value := range totals.Members() {
		total := readUse(value)
		before := d.spent.of(unescaped(name))
		if !d.spent.earlier {
			total.less(before.use).report(before.model, out)
		}
		before.use = total
	}
}

func (d *Dialect) usedPlain(m jsonscan.Value, out *agent.Decoded) {
	usage := m.Get("usage")
	total, known := m.Get("total_cost_usd").Float()
	if !known && !usage.IsObject() {
		out.Add(event.AgentUsed{})
		return
	}
	u := use{
		in: count(usage, "input_tokens"), out: count(usage, "output_tokens"),
		cacheRead: count(usage, "cache_read_input_tokens"), cacheWrite: count(usage, "cache_creation_input_tokens"),
		usd: since(total, d.spent.usd),
	}
	if n := count(usage, "total_tokens"); n > 0 && n == u.in+u.out {
		u.in = max(0, u.in-u.cacheRead-u.cacheWrite) // Qwen Code counts the cache within the input
	}
	u.known = known && !d.spent.earlier
	if !u.known {
		u.usd = 0
	}
	u.report("", out)
	d.spent.usd = total
}

// of returns what was spent on a model so far.
func (s *spending) of(model string) *modelSpending {
	for i := range s.models {
		if s.models[i].model == model {
			return &s.models[i]
		}
	}
	s.models = append(s.models, modelSpending{model: model})
	return &s.models[len(s.models)-1]
}

func readUse(value jsonscan.Value) use {
	var u use
	guessed := false
	for key, value := range value.Members() {
		switch string(key) {
		case "inputTokens":
			u.in = tokens(value)
		case "outputTokens":
			u.out = tokens(value)
		case "cacheReadInputTokens":
			u.cacheRead = tokens(value)
		case "cacheCreationInputTokens":
			u.cacheWrite = tokens(value)
		case "costUSD":
			u.usd, u.known = value.Float()
			u.usd = max(u.usd, 0)
		case "costBasis":
			// Of a model that it does not know, Claude guesses the price.
			guessed = value.Is("unknown")
		}
	}
	u.known = u.known && !guessed
	return u
}

func (u use) less(before use) use {
	return use{
		in: since(u.in, before.in), out: since(u.out, before.out),
		cacheRead: since(u.cacheRead, before.cacheRead), cacheWrite: since(u.cacheWrite, before.cacheWrite),
		usd: since(u.usd, before.usd), known: u.known,
	}
}

// since returns what a total has grown by. One that shrank has begun anew.
func since[N int64 | float64](total, before N) N {
	if total < before {
		return total
	}
	return total - before
}

// report adds the fact, unless there is nothing to say.
func (u use) report(model string, out *agent.Decoded) {
	if u.in == 0 && u.out == 0 && u.cacheRead == 0 && u.cacheWrite == 0 && u.usd == 0 {
		return
	}
	fact := event.AgentUsed{In: u.in, Out: u.out, CacheRead: u.cacheRead, CacheWrite: u.cacheWrite, Model: model}
	if u.known {
		fact.USD = &u.usd
	}
	out.Add(fact)
}

func count(value jsonscan.Value, name string) int64 { return tokens(value.Get(name)) }

func tokens(value jsonscan.Value) int64 {
	n, _ := value.Int()
	return max(n, 0)
}
