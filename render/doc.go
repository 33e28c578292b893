// Package render turns the events of a loop into text for people.
//
//	text := render.New(os.Stdout, render.Options{Width: 80})
//	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
//		if err != nil {
//			return err
//		}
//		if err := text.Event(e); err != nil {
//			return err
//		}
//	}
//	return text.Close()
//
// [Text] is what a person reads of a long run: the assistant's words as they
// come, one line for each tool, what people asked for and what became of it, and
// the totals at the end. [Log] is one line for each event, of whatever type.
//
// # Guarantees
//
// The text depends on the events and the options alone, not on how many events come at once, or how
// fast.
//
// Of the control characters in the text of an agent, a tool or a file, only newlines reach the
// terminal, and tabs if there is no Width. Escape sequences are removed; other control characters,
// and the marks that reorder a line, are replaced by visible ones. The escape sequences of
// [Options.Color] are this package's own.
//
// No line is longer than Width columns, in which wide characters count twice. A [Log] needs at
// least 77 columns for that.
//
// Output is written in pieces of some 16 KiB, and the rest on Flush. A payload that cannot be read
// is reported in its place.
//
// # Not here
//
// Reading journals (package journal), the state of a loop (package projector), terminals and their
// modes. Secrets are masked before a journal has them.
package render
