package agent

import (
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// What an agent may say at most of one turn, so that no sum overflows: what is more cannot be read.
const (
	mostTokens  = 1 << 50
	mostDollars = 1e9
)

// Tokens reads a count of tokens: a whole number from 0 to 2^50, also where it is spelled 100.0 or 1e2. ok is false for anything
// else: how many there were is then unknown, which is not 0.
func Tokens(value jsonscan.Value) (n int64, ok bool) {
	f, ok := value.Float()
	if !ok || f < 0 || f > mostTokens || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Dollars reads an amount of money from 0 to a billion. ok is false for anything else: what was spent is then unknown, which is not 0.
func Dollars(value jsonscan.Value) (usd float64, ok bool) {
	usd, ok = value.Float()
	if !ok || usd < 0 || usd > mostDollars {
		return 0, false
	}
	return usd, true
}

// UnreadUsage says that what was used could not be read, wholly or in part: what is reported is the least.
func (d *Decoded) UnreadUsage() {
	d.Add(event.AgentNoticed{
		What: event.NoticeUnreadUsage, Text: "the agent told what it used in a way that cannot be read: limits of tokens count less than that",
	})
}
