// Package reading says what a person has to read of a loop's work, in which order and why.
//
//	list := reading.New("demo", strength, reading.Parse(patch), "")
//	for _, item := range list.Items { … }
//
//	state, err := reading.ReadState(home, id)
//	list.Mark(state) // what a person decided about each
//
// First come the mutants that no guardrail noticed, then what looks like gaming, then the changed
// files that carry a risk, and at last all other files as one item. risk.go has the risks, in their
// order.
//
// # Guarantees
//
//   - The same strength and the same patch give the same list.
//   - The id of an item is a digest of its content. A decision is about an id, so that what has
//     changed since is open again.
//   - Texts of a list are clean and bounded.
//   - The state of a review is in ralph's home, which no sandbox shows to an agent, in a file of
//     mode 0600. Only state.go reads and writes files.
//
// # Not here
//
// Where the patch is from, and what an action of a person does: package internal/verb/review.
package reading
