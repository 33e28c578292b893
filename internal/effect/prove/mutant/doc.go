// Package mutant makes small changes of a program, for any language, on its text.
//
//	for _, m := range mutant.Find("cart.go", content, changed) { // lines that may differ
//		text, ok := mutant.Apply(content, m)
//	}
//
// The operators: a negated condition, a swapped comparison, swapped arithmetic, a swapped and or
// or, a changed constant, a removed statement, an early return, an emptied body.
//
// # Guarantees
//
//   - It is pure, and the same text gives the same mutants in the same order.
//   - A mutant differs in code: never in a comment, nor in white space alone; in a string only
//     where the string is the constant that changes. Brackets stay balanced.
//
// Mutants that no test can notice say nothing of the tests. What is likely to give one is left out:
// imports, annotations, types, log lines, the texts of errors, times to wait, capacities.
//
// # Not here
//
// Which lines may differ, which mutants are tried, and whether one builds: internal/effect/prove. A
// language without an entry in the table gets what the text alone allows.
package mutant
