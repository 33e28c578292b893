// Package review does what the verb review does: a person goes through what a loop made, item after
// item, and approves it, sends it back with words, or puts a file back to how it was before.
//
//	desk := review.New(e)
//	list, err := desk.List(ctx, loop)
//	said, err := desk.Act(ctx, loop, reading.Act{Do: reading.Approve, Item: list.Items[0].ID})
//
// What there is to read, and in which order, is package reading. The changed files are what git
// says of the work trees that are kept before the iterations. list.go has the verb without a
// screen, model.go and screen.go the screen.
//
// # Guarantees
//
//   - A decision is about a content that is in the list now: the id of another one is refused.
//   - A file goes back only through package keep, and what was there is named.
//   - A decision is recorded after what it asks for was done.
package review
