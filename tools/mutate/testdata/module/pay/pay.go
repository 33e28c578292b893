// Package pay is what the mutants of a test are made of.
package pay

import "time"

// Kind of a customer.
type Kind string

// The kinds.
const (
	Friend   Kind = "friend"
	Stranger Kind = "stranger"
)

var steps = []int{10, 20, 30}

// Price of so many pieces.
func Price(n int, kind Kind, urgent bool) int {
	total := n * 7
	switch kind {
	case Friend:
		total -= 5
	case Stranger:
		total++
	}
	if n > 3 && !urgent {
		total = total - 1
	}
	for _, step := range steps {
		if total >= step {
			continue
		}
		return total
	}
	return 99
}

// Wait is how long a customer waits.
func Wait(kind Kind) time.Duration {
	if kind == Friend {
		return 0
	}
	return 2 * time.Minute
}

// Unused is reached by no test.
func Unused(a, b bool) bool { return a || b }
