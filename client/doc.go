// Package client is all that a front end needs to find, start, follow and steer loops. It links no
// engine: it reads journals, writes inboxes, and lets the program ralph start runners.
//
//	loop, err := client.Start{Project: dir, Prompt: "Make the tests pass.", Agent: "claude"}.Start(ctx)
//	if err != nil {
//		return err
//	}
//	for e, err := range client.Follow(ctx, loop.Dir, 0) {
//		…
//	}
//
// Another process finds it by name and sends it a command:
//
//	finder := client.Finder{Home: home, Project: dir}
//	loop, err := finder.Find("fix-login")
//	steer := inbox.Command{Kind: inbox.Steer, Text: "leave the schema alone"}
//	receipt, err := client.Send(ctx, loop, steer, 3*time.Second)
//
// What is true of a loop now is its [projector.View].
//
// # Guarantees
//
//   - A loop that Start or Resume returned lives on, whatever happens to the process that called.
//   - Nothing is asked at a terminal: what needs a person's word is an error that says so.
//   - A command for which Send returns an *UntakenError that says so is withdrawn: no later runner
//     takes it.
//   - Follow returns each event once, in order, and ends with the loop, or with its runner's death.
//   - All functions may be called at the same time from any number of goroutines and processes.
//
// # Errors
//
// *[NotFoundError] and *[AmbiguousError] are about names, *[NotRunningError] and *[UntakenError]
// about commands, *[ProgramError] is what the program refused, [ErrNoRunner] the death of a runner.
//
// # Not here
//
// What an event means (package event), how a command is stored (package inbox), which loops there
// are without a name (package registry), and words for people (package render).
package client
