package units

import (
	"fmt"
	"strconv"
)

// Count says how many iterations a loop has begun, how many of these were refunded, and how many it
// may use. An iteration is used when it has begun and is not refunded, even if it is still open.
// The number of the last iteration is how many have begun.
type Count struct {
	Begun    int
	Refunded int
	Maximum  int // 0: no limit
}

// Used is how many of the maximum are used.
func (c Count) Used() int { return c.Begun - c.Refunded }

// Short spells what is used, for a column: 3/10, or 1/10 (2 refunded).
func (c Count) Short() string {
	text := strconv.Itoa(c.Used())
	if c.Maximum > 0 {
		text += "/" + strconv.Itoa(c.Maximum)
	}
	if c.Refunded > 0 {
		text += fmt.Sprintf(" (%d refunded)", c.Refunded)
	}
	return text
}

// Number spells the number of the last iteration, and how many are used if that is different: 3 of
// 10, or 3 (1 of 10 used, 2 refunded).
func (c Count) Number() string {
	switch {
	case c.Maximum == 0 && c.Refunded == 0:
		return strconv.Itoa(c.Begun)
	case c.Maximum == 0:
		return fmt.Sprintf("%d (%d refunded)", c.Begun, c.Refunded)
	case c.Refunded == 0:
		return fmt.Sprintf("%d of %d", c.Begun, c.Maximum)
	}
	return fmt.Sprintf("%d (%d of %d used, %d refunded)", c.Begun, c.Used(), c.Maximum, c.Refunded)
}

// Iterations spells how many are used: 3 iterations, or 1 iteration (2 more refunded).
func (c Count) Iterations() string {
	text := strconv.Itoa(c.Used()) + " iterations"
	if c.Used() == 1 {
		text = "1 iteration"
	}
	if c.Refunded > 0 {
		text += fmt.Sprintf(" (%d more refunded)", c.Refunded)
	}
	return text
}
