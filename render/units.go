package render

import (
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Tokens formats a number of tokens: 999, 1.2k, 45M.
func Tokens(n int64) string { return units.Tokens(n) }

// Cost formats an amount in USD. An unknown amount is not 0.
func Cost(usd *float64) string { return units.Cost(usd) }

// Span formats a duration with its two largest units: 0.3s, 6m7s, 1h20m, 2d3h.
func Span(d time.Duration) string { return units.Span(d) }

// Bytes formats a size: 512 B, 2.1 kB, 3.0 MB.
func Bytes(n int64) string { return units.Bytes(n) }
