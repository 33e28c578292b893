// Package terminal runs a program that draws on a terminal: the attached loop, the watched list,
// the replay.
//
//	err := terminal.Run(model, terminal.Options{In: os.Stdin, Out: os.Stdout, Environ: os.Environ()})
//
// A model is that of Bubble Tea with a pointer for its receiver. Run adds what every such program
// needs: the theme that suits the terminal, frames between synchronized-output marks, suspension,
// and the terminal's former modes on every way out.
//
// # Guarantees
//
//   - Nothing is written to the terminal while nothing changes.
//   - The terminal has its former modes when Run returns: also after a panic in the model or in a
//     command, and after SIGINT, SIGTERM and SIGHUP.
//   - What the terminal shows outside of the program's screen (title, progress, program status,
//     notifications) is clean text, and each can be turned off.
//   - A theme with NO_COLOR has no colour, and differs in bold, faint, italic and reverse only.
//
// # Not here
//
// What is drawn (packages tui, conversation and others), and the journal.
package terminal
