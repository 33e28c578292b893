// Mutate asks how much of what packages do their tests would notice: it changes one thing at a
// time and runs the tests against it. A change that no test notices is a sentence of the
// program that nobody has checked.
//
//	go run ./mutate -dir .. -mutate internal/policy,internal/loop \
//		-test internal/policy -test 'internal/loop -test.run=Trace' -least 85
//
// All changes are compiled into the test binaries at once, each behind a switch that an
// environment variable turns on; a mutant costs a run of the tests, and no build. The source
// tree is not touched: what is compiled is laid over it (go build -overlay). A mutant that
// a test binary does not reach is not run with it.
//
// What is changed: a condition is negated; < becomes <= and so on; && becomes ||; numbers
// grow; + becomes -, * becomes /; a named string constant becomes another one (which also takes a
// case out of a switch); true becomes false; a statement is left out; and of a table (a
// slice literal of the package) a row is left out, or two neighbours change places.
//
// A test that never ends counts as one that failed. The exit code is 1 where fewer mutants than
// -least percent are noticed, and 2 where the tests fail without any.
package main
