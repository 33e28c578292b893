// Package fault says of what kind a failed request or turn is, by what an agent reports of it.
//
//	f := fault.Fault{Status: 429, Words: "You exceeded your current quota"}
//	kind := fault.ACP.Kind(f) // event.KindQuota
//	fault.Until(f.Words, now) // when the words say that it ends
//
// The words and codes of all agents stand in one [table], sorted, with a column for each agent: a fault that an agent reports in a
// new way is one more line there, and a new agent is one more column.
//
// # Guarantees
//
// Everything here is a pure function of its arguments. Hand it nothing but what the agent itself calls an error: words of a model or of a
// tool are searched like any others.
//
// # Not here
//
// How an agent tells of a fault (its dialect), and what follows from one (internal/policy).
package fault
