// Package cast writes recordings of a terminal in the format asciicast v3, which the asciinema
// player plays.
//
//	w := cast.NewWriter(file, cast.Header{Columns: 100, Rows: 30, Title: "demo"})
//	w.Marker(0, "iteration 1")
//	w.Output(40*time.Millisecond, "One.\r\n")
//	w.Exit(2*time.Second, 0)
//	err := w.Close()
//
// A recording is one JSON line for its header and one for each event: the seconds since the event
// before, what it is, and a text. https://docs.asciinema.org/manual/asciicast/v3 describes it.
//
// A [Screen] writes the frames of a program that draws on the whole terminal, as changes of rows.
//
// # Guarantees
//
// Intervals are in milliseconds, and their sum is never more than half of one off. A Screen never
// clears the terminal: it writes the rows that changed, between synchronized-output marks.
//
// # Not here
//
// What is on the screen (packages render and tui), and when (package playback).
package cast
