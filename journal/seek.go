package journal

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// seek returns the position before the event seq, which may be the next one to be written. In a
// plain segment it bisects: 20 to 60 µs in place of up to 60 ms for a segment of 64 MiB
// (BenchmarkSeek), which attach and resume would wait for. An event that the journal does not have
// is a *RangeError.
func (s *source) seek(list []SegmentInfo, seq event.Seq) (Position, error) {
	if len(list) == 0 {
		if seq <= 1 {
			return Position{}, nil
		}
		return Position{}, &RangeError{Seq: seq}
	}
	// The last segment that begins at or before seq. Most callers want the newest.
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if hi == len(list) && lo < hi-1 {
			mid = hi - 1
		}
		first, err := s.firstSeq(list[mid])
		if err != nil {
			return Position{}, err
		}
		if first <= seq {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		first, err := s.firstSeq(list[0])
		if err != nil {
			return Position{}, err
		}
		return Position{}, &RangeError{Seq: seq, First: first}
	}
	return s.seekIn(list[lo-1], seq)
}

// firstSeq returns the seq of the first event of a segment.
func (s *source) firstSeq(info SegmentInfo) (event.Seq, error) {
	e, err := s.firstEvent(info)
	return e.Seq, err
}

// firstEvent returns the first event of a segment. Its checksum is not verified.
func (s *source) firstEvent(info SegmentInfo) (e event.Event, err error) {
	l, err := s.open(info, 0)
	if err != nil {
		return e, err
	}
	defer l.Close()
	seg := &eventReader{lineReader: l, segment: info.Name}
	err = seg.next(&e)
	if err == io.EOF {
		err = seg.damage(0, SegmentEmpty, "it has no complete line")
	}
	return e, err
}

// seqOf reads the seq of a line, of which only the beginning may be there.
func seqOf(line []byte) (event.Seq, bool) {
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if !bytes.HasPrefix(line, []byte(`{"v":1,"seq":`)) {
		return 0, false
	}
	e, err := event.Parse(line)
	return e.Seq, err == nil
}

// seekIn finds the position in one segment, whose first event is not after seq.
func (s *source) seekIn(info SegmentInfo, seq event.Seq) (Position, error) {
	l, err := s.open(info, 0)
	if err != nil {
		return Position{}, err
	}
	defer func() { l.Close() }()
	var start Position
	if l.packed == nil {
		if start, err = bisect(l.file, info.Name, seq); err != nil {
			return Position{}, err
		}
		l.from = &fileFrom{f: l.file, at: start.Offset}
		l.base, l.at = start.Offset, start.Offset
	}
	if start.Offset == 0 {
		first, err := s.firstSeq(info)
		if err != nil {
			return Position{}, err
		}
		start.Seq = first - 1
	}
	// The first line is not verified, since the line before it has not been read. The reader that
	// continues from here verifies what it reads.
	seg := &eventReader{lineReader: l, segment: info.Name, crc: start.CRC, seq: start.Seq}
	var e event.Event
	for seg.seq+1 < seq {
		err := seg.next(&e)
		if err == io.EOF || (err != nil && seg.torn()) {
			return Position{}, &RangeError{Seq: seq, Last: seg.seq}
		}
		if err != nil {
			return Position{}, err
		}
		if e.Seq >= seq {
			// seq jumped over it, which only the first line read can do.
			return Position{}, seg.damage(start.Offset, WrongSeq, fmt.Sprintf("it is event %d instead of event %d or an earlier one", e.Seq, seq))
		}
	}
	return seg.position(), nil
}

// bisect returns the position after a line shortly before the event seq, or the beginning. It reads
// a few kilobytes at a dozen places.
func bisect(f file, segment string, seq event.Seq) (Position, error) {
	hi, err := f.Size()
	if err != nil {
		return Position{}, fmt.Errorf("read segment %s: %w", segment, err)
	}
	best := Position{Segment: segment}
	lo := int64(0)
	p := probe{file: f, buf: make([]byte, 8<<10)}
	for hi-lo > 2*int64(len(p.buf)) {
		mid := lo + (hi-lo)/2
		at, ok, err := p.lineAfter(mid, hi)
		if err != nil {
			return Position{}, fmt.Errorf("read segment %s: %w", segment, err)
		}
		// Without a complete line between mid and hi, the search continues in the lower half.
		if !ok || at.Seq+1 > seq {
			hi = mid
			continue
		}
		at.Segment = segment
		best, lo = at, at.Offset
	}
	return best, nil
}

type probe struct {
	file file
	buf  []byte
}

// lineAfter finds the first line that ends after from and before to, and returns the position after
// it. The checksum is at the end of that line, and its seq is one less than that of the next line.
func (p *probe) lineAfter(from, to int64) (Position, bool, error) {
	end, err := p.newline(from, to)
	if err != nil || end < 0 {
		return Position{}, false, err
	}
	tail := p.buf[:32]
	begin := max(0, end-int64(len(tail)))
	if _, err := p.file.ReadAt(tail[:end-begin], begin); err != nil {
		return Position{}, false, err
	}
	crc, ok := frame.CRC(tail[:end-begin])
	if !ok {
		return Position{}, false, nil
	}
	n, err := p.file.ReadAt(p.buf, end+1)
	if err != nil && err != io.EOF {
		return Position{}, false, err
	}
	seq, ok := seqOf(p.buf[:n])
	if !ok || seq == 0 {
		return Position{}, false, nil
	}
	return Position{Offset: end + 1, Seq: seq - 1, CRC: crc}, true, nil
}

// newline returns the index of the first newline in [from, to), or -1.
func (p *probe) newline(from, to int64) (int64, error) {
	for from < to {
		n, err := p.file.ReadAt(p.buf[:min(int64(len(p.buf)), to-from)], from)
		if i := bytes.IndexByte(p.buf[:n], '\n'); i >= 0 {
			return from + int64(i), nil
		}
		from += int64(n)
		if n == 0 {
			if err == io.EOF {
				err = nil
			}
			return -1, err
		}
	}
	return -1, nil
}
