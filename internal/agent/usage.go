package agent

import (
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// The most that an agent may report for one turn, so that no sum overflows. More cannot be read.
const (
	mostTokens  = 1 << 50
	mostDollars = 1e9
)

// Tokens reads a count of tokens: an integer from 0 to 2^50, also as 100.0 or 1e2. ok is false for
// anything else: the count is then unknown, which is not 0.
func Tokens(value jsonscan.Value) (n int64, ok bool) {
	f, ok := value.Float()
	if !ok || f < 0 || f > mostTokens || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Int returns an integer, also if it is written with a fraction, and 0 for anything else.
func Int(value jsonscan.Value) int64 {
	f, ok := value.Float()
	if !ok || f < -1<<53 || f > 1<<53 {
		return 0
	}
	return int64(f)
}

// Dollars reads an amount of money from 0 to a billion. ok is false for anything else: the amount
// is then unknown, which is not 0.
func Dollars(value jsonscan.Value) (usd float64, ok bool) {
	usd, ok = value.Float()
	if !ok || usd < 0 || usd > mostDollars {
		return 0, false
	}
	return usd, true
}

// UnreadUsage notes that usage could not be read, wholly or in part: what is reported is a lower
// bound.
func (d *Decoded) UnreadUsage() {
	d.LeastUsage("the agent reported its usage in a form that cannot be read")
}

// LeastUsage notes why more tokens were used than are reported.
func (d *Decoded) LeastUsage(why string) {
	d.Add(event.AgentNoticed{What: event.NoticeUnreadUsage, Text: why + ": limits of tokens count less than that"})
}

// Usage is what an agent reports of the tokens that it used. A count that is absent or cannot be
// read is 0.
type Usage struct {
	Model                          string // if it is known and all tokens are of it
	In, Out, CacheRead, CacheWrite int64
	Thought, Total                 int64 // as they are reported
	Complete                       bool  // input and output are reported, and each count can be read
}

// ReadUsage reads counts by the names that agents have for them. Only the cache may be null.
func ReadUsage(value jsonscan.Value) (u Usage) {
	var in, out, unread bool
	for key, value := range value.Members() {
		n, ok := Tokens(value)
		switch string(key) {
		case "inputTokens", "input_tokens":
			u.In, in = n, ok
		case "outputTokens", "output_tokens":
			u.Out, out = n, ok
		case "cacheReadInputTokens", "cache_read_input_tokens", "cachedReadTokens", "cachedInputTokens", "cached_input_tokens":
			u.CacheRead = n
		case "cacheCreationInputTokens", "cache_creation_input_tokens", "cachedWriteTokens", "cacheWriteInputTokens", "cache_write_input_tokens":
			u.CacheWrite = n
		case "thoughtTokens":
			u.Thought = n
		case "totalTokens", "total_tokens":
			u.Total = n
			continue
		default:
			continue
		}
		unread = unread || !ok && !value.IsNull()
	}
	u.Complete = in && out && !unread
	return u
}

// SplitByTotal finds by the total what the agent counts as input and output. For some, tokens of
// the cache are part of the input (Copilot, Qwen Code), for some they are not (opencode, Codex,
// Claude); for opencode thinking is not part of the output.
func (u Usage) SplitByTotal() Usage {
	cache, all := u.CacheRead+u.CacheWrite, u.In+u.Out+u.Thought
	if u.Thought > 0 && (u.Total == all || u.Total == all+cache) {
		u.Out += u.Thought
	}
	if u.Total == u.In+u.Out {
		u.In = max(0, u.In-cache)
	}
	return u
}

// Tokens returns the count of all tokens.
func (u Usage) Tokens() int64 { return u.In + u.Out + u.CacheRead + u.CacheWrite }

// Plus returns both together.
func (u Usage) Plus(more Usage) Usage {
	u.In, u.Out, u.CacheRead, u.CacheWrite = u.In+more.In, u.Out+more.Out, u.CacheRead+more.CacheRead, u.CacheWrite+more.CacheWrite
	if u.Model != more.Model {
		u.Model = ""
	}
	return u
}

// Fact returns the event, without a cost.
func (u Usage) Fact() event.AgentUsed {
	return event.AgentUsed{In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Model: u.Model}
}
