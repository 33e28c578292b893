package render

import (
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
)

// Tokens spells a number of tokens: 999, 1.2k, 45M.
func Tokens(n int64) string { return units.Tokens(n) }

// Cost spells an amount in USD. An unknown one is not nothing.
func Cost(usd *float64) string { return units.Cost(usd) }

// Span spells a duration with its two largest units: 0.3s, 6m7s, 1h20m, 2d3h.
func Span(d time.Duration) string { return units.Span(d) }

// Bytes spells a size: 512 B, 2.1 kB, 3.0 MB.
func Bytes(n int64) string { return units.Bytes(n) }

// count spells a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
