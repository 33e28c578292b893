// Package units spells amounts for people: money, durations, tokens and sizes, with no more digits
// than say something. All amounts that a person reads, in a terminal, in an error or in the reason
// of an end, are spelled here.
package units
