// Package loopstate is the state that decisions depend on: the fold of all policies over the events
// of a journal, its checkpoint, and the projections that are written from it.
//
//	var s loopstate.State
//	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
//		…
//		err = s.Fold(e)
//	}
//
// # Guarantees
//
// State = fold(events), and nothing else: for any journal, folding its files gives the state that
// the live runner had, also when the fold begins at a segment's checkpoint. State is bounded in
// size whatever the number of events. Types that this version does not know change nothing but the
// sequence number.
//
// state.json and iterations/NNN.json are projections: they can be deleted at any time, and the next
// one that is written is right again.
//
// # Not here
//
// Reading and writing events (package journal), what follows from a state (internal/core/loop), and
// what other programs see of it (package projector).
package loopstate
