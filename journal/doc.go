// Package journal keeps the events of a loop in its folder: one JSON line each, in segments that
// only grow, by one writer, for any number of readers.
//
// # Reading
//
//	for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{}) {
//		…                                                    // from any process
//	}
//
// [Read], [ReadStream] and [Last] return events of a journal, [Follow] waits for more. [Segments],
// [Head], [DroppedFrom] and [Verify] describe and check the files.
//
// # Writing
//
// One process per loop, the runner, appends. It holds the lock of the loop, and no other program
// may use this half of the package:
//
//	rec, err := journal.Recover(dir, opt)
//	w, opened, err := journal.Create(dir, rec, 0, state, opt) // a new segment
//	events, err := w.Append(drafts)                           // one write(2)
//	err = w.Sync()                                            // before what cannot be undone
//	err = w.Close()                                           // sealed
//
// # Files
//
// The folder of a loop contains
//
//	journal/000007-i0003.jsonl         a segment: its ordinal, and the iteration it began in
//	journal/000006-i0002.jsonl.zst     an older one, compressed
//	journal/000006-i0002.jsonl.torn-1  a torn line that was cut off it
//	blobs/<sha256>                     a text too long for a line
//	notify                             written to when there is something to read
//
// The first line of a segment is segment.opened, with the state so far as a checkpoint and the name
// and SHA-256 of the segment before. The last is segment.sealed, with the count and SHA-256 of all
// lines before it, unless the writer died. Each line has a CRC-32C that is seeded with that of the
// line before, 0 for the first of a segment.
//
// # Guarantees
//
// What Append returned has left the process: killing it loses nothing. What was appended before a
// successful Sync survives a loss of power. Recover cuts off a torn line at the end, which no
// reader has returned, and what a loss of power left of unsynced lines. It keeps and reports those
// bytes. Nothing else is ever removed, changed or skipped in silence.
//
// Readers get every event, in order and once, or an error that names segment and line. They take no
// lock and write nothing, and the writer does not wait for them.
//
// An idle writer holds some kilobytes and no timer; a reader holds one buffer of 256 KiB, or of its
// longest line.
//
// A journal of version 1 can be read by every later version: see testdata/v1. New types of events,
// new fields in them and new files need no new version.
//
// # Not here
//
// The lock of a loop (package registry), the meaning of events (package journal/event), the state
// that they add up to (package projector), and commands to a loop (package inbox).
package journal
