// Package calendar says at which times a schedule is due: expressions as people and systemd write
// them, and the times that they mean in a time zone.
//
//	every, err := calendar.Parse("mon-fri 01:00")
//	for at := range every.Times(after, berlin) { … }
//
// # When clocks change
//
// An expression that names hours is due once in a day for each of its times: a time that the clock
// skips is due when the clock has been put forward, and one that it shows twice the first time. One
// that means every hour follows real time: nothing is added, and both passes of an hour count.
package calendar
