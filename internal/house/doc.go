// Package house holds the walls of this repository, as a test:
//
//	go test ./internal/house
//
// The plan is section 7 of the design, told in docs/architecture.md: which package stands
// on which floor, which files have to be pure, where a clock may be read, and what may stand
// at the root. The test reads the plan off the source (go list and go/parser) and prints
// each offending arrow with the reason for the wall that it runs through.
//
// # Guarantees
//
// A package that the plan does not know fails the test, as does an import that runs upward.
// The plan is checked for every platform at once: files that this one does not build
// are read as well. Each kind of violation is made once, on purpose, by a test of the test.
//
// # Not here
//
// What a linter sees (.golangci.yml), and the imports of tests, which may use any room.
package house
