package render

import "github.com/ralph-loop/ralph/internal/ground/clean"

// Clean returns foreign text for one line of a terminal: without escape sequences,
// with newlines and tabs as blanks and other control characters made visible.
func Clean(s string) string { return clean.Line(s) }

// CleanText returns a complete text from outside, cleaned, with its newlines.
func CleanText(s string) []byte { return []byte(clean.Text(s)) }

// Cleaner makes foreign text safe to print, piece by piece.
type Cleaner = clean.Cleaner
