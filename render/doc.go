// Package render has what all views of a loop share: foreign text made safe, columns and lines,
// amounts, one line for each event, and the folders below it that show loops.
//
//	phrase        what an event means in words
//	transcript    what a person reads of a loop, as entries
//	plain         the entries as text, for a terminal, a pipe or a file
//	conversation  the entries on a full screen
//	markup        the entries as HTML
//	report        what a loop came to
//
// [Log] is one line for each event, of whatever type, with the fields of its data. [Steps] is one
// line for each step of a loop, beside another view.
//
// # Guarantees
//
// What is shown depends on the events and the options alone, not on how many events come at once,
// or how fast.
//
// Of the control characters in the text of an agent, a tool or a file, only newlines reach the
// terminal, and tabs if there is no Width. Escape sequences are removed; other control characters,
// and the marks that reorder a line, are replaced by visible ones. The escape sequences of
// [Options.Color] are this package's own. A [Log] needs at least 77 columns.
//
// # Not here
//
// Reading journals (package journal), the state of a loop (package projector), terminals and their
// modes. Secrets are masked before a journal has them.
package render
