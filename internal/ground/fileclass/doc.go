// Package fileclass says what a file is for, by its path and how it begins: the program, its tests,
// what configures these, recorded outputs, or what a person does not write.
//
//	switch fileclass.Classify("pkg/cart_test.go", beginning) {
//	case fileclass.Test:
//		…
//	}
//
// # Guarantees
//
// It is pure, and knows the conventions of Go, Python, TypeScript and JavaScript, shell, Rust,
// Java, Kotlin, C#, C, C++, Ruby, PHP, Swift, Scala, Dart and Elixir. At most [Beginning] bytes
// matter. A file that is only there for tests, such as a fixture, is a test whatever its format.
//
// # Not here
//
// What the content of a test says: internal/effect/prove/gaming.
package fileclass
