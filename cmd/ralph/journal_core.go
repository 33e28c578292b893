//go:build ralph_core

package main

// journalFeatures are the parts of the verb that the complete program has.
type journalFeatures struct{}
