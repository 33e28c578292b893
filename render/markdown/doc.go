// Package markdown lays out Markdown for a terminal of a given width: as lines of styled spans,
// without colours.
//
//	for _, line := range markdown.Render(text, markdown.Options{Width: 80}) {
//		for _, span := range line {
//			print(span.Text, span.Style)
//		}
//	}
//
// It reads CommonMark with the tables, task lists, strikethrough and bare addresses of GitHub. Two
// things differ, so that a text that is still being written keeps what is shown: a line break in a
// paragraph stays one, and a link whose address is defined elsewhere stays as it is written.
//
// # Guarantees
//
// No line is wider than the width, counted as package render does; a width below [Narrowest] is
// taken for that. Spans have no control characters. Time is linear in the length of the text, and
// depth is bounded, whatever the text nests.
//
// A [Stream] shows the same lines as [Render] does of all its text, however the text was cut in
// pieces.
//
// # Not here
//
// Colours (package theme), and HTML (package markup).
package markdown
