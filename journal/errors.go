package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// CorruptError reports that a journal does not contain what was written to it. Line counts from 1
// within the segment and is 0 if no single line is meant. Offset is where that line begins, in
// the uncompressed bytes of the segment.
type CorruptError struct {
	Segment string
	Line    int
	Offset  int64
	Code    Code // for programs
	Problem string
}

// Code names a kind of damage. docs/reference/format.md has the requirement that each belongs to.
// Of several faults of one line, the first in this order counts.
type Code string

// The codes of damage.
const (
	NotJSON       Code = "not-json"
	NotObject     Code = "not-object"
	WrongVersion  Code = "version"
	WrongEnvelope Code = "envelope"
	SeqIsZero     Code = "seq-zero"
	WrongSeq      Code = "seq"
	NoChecksum    Code = "no-checksum"
	WrongChecksum Code = "checksum"
	AfterSeal     Code = "after-seal"
	WrongOpening  Code = "opening"
	BadSeal       Code = "seal"
	SealCounts    Code = "seal-counts"
	SealHash      Code = "seal-hash"
	PrevName      Code = "prev-name"
	PrevHash      Code = "prev-hash"
	BlobMissing   Code = "blob-missing"
	BlobChanged   Code = "blob-changed"

	// Of segments.
	NoSegment        Code = "no-segment"
	SameOrdinal      Code = "same-ordinal"
	SegmentMissing   Code = "segment-missing"
	SegmentEmpty     Code = "segment-empty"
	SegmentCut       Code = "segment-cut"
	WrongCompression Code = "compression"
)

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

// Hint is the next step for a person.
func (e *CorruptError) Hint() string {
	return "run 'ralph journal verify' on the loop to see every damaged place"
}

// VanishedError reports that another process removed, moved or replaced a file that the writer has
// open. What is appended can no longer be read, so the writer has failed for good. It satisfies
// errors.Is with fs.ErrNotExist.
type VanishedError struct {
	Path string // of the open segment or of the folder of blobs
}

func (e *VanishedError) Error() string {
	return e.Path + " was removed, moved or replaced while it was being written"
}

// Unwrap returns fs.ErrNotExist.
func (e *VanishedError) Unwrap() error { return fs.ErrNotExist }

// ErrBusy is the error of [Recover] and [Create] on a journal that another writer has open, in this
// process or another one.
var ErrBusy = errors.New("another process has the journal open for writing")

// ErrNoSegment is the error of [Verify] on a journal that has no segment.
var ErrNoSegment = errors.New("the journal has no segment: its files were removed, or the loop never began")

// CodeOf returns the code of an error of this package; empty for one that is not about damage.
func CodeOf(err error) Code {
	if damage, ok := errors.AsType[*CorruptError](err); ok {
		return damage.Code
	}
	if errors.Is(err, ErrNoSegment) {
		return NoSegment
	}
	return ""
}

// RangeError reports that the journal does not contain an event, or no longer contains it. First
// and Last are the numbers of the events that it contains; both are 0 in an empty journal.
type RangeError struct {
	Seq, First, Last event.Seq
}

func (e *RangeError) Error() string {
	if e.Seq < e.First {
		return fmt.Sprintf("event %d was dropped: the journal begins with event %d", e.Seq, e.First)
	}
	return fmt.Sprintf("event %d has not been written: the journal ends with event %d", e.Seq, e.Last)
}
