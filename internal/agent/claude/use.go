package claude

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// use is what was used, of one model if it is named. What cannot be read is 0.
type use struct {
	agent.Usage
	usd     float64
	known   bool // usd could be read, and is what it cost
	guessed bool // Claude does not know the model's price and guesses it
	partial bool // facts have reported a part of it, which is taken out
}

// readModels reads usage by model.
func readModels(models jsonscan.Value) []use {
	var all []use
	for name, value := range models.Members() {
		u := readUse(value)
		u.Model = jsonscan.Unquote(slices.Concat([]byte{'"'}, name, []byte{'"'}))
		all = append(all, u)
	}
	return all
}

// readUse reads usage as Claude spells it by model and as the API does.
func readUse(value jsonscan.Value) use {
	u := use{Usage: agent.ReadUsage(value), guessed: value.Get("costBasis").Is("unknown")}
	usd, priced := agent.Dollars(value.Get("costUSD"))
	u.usd, u.known = usd, priced && !u.guessed
	return u
}

func allComplete(uses []use) bool {
	return len(uses) > 0 && !slices.ContainsFunc(uses, func(u use) bool { return !u.Complete })
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
	return use{Usage: u.Usage.Plus(more.Usage), usd: u.usd + more.usd, known: u.known && more.known, guessed: u.guessed || more.guessed}
}

// less returns what a total has grown by.
func (u use) less(before use) use {
	u.In, u.Out = grown(u.In, before.In), grown(u.Out, before.Out)
	u.CacheRead, u.CacheWrite = grown(u.CacheRead, before.CacheRead), grown(u.CacheWrite, before.CacheWrite)
	u.usd, u.known = grown(u.usd, before.usd), u.known && before.known
	return u
}

// atLeast raises each count to another's: both are of the same work.
func (u use) atLeast(other use) use {
	u.In, u.Out = max(u.In, other.In), max(u.Out, other.Out)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, other.CacheRead), max(u.CacheWrite, other.CacheWrite)
	u.Model = cmp.Or(u.Model, other.Model)
	return u
}

// costing sets the price.
func (u use) costing(usd float64, known bool) use {
	u.usd, u.known = usd, known
	return u
}

// grown returns what a total has grown by. One that shrank began again; less than sums of
// fractions differ by is nothing.
func grown[N int64 | float64](total, before N) N {
	if total >= before {
		return total - before
	}
	if float64(before)-float64(total) <= 1e-9*float64(before) {
		return 0
	}
	return total
}

// report adds the facts: one for each use, and one if there was none.
func report(uses []use, out *agent.Decoded) {
	facts := len(out.Facts)
	for _, u := range uses {
		if u.Tokens() > 0 || u.usd > 0 || u.partial && !u.known {
			out.Add(u.fact())
		}
	}
	if len(out.Facts) == facts {
		out.Add(use{known: len(uses) > 0 && allKnown(uses)}.fact())
	}
}

func (u use) fact() event.AgentUsed {
	fact := u.Fact()
	if u.known {
		fact.USD = &u.usd
	}
	return fact
}
