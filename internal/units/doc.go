// Package units spells amounts for people: money, durations, tokens and sizes, with no more digits
// than say something. It is the one home of that: what a person reads, in a terminal, in an error
// or in the reason of an end, is spelled here.
package units
