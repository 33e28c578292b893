// Package every runs loops again and again at the times of a schedule, without a daemon.
//
// [Make] writes a [Schedule] into ralph's home and gives systemd or launchd a timer that calls
// [Run]. The timer only says when to look: whether a run is due, and how many were missed, follows
// from the schedule and from the record of its runs, so that a timer that fires twice, late or at
// another time does no harm. What happens while the loop of the run before is still alive is
// [Decide].
package every
