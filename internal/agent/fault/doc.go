// Package fault finds the kind of a failed request or turn in what an agent reports.
//
//	f := fault.Fault{Status: 429, Words: "You exceeded your current quota"}
//	kind := fault.ACP.Kind(f) // event.KindQuota
//	fault.Until(f.Words, now) // when the words say that it ends
//
// The words and codes of all agents are in one [table] with a column for each agent: a new way to
// report a fault is one more row, and a new agent is one more column.
//
// # Guarantees
//
// Everything here is a pure function of its arguments. Callers pass only what the agent itself
// calls an error: words of a model or of a tool are searched like any others.
//
// # Not here
//
// How an agent reports a fault (its dialect), and what follows from one (internal/core/policy).
package fault
