// Package archtest tests the structure of this repository:
//
//	go test ./internal/archtest
//
// The plan (plan_test.go, described in docs/concepts/architecture.md) says which layer a package
// belongs to, which files are pure, where the clock may be read, and which packages are at the
// root. The test reads the source (go list and go/parser) and prints each offending import with the
// reason for the rule that it breaks. words_test.go checks the words of comments, help and pages,
// the length of test names, and the width of comments.
//
// # Guarantees
//
// A package without a rule fails the test, and so does an import that runs upward. The files of
// every platform are checked at once. For each kind of violation one test makes it on purpose.
//
// # Not here
//
// What a linter checks (.golangci.yml), and the imports of tests, which may use any package.
package archtest
