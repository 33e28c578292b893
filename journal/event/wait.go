package event

import "time"

// Wait is what a loop waits for before the next iteration may begin.
type Wait string

// The closed list of waits. Those for a limit are the kinds of fault that may pass by waiting.
const (
	WaitRate     Wait = "rate"
	WaitOverload Wait = "overload"
	WaitNetwork  Wait = "network"
	WaitQuota    Wait = "quota"
	WaitRestart  Wait = "restart" // restart.delay, or its backoff
	WaitBreaker  Wait = "breaker" // the backoff of a loop that makes no progress
	WaitPerson   Wait = "person"
	WaitHeld     Wait = "held" // see LoopHeld
)

// Waits is the closed list.
var Waits = []Wait{WaitRate, WaitOverload, WaitNetwork, WaitQuota, WaitRestart, WaitBreaker, WaitPerson, WaitHeld}

// ParseWait returns the wait of that name, as it is in the journal.
func ParseWait(text string) (Wait, error) { return parse(text, "what a loop waits for", Waits...) }

// String says in words what is waited for.
func (w Wait) String() string {
	switch w {
	case WaitRate:
		return "rate limit"
	case WaitRestart:
		return "restart delay"
	case WaitBreaker:
		return "no progress"
	case WaitPerson:
		return "a person"
	case WaitHeld:
		return "its turn"
	}
	return string(w)
}

// String says for what and until when the loop waits.
func (w LoopWaiting) String() string {
	if w.For == WaitPerson || w.For == WaitHeld {
		return w.For.String() + ": " + w.Why
	}
	return w.For.String() + " until " + w.Until.Format(time.RFC3339)
}
