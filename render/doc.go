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
// What is printed is a function of the events and the options: it does not matter
// how many events come at once, or how fast.
//
// Nothing that an agent, a tool or a file said reaches the terminal as a control character, but for
// the newline, and in text without a Width the tab: escape sequences are taken out, other control
// characters and the marks that reorder a line are replaced by visible ones. The escape sequences
// of [Options.Color] are this package's own.
//
// No line is longer than Width columns, in which wide characters count twice. A
// [Log] keeps to that from 77 columns up.
//
// Writes are of some 16 KiB where many events come, and whatever there is on
// Flush. A payload that cannot be read is said to be so, in its place.
//
// # Not here
//
// Reading journals (package journal), where a loop stands (package projector),
// terminals and their modes. Secrets are masked before a journal has them.
package render
