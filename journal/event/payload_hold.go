package event

import "time"

// LoopHeld: no iteration begins before LoopReleased, or before Until if that is stated: the loop
// has a time to start at, comes after another one, or its account has used what limits.window
// allows.
type LoopHeld struct {
	Until time.Time `json:"until,omitzero"`
	Why   string    `json:"why"` // one sentence for a person
	// Start says that the loop was started so, not that a limit holds it.
	Start bool `json:"start,omitempty"`
}

// AgentHeld: the account of one of several agents has used what limits.window allows, so that
// another one is preferred. It holds until Until; without that it no longer does.
type AgentHeld struct {
	Agent int       `json:"agent"` // its place among the agents of the settings
	Until time.Time `json:"until,omitzero"`
	Why   string    `json:"why,omitempty"` // one sentence for a person
}

// LoopReleased: nothing holds the loop any more, or a person lets it go on all the same.
type LoopReleased struct {
	Person bool `json:"person,omitempty"`
}

// ScheduleObserved: what the next iteration may have to wait for was looked at, or has changed
// while the loop waits.
type ScheduleObserved struct {
	// After is the loop that has to end first, or one that works in the same files once that has
	// ended; absent if none has to.
	After    *LoopObserved     `json:"after,omitempty"`
	Accounts []AccountObserved `json:"accounts,omitempty"` // of the agents, in their order
	Spent    []Spent           `json:"spent,omitempty"`    // by all loops of the first agent's account
	// Unwatched says that a change is not noticed here: the loop looks again after a minute.
	Unwatched bool `json:"unwatched,omitempty"`
	// Changed says that something has changed while the loop waits: no schedule.observe asked.
	Changed bool `json:"changed,omitempty"`
}

// LoopObserved is how another loop was found.
type LoopObserved struct {
	Name  string `json:"name"`
	Ended bool   `json:"ended,omitempty"` // it has ended, or is gone
	Died  bool   `json:"died,omitempty"`  // its runner died
}

// AccountObserved is what a vendor said last of an account.
type AccountObserved struct {
	At      time.Time     `json:"at,omitzero"` // when it said that; zero if it never did
	Windows []QuotaWindow `json:"windows,omitempty"`
}

// Spent is what was spent in a span of time, as far as the agents reported it.
type Spent struct {
	Window string    `json:"window"` // the name of the span in limits.window
	USD    float64   `json:"usd"`
	Since  time.Time `json:"since,omitzero"` // when the first of it was spent
}

// AgentQuota: what the vendor says of the account's use, whenever it changes.
type AgentQuota struct {
	Windows []QuotaWindow `json:"windows"`
}

// QuotaWindow is a span of time in which so much may be used.
type QuotaWindow struct {
	Minutes int     `json:"minutes"` // how long it is
	Used    float64 `json:"used"`    // percent
	// Resets is when it begins again, RFC 3339; empty if it was not said.
	Resets string `json:"resets,omitempty"`
}
