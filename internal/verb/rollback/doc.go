// Package rollback does what the verbs diff and rollback do: it compares the work trees that are
// kept before the iterations of a loop, and puts one back.
//
// The work trees are in git, under private refs ([keep.BeforeIteration]). The package reads them
// and the loop's state; it writes to the work tree alone, and tells the loop through its inbox.
package rollback
