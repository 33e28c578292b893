// Package conversation shows the entries of a loop in a part of a terminal: the agent's words as
// Markdown, its tools folded to one line each, guardrails, messages of people, borders between
// iterations.
//
//	v := conversation.New()
//	v.Resize(80, 24)
//	v.SetTheme(theme)
//	v.Put(entries)
//	for _, line := range v.Lines(time.Now()) {
//		print(line)
//	}
//
// # Guarantees
//
// A [View] lays out what is shown, and nothing else: its time does not depend on the number of
// entries. It stays at the end when entries are added, if it is there; otherwise what is shown does
// not move when entries are added before or after it, change, or when the width changes.
//
// No line is wider than the columns. What an entry means is said in words or signs, also where the
// theme has colours. The package does no I/O, and reads no clock.
//
// # Not here
//
// Keys and the screen around (package tui), reading journals (package transcript).
package conversation
