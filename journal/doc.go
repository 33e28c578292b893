// Package journal keeps a loop's events in its folder: one JSON line each, in
// segments that only ever grow, by one writer, for any number of readers.
//
//	rec, err := journal.Recover(dir, opt)                       // holding the loop's lock
//	w, opened, err := journal.Create(dir, rec, 0, state, opt)   // a new segment
//	events, err := w.Append(drafts)                             // one write(2)
//	err = w.Sync()                                              // before what cannot be undone
//	err = w.Close()                                             // sealed
//
//	for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{}) {
//		…                                                   // in this process or another
//	}
//
// The folder of a loop holds
//
//	journal/000007-i0003.jsonl      a segment: its ordinal, and the iteration it began in
//	journal/000006-i0002.jsonl.zst  one that lies behind, compressed
//	journal/000006-i0002.jsonl.torn-1  an unfinished line that was cut off it
//	blobs/<sha256>                  a text too long for a line
//	bell                            written to when there is something to read
//
// The first line of a segment is segment.opened, with the state so far as a
// checkpoint and the name and SHA-256 of the segment before; the last is
// segment.sealed, with the count and SHA-256 of all lines before it, unless its
// writer died. Each line carries a CRC-32C that begins with that of the line
// before, 0 for the first of a segment.
//
// # Guarantees
//
// What Append returned has left the process: killing it loses nothing. What was
// appended before a Sync that succeeded outlasts a loss of power. Recover cuts off
// an unfinished last line, which nobody was ever shown, and what a loss of power left
// of lines that were never synced; it keeps those bytes, and says so. Nothing else is
// ever removed, changed or skipped in silence.
//
// Readers get every event, in order and once, or an error that names segment and
// line. They take no lock and write nothing, and the writer does not wait for
// them: a hundred followers are woken through the bell by another goroutine.
//
// Memory: a writer that idles holds some kilobytes and no timer; a reader holds
// one buffer of 256 KiB, or of its longest line.
//
// A file that version 1 wrote can be read for ever: see testdata/v1. What may come
// without a new version: types of events, fields in them, and file names that no
// reader knows.
//
// # Not here
//
// The lock on a loop (package registry), what events say (package journal/event)
// and add up to (package projector), and commands to a loop (package inbox).
package journal
