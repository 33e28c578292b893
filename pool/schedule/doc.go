// Package schedule submits loops to the queue of a pool again and again.
//
// A [Schedule] is one object of the store with its specification and its last runs. The worker that
// looks first when a time has come decides what the run does, by compare and swap: exactly one
// decision is written. What was decided is then done by any worker that sees it, and may be done
// again: the ID of a run follows from its time, and putting it into the queue twice is putting it
// there once. Which times an expression means says 'ralph every next'.
package schedule
