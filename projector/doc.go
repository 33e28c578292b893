// Package projector turns events into what is true now.
//
//	var s projector.State
//	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
//		if err != nil {
//			return err
//		}
//		if err := s.Fold(e); err != nil {
//			return err
//		}
//	}
//	fmt.Println(s.Status(), s.Life.Iteration)
//
// # Guarantees
//
// State = fold(events), and nothing else: for any journal, folding its files gives
// the state that the live runner had, also when the fold begins at a segment's
// checkpoint. State is bounded in size whatever the number of events. Types that
// this version does not know change nothing but the sequence number.
//
// state.json and iterations/NNN.json are projections: they can be deleted at any
// time, and the next one that is written is right again.
//
// # Not here
//
// Reading and writing events (package journal) and what follows from a state
// (internal/loop).
package projector
