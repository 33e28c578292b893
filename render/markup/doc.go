// Package markup shows the entries of a transcript as fragments of HTML, the same for the report
// and for the web page.
//
//	for _, entry := range b.Take() {
//		if err := markup.Entry(w, entry, markup.Options{}); err != nil {
//			return err
//		}
//	}
//
// An entry is an <article> with the id "seq-N", where N is the number of its first event. The
// number alone is the id of the line that the event N is shown on, so that a link ends in #N.
// A page needs the text of [Stylesheet].
//
// # Guarantees
//
// No text of an agent, a tool or a file becomes a tag, an attribute or a script. Its Markdown
// becomes headings, lists, tables, code and links; links lead to http, https and mailto only, and
// an image is a link. Nothing is loaded from anywhere. There are no style attributes, no scripts
// and no handlers of events, so that a page may have the strictest content security policy.
//
// The fragments are well-formed XML, too. The same entry and options give the same bytes.
//
// # Not here
//
// What an entry says (package transcript), complete pages (packages report and web).
package markup
