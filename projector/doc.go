// Package projector says what is true of a loop now: its [View], the one shape of a loop that every
// front end shows.
//
//	loop, err := projector.Load(loopDir)
//	if err != nil {
//		return err
//	}
//	view := loop.View()
//	fmt.Println(view.Status, view.Iteration, view.Waiting)
//
// A program that lists loops has a view of each, with whether it needs a person:
//
//	loops, err := registry.Survey(home, nil)
//	…
//	for _, found := range loops {
//		view := projector.Brief(found) // Read has all of it
//		fmt.Println(view.Name, view.Group, view.State)
//	}
//
// A program that follows a loop folds each event, and has a view of every moment:
//
//	var loop projector.Loop
//	for e, err := range journal.Follow(ctx, loopDir, journal.FollowOptions{}) {
//		…
//		err = loop.Fold(e)
//	}
//
// # Guarantees
//
// A view is a function of the events: the one of [Load], the one of [Rebuild] and the one of a
// reader that folded every event are equal at the same event. A fold may also begin at the first
// event of any segment, which holds all that came before. Its size does not grow with the journal.
// Types of events that this version does not know change nothing but the sequence number.
//
// state.json and iterations/NNN.json have these facts for programs in other languages;
// docs/reference/format.md describes them. They can be deleted at any time: the runner writes them
// again, and so does [Write]. All other functions take no lock and write nothing.
//
// # Not here
//
// Reading events (package journal), lists of loops (package registry), and the state that the
// runner decides from, which has no stable form.
package projector
