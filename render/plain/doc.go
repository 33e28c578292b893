// Package plain shows a loop as text: the entries of its transcript, line by line, for a terminal,
// a pipe or a file.
//
//	text := plain.New(os.Stdout, render.Options{Width: 80})
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
// [Text] is what a person reads of a long run: the assistant's words as they come, one line for
// each tool, what people asked for and what became of it, and the totals at the end.
//
// # Guarantees
//
// The text depends on the events and the options alone, not on how many events come at once, or how
// fast. No line is longer than Width columns, in which wide characters count twice. A payload that
// cannot be read is reported in its place.
//
// Output is written in pieces of some 16 KiB, and the rest on Flush.
//
// # Not here
//
// What an entry is (package transcript), and its words (package phrase).
package plain
