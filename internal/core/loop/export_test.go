package loop

import (
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Rules are the names of the table's rules.
func Rules() (names []string) {
	for _, row := range table {
		names = append(names, row.name)
	}
	return names
}

// Take does with one input what Run does.
func (d *Driver) Take(in Input) error { return d.handle(in) }

// Fire does what Run does when the timer for a deadline goes off.
func (d *Driver) Fire(deadline policy.Deadline) error { return d.fire(deadline) }

// Jumped does what Run does first when it wakes up, after it waited for that long by the
// wall clock, which advanced by that much more than the monotonic clock.
func (d *Driver) Jumped(waited, by time.Duration, deadline policy.Deadline) error {
	return d.recordJump(d.Now(), waited, by, deadline)
}
