// Mutate is a mutation tester: it changes one thing at a time in Go packages and runs tests against
// it. A mutant that no test notices survives, and is listed.
//
//	mutate -dir . -mutate pkg/a,pkg/b -test pkg/a -test 'pkg/c -test.run=TestAPI' -least 85
//
// All mutants are compiled into the test binaries at once, and an environment
// variable turns one on: a mutant costs a run of the tests, and no build. The source tree is not
// written: the mutants are in an overlay (go build -overlay). A test binary that does not reach a
// mutant is not run with it.
//
// Mutations: a condition is negated; < becomes <= and so on; && becomes ||; numbers grow; + becomes
// -, * becomes /; a named string constant becomes another one; true becomes false; a statement is
// left out; a row of a table (a slice literal of the package) is left out, or two neighbours are
// swapped.
//
// A test that does not end counts as a failed one. The exit code is 1 if fewer mutants than -least
// percent are killed, and 2 if the tests fail without a mutant.
package main
