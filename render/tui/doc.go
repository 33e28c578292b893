// Package tui is the full-screen view of one loop: what it did and does, and a line to type in.
//
//	outcome, err := tui.Run(ctx, tui.Options{Dir: dir, Name: name, …}, terminalOptions)
//
// The state of the screen is one model, changed by messages in one goroutine. A goroutine of its
// own follows the journal and gathers what changed; the model takes that in at most once a frame.
// Files are read and commands sent in commands of Bubble Tea, never while a key is handled.
//
// # Guarantees
//
//   - A key is answered at once, however much the agent prints: between two frames, changes of one
//     entry are merged, and if more comes than can be shown, what is newest is shown.
//   - Memory does not grow with the journal: of a long loop, a window of entries is loaded.
//   - Nothing from an agent, a tool or a file reaches the terminal uncleaned, and none of it is
//     ever part of a command line.
//   - Nothing that a person typed is lost: what could not be sent is kept in the line, or is part
//     of the outcome.
//
// # Not here
//
// How entries look (package conversation), the terminal's modes (package terminal), the state of a
// loop (package projector).
package tui
