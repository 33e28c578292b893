// Durability asks of every sync and every rename whether a test would notice that it is missing.
//
//	go run ./durability -dir ..
//
// The table in mutants.txt has a row for each call: what is lost without it, the mutants (the call
// left out, or moved after what depends on it), and the test that has to fail on each of them. A
// mutant is laid over the tree (go build -overlay); the tree is not touched. A row whose text is
// not in its file exactly once is an error, and so is a call that no row has. -docs writes
// docs/reference/durability.md; without it, that file has to be as it would be written.
//
// The exit code is 1 where a mutant is not noticed, and 2 where the table or the tests are wrong.
package main
