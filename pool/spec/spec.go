// Package spec is what a person submits to a pool: a loop to be run by some host.
package spec

import "time"

// Version is that of a specification.
const Version = 1

// A Spec describes a loop. It is in the queue under its ID, and in chunk 0 of its loop's log:
// writing that chunk is the claim.
type Spec struct {
	Version int    `json:"v"`
	ID      string `json:"id"`   // a ULID, of the loop as well
	Name    string `json:"name"` // of the loop
	// Repository is what git clones, with the credentials of the worker's person; Branch is what
	// the work begins from, empty for the remote's own.
	Repository string `json:"repository"`
	Branch     string `json:"branch,omitempty"`
	Inside     string `json:"inside,omitempty"` // the project's folder in the repository
	Prompt     string `json:"prompt"`
	// Start are further arguments of 'ralph start', such as "--agent", "claude".
	Start    []string `json:"start,omitempty"`
	Priority int      `json:"priority,omitempty"` // 0 to 9; higher is sooner
	Labels   []string `json:"labels,omitempty"`   // that a worker must have
	Budget   float64  `json:"budget,omitempty"`   // in dollars, for this loop
	Account  string   `json:"account,omitempty"`  // whose budget over all hosts it counts against
	Needs    []string `json:"needs,omitempty"`    // IDs of specifications that must be completed before
	// Fleet is the name of the fleet that it is a part of. Its work begins from the work of those
	// that it needs.
	Fleet string    `json:"fleet,omitempty"`
	By    string    `json:"by"` // who submitted it, such as ada@mill
	At    time.Time `json:"at"`
	// Key and Signature let a worker trust what the specification runs: see pool.trust.
	Key       string `json:"key,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Every is the schedule that submits it; nil for what is run once.
	Every *Every `json:"every,omitempty"`
	// Withdrawn is who took the specification back before it was claimed. Only chunk 0 of a log has
	// it: a loop that no host runs.
	Withdrawn string `json:"withdrawn,omitempty"`
}
