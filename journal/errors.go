package journal

import (
	"fmt"
	"strings"
)

// CorruptError says that a journal does not hold what was written to it. Line
// counts from 1 within the segment and is 0 where no single line is meant; Offset
// is where that line begins, in the uncompressed bytes of the segment.
type CorruptError struct {
	Segment string
	Line    int
	Offset  int64
	Problem string
}

func (e *CorruptError) Error() string {
	var b strings.Builder
	b.WriteString("journal ")
	b.WriteString(e.Segment)
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d (at byte %d)", e.Line, e.Offset)
	}
	b.WriteString(": ")
	b.WriteString(e.Problem)
	return b.String()
}

// Hint says what a person can do.
func (e *CorruptError) Hint() string {
	return "run 'ralph journal verify' on the loop to see every damaged place"
}

// RangeError says that an event is not in the journal (any more): First and Last
// are the numbers of the events that are. Both are 0 in an empty journal.
type RangeError struct {
	Seq, First, Last uint64
}

func (e *RangeError) Error() string {
	if e.Seq < e.First {
		return fmt.Sprintf("event %d was dropped: the journal begins with event %d", e.Seq, e.First)
	}
	return fmt.Sprintf("event %d has not been written: the journal ends with event %d", e.Seq, e.Last)
}
