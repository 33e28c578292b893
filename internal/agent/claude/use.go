package claude

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// use is what was used, of one model where it is named. What cannot be read is 0.
type use struct {
	model                          string
	in, out, cacheRead, cacheWrite int64
	whole                          bool // all counts of tokens could be read
	usd                            float64
	known                          bool // usd could be read, and is what it cost
	guessed                        bool // Claude does not know the model's price and guesses it
}

// readModels reads usage by model.
func readModels(models jsonscan.Value) []use {
	var all []use
	for name, value := range models.Members() {
		u := readUse(value)
		u.model = unescaped(name)
		all = append(all, u)
	}
	return all
}

// readUsage reads the usage of a result.
func readUsage(usage jsonscan.Value) use {
	u := readUse(usage)
	if n, ok := agent.Tokens(usage.Get("total_tokens")); ok && n > 0 && n == u.in+u.out {
		u.in = max(0, u.in-u.cacheRead-u.cacheWrite) // Qwen Code counts the cache within the input
	}
	return u
}

// readUse reads usage as Claude spells it by model and as the API does. Input and output are always told; the cache need not be.
func readUse(value jsonscan.Value) use {
	var u use
	var in, out, wrong bool
	read := func(to *int64, value jsonscan.Value) bool {
		n, ok := agent.Tokens(value)
		if *to = n; !ok && !value.IsNull() {
			wrong = true
		}
		return ok
	}
	for key, value := range value.Members() {
		switch string(key) {
		case "inputTokens", "input_tokens":
			in = read(&u.in, value)
		case "outputTokens", "output_tokens":
			out = read(&u.out, value)
		case "cacheReadInputTokens", "cache_read_input_tokens":
			read(&u.cacheRead, value)
		case "cacheCreationInputTokens", "cache_creation_input_tokens":
			read(&u.cacheWrite, value)
		case "costUSD":
			u.usd, u.known = agent.Dollars(value)
		case "costBasis":
			u.guessed = value.Is("unknown")
		}
	}
	u.whole = in && out && !wrong
	u.known = u.known && !u.guessed
	return u
}

func (u use) tokens() int64 { return u.in + u.out + u.cacheRead + u.cacheWrite }

func allWhole(uses []use) bool {
	return len(uses) > 0 && !slices.ContainsFunc(uses, func(u use) bool { return !u.whole })
}

func allKnown(uses []use) bool {
	return !slices.ContainsFunc(uses, func(u use) bool { return !u.known })
}

// sum adds uses up. It names the model where all are of one.
func sum(uses []use) use {
	var all use
	for i, u := range uses {
		if i == 0 {
			all = u
			continue
		}
		all = all.plus(u)
	}
	return all
}

// plus returns both together.
func (u use) plus(more use) use {
	u.in, u.out, u.cacheRead, u.cacheWrite = u.in+more.in, u.out+more.out, u.cacheRead+more.cacheRead, u.cacheWrite+more.cacheWrite
	u.usd, u.known, u.guessed = u.usd+more.usd, u.known && more.known, u.guessed || more.guessed
	if u.model != more.model {
		u.model = ""
	}
	return u
}

// less returns what a total has grown by.
func (u use) less(before use) use {
	u.in, u.out = grown(u.in, before.in), grown(u.out, before.out)
	u.cacheRead, u.cacheWrite = grown(u.cacheRead, before.cacheRead), grown(u.cacheWrite, before.cacheWrite)
	u.usd, u.known = grown(u.usd, before.usd), u.known && before.known
	return u
}

// atLeast raises each count to another's: both are of the same work.
func (u use) atLeast(other use) use {
	u.in, u.out = max(u.in, other.in), max(u.out, other.out)
	u.cacheRead, u.cacheWrite = max(u.cacheRead, other.cacheRead), max(u.cacheWrite, other.cacheWrite)
	if u.model == "" {
		u.model = other.model
	}
	return u
}

// costing sets the price.
func (u use) costing(usd float64, known bool) use {
	u.usd, u.known = usd, known
	return u
}

// grown returns what a total has grown by. One that shrank has begun anew; less than sums of fractions differ by is nothing.
func grown[N int64 | float64](total, before N) N {
	if total >= before {
		return total - before
	}
	if float64(before)-float64(total) <= 1e-9*float64(before) {
		return 0
	}
	return total
}

// report adds the facts: one for each of what was used, and one where nothing was.
func report(uses []use, out *agent.Decoded) {
	facts := len(out.Facts)
	for _, u := range uses {
		if u.tokens() > 0 || u.usd > 0 {
			out.Add(u.fact())
		}
	}
	if len(out.Facts) == facts {
		out.Add(use{known: len(uses) > 0 && allKnown(uses)}.fact())
	}
}

func (u use) fact() event.AgentUsed {
	fact := event.AgentUsed{In: u.in, Out: u.out, CacheRead: u.cacheRead, CacheWrite: u.cacheWrite, Model: u.model}
	if u.known {
		fact.USD = &u.usd
	}
	return fact
}
