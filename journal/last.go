package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// tailBytes is the step in which the end of a segment is read.
const tailBytes = 64 << 10

// Last returns the last n events of a journal in their order, and the position after them, from
// which [Follow] continues without a gap. It reads backwards from the end: its time depends on n
// and not on the size of the journal, unless it has to go back into a compressed segment. Each line
// is verified against the one before. A journal with fewer events returns all of them. The events
// stay valid.
//
// The error for damage is a *[CorruptError]. If the damage is in a segment before the last one, the
// events after it and the position are returned with that error, since a live loop continues to
// write.
func Last(loopDir string, n int) ([]event.Event, Position, error) {
	return last(nil, loopDir, n)
}

func last(fsys fileSystem, loopDir string, n int) (events []event.Event, at Position, err error) {
	err = withSegments(fsys, loopDir, func(s *source, list []SegmentInfo) (err error) {
		events, at, err = s.last(list, n)
		return err
	})
	return events, at, err
}

func (s *source) last(list []SegmentInfo, n int) ([]event.Event, Position, error) {
	var found []event.Event // newest first
	var end Position
	for i := len(list) - 1; i >= 0 && (end.Segment == "" || len(found) < n); i-- {
		// One event at least, so that there is a position.
		want := max(n-len(found), 1)
		part, at, err := s.tail(list[i], want, i == len(list)-1)
		if _, damaged := errors.AsType[*CorruptError](err); damaged && end.Segment != "" {
			slices.Reverse(found)
			return found, end, err
		}
		if err != nil {
			return nil, Position{}, err
		}
		if len(part) == 0 {
			continue
		}
		if end.Segment == "" {
			end = at
		} else if oldest := found[len(found)-1].Seq; at.Seq+1 != oldest {
			slices.Reverse(found)
			return found, end, &CorruptError{Segment: list[i].Name, Code: WrongSeq,
				Problem: fmt.Sprintf("it ends with event %d and the next segment begins with event %d", at.Seq, oldest)}
		}
		slices.Reverse(part)
		found = append(found, part...)
	}
	found = found[:min(n, len(found))]
	slices.Reverse(found)
	return found, end, nil
}

// tail returns the last n events of one segment, oldest first.
func (s *source) tail(info SegmentInfo, n int, last bool) ([]event.Event, Position, error) {
	l, err := s.open(info, 0)
	if err != nil {
		return nil, Position{}, err
	}
	defer l.Close()
	if l.packed != nil {
		return tailOfPacked(&eventReader{lineReader: l, segment: info.Name, verify: true}, n)
	}
	size, err := l.file.Size()
	if err != nil {
		return nil, Position{}, fmt.Errorf("read segment %s: %w", info.Name, err)
	}
	return tailOf(l.file, info, size, n, last)
}

// tailOf returns the last n events before an offset.
func tailOf(f file, info SegmentInfo, end int64, n int, last bool) ([]event.Event, Position, error) {
	b := &backward{file: f, start: end}
	// Three lines more than wanted, as far as there are any: one seeds the checksum of the oldest
	// wanted line, one may be a torn line at the end, and one may begin before the bytes read.
	for lines := 0; lines < n+3 && b.start > 0; {
		more, err := b.read()
		if err != nil {
			return nil, Position{}, fmt.Errorf("read segment %s: %w", info.Name, err)
		}
		lines += more
	}
	return b.events(info, n, last)
}

// backward contains the end of a file and grows towards its beginning.
type backward struct {
	file  file
	buf   []byte // the bytes are at its end, from skip on
	skip  int
	start int64 // offset of buf[skip] in the file
}

// read adds one step and returns how many newlines it contains.
func (b *backward) read() (int, error) {
	step := int(min(tailBytes, b.start))
	if b.skip < step {
		have := len(b.buf) - b.skip
		grown := make([]byte, max(2*len(b.buf), have+tailBytes))
		copy(grown[len(grown)-have:], b.buf[b.skip:])
		b.skip = len(grown) - have
		b.buf = grown
	}
	part := b.buf[b.skip-step : b.skip]
	if n, err := b.file.ReadAt(part, b.start-int64(step)); n < step {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // it was cut meanwhile
		}
		return 0, err
	}
	b.skip -= step
	b.start -= int64(step)
	return bytes.Count(part, []byte{'\n'}), nil
}

// events reads the bytes forward from the first complete line.
func (b *backward) events(info SegmentInfo, n int, last bool) ([]event.Event, Position, error) {
	text := b.buf[b.skip:]
	seg := &eventReader{segment: info.Name, verify: true, lineReader: &lineReader{
		file: b.file, buf: text, w: len(text), at: b.start, base: b.start,
	}}
	if b.start > 0 {
		line, err := seg.lineReader.next()
		if err != nil {
			return nil, Position{}, nil // one torn line, longer than all that was read
		}
		crc, ok := frame.CRC(line)
		if !ok {
			// Reading began within the checksum of this line. The next line is complete.
			start := seg.at
			if line, err = seg.lineReader.next(); err != nil {
				return nil, Position{}, nil
			}
			if crc, ok = frame.CRC(line); !ok {
				return nil, Position{}, seg.damage(start, NoChecksum, "it has no checksum")
			}
		}
		seg.crc = crc
	}
	var found []event.Event
	for {
		var e event.Event
		err := seg.nextOf(&e, last)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, Position{}, err
		}
		found = append(found, e)
	}
	return found[max(0, len(found)-n):], seg.position(), nil
}

func tailOfPacked(seg *eventReader, n int) ([]event.Event, Position, error) {
	ring := make([]event.Event, 0, min(n, 1024))
	for count := 0; ; count++ {
		var e event.Event
		err := seg.nextOf(&e, false)
		if err == io.EOF {
			if len(ring) == n {
				at := count % n
				ring = slices.Concat(ring[at:], ring[:at])
			}
			return ring, seg.position(), nil
		}
		if err != nil {
			return nil, Position{}, err
		}
		if len(ring) < n {
			ring = append(ring, e.Clone())
		} else {
			ring[count%n] = e.Clone()
		}
	}
}
