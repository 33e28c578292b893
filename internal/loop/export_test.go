package loop

import (
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// Rules are the names of the table's rules.
func Rules() (names []string) {
	for _, row := range table {
		names = append(names, row.name)
	}
	return names
}

// Take does with one input what Run does.
func (d *Driver) Take(in Input) error { return d.take(in) }

// Fire does what Run does when the timer for a deadline goes off.
func (d *Driver) Fire(deadline policy.Deadline) error { return d.fire(deadline) }

// Jumped does what Run does when it wakes up, before anything else: it waited for so long by the wall
// clock, which went further than the one that stands still in sleep, by as much as by.
func (d *Driver) Jumped(waited, by time.Duration, deadline policy.Deadline) error {
	return d.jumped(d.Now(), waited, by, deadline)
}
