package loop

import "github.com/ralph-loop/ralph/internal/policy"

// Take does with one input what Run does.
func (d *Driver) Take(in Input) error { return d.take(in) }

// Fire does what Run does when the timer for a deadline goes off.
func (d *Driver) Fire(deadline policy.Deadline) error { return d.fire(deadline) }
