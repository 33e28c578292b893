package journal

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/journal/event"
)

// Seek returns the position before the event seq: reading on from it begins with
// that event, which may be the next one to be written. It bisects the segment, so
// that it takes microseconds whatever the size; a compressed one has to be read up
// to the place. An event that the journal does not have is a *[RangeError].
func Seek(loopDir string, seq uint64) (Position, error) {
	s, err := openSource(nil, loopDir)
	if err != nil {
		return Position{}, err
	}
	defer s.Close()
	var at Position
	err = s.listed(func(list []SegmentInfo) (err error) {
		at, err = s.seek(list, seq)
		return err
	})
	return at, err
}

func (s *source) seek(list []SegmentInfo, seq uint64) (Position, error) {
	if len(list) == 0 {
		if seq <= 1 {
			return Position{}, nil
		}
		return Position{}, &RangeError{Seq: seq}
	}
	// The last segment that begins at or before seq. Most want the newest.
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

// firstSeq returns the seq of a segment's first event.
func (s *source) firstSeq(info SegmentInfo) (uint64, error) {
	l, err := s.open(info, 0)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	l.buf = make([]byte, 4<<10) // a checkpoint is longer, but seq stands before it
	seg := &events{lines: l, segment: info.Name}
	if err := l.fill(); err != nil && err != io.EOF {
		return 0, seg.failed(0, err)
	}
	if seq, ok := seqOf(l.rest()); ok {
		return seq, nil
	}
	var e event.Event
	if err := seg.next(&e); err != nil {
		if err == io.EOF {
			err = seg.damage(0, "it has no whole line")
		}
		return 0, err
	}
	return e.Seq, nil
}

// seqOf reads the seq of a line of which only the beginning may be there.
func seqOf(line []byte) (uint64, bool) {
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if !bytes.HasPrefix(line, []byte(`{"v":1,"seq":`)) {
		return 0, false
	}
	e, err := event.Parse(line)
	return e.Seq, err == nil
}

// seekIn finds the place in one segment, of which seq is not before the first
// event.
func (s *source) seekIn(info SegmentInfo, seq uint64) (Position, error) {
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
	// The first line behind the start is not verified where its predecessor has
	// not been read; the reader that goes on from here verifies what it reads.
	seg := &events{lines: l, segment: info.Name, crc: start.CRC, seq: start.Seq}
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
			return Position{}, seg.damage(start.Offset, fmt.Sprintf("event %d stands where event %d or one before it belongs", e.Seq, seq))
		}
	}
	return seg.position(), nil
}

// bisect returns the place behind a line shortly before the event seq, or the
// beginning. It reads a few kilobytes at a dozen places.
func bisect(f File, segment string, seq uint64) (Position, error) {
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
		// Without a whole line between mid and hi, or before the place, the
		// search goes on in the lower half.
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
	file File
	buf  []byte
}

// lineAfter finds the first line that ends behind from and before to, and returns
// the place behind it, as that line itself tells: its checksum stands at its end,
// and its seq is one less than that of the line which follows.
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
	crc, ok := event.CRC(tail[:end-begin])
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

// newline returns where the first newline in [from, to) stands, or -1.
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
