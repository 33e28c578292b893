// Package report says what a loop came to: why it ended, what it cost, what each iteration did,
// where it stopped being useful, and what needs a person.
//
//	r, err := report.Read(dir, report.Options{})
//	if err != nil {
//		return err
//	}
//	r.Judge(report.Facts{Name: "demo"})
//	err = report.HTML(w, r, dir, report.PageOptions{})
//
// A [Report] is a fold of the events. [HTML], [Markdown] and its JSON show one loop, and an
// [Overview] many.
//
// # Guarantees
//
// The same events give the same report. What is not known is not 0: a cost that is known in part is
// "at least" that much.
//
// A page is one file that loads nothing: its content security policy allows its own style and
// script and nothing else. Its memory and size are bounded, whatever the size of the journal: the
// first, the last and the failed iterations are shown in full as far as the bound allows, the
// others as a summary with the command that shows them.
//
// # Not here
//
// How entries look (package markup), which loops there are (package registry), files and flags
// (package reporting).
package report
