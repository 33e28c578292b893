package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	firstBytes = 16 << 10  // the first read: most who look at a journal want little
	readBytes  = 256 << 10 // one read from then on; it and what is made of it stay in the second-level cache
	keepBytes  = 1 << 20   // a buffer that grew beyond this for one line is let go
	maxLine    = 1 << 30   // no line of a journal; a bound on what a damaged file can make a reader allocate
)

// lines cuts a segment into lines. It stands for one buffer, which every line
// shares and the next call overwrites.
type lines struct {
	file   File
	from   io.Reader // nil where buf holds all there is
	packed *unpacker // set where from decompresses

	buf     []byte
	r, w    int // buf[r:w] is read and not handed out
	scanned int // of those, known to hold no newline

	at    int64 // offset of buf[r] in the segment
	base  int64 // where reading began
	count int   // lines handed out since
}

// next returns the next whole line without its newline, or io.EOF: then more may
// come, and the beginning of a line is kept for when it does.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.r+l.scanned:l.w], '\n'); i >= 0 {
			end := l.r + l.scanned + i
			line := l.buf[l.r:end]
			l.at += int64(end + 1 - l.r)
			l.r = end + 1
			l.scanned = 0
			l.count++
			return line, nil
		}
		l.scanned = l.w - l.r
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

func (l *lines) fill() error {
	if l.from == nil {
		return io.EOF // everything is in buf, and events share it: nothing may move
	}
	full := l.w == len(l.buf)
	switch {
	case l.r == l.w:
		l.r, l.w = 0, 0
		switch {
		case len(l.buf) == 0:
			l.buf = make([]byte, firstBytes)
		case full && len(l.buf) < readBytes, len(l.buf) > keepBytes:
			l.buf = make([]byte, readBytes)
		}
	case !full:
	case len(l.buf) >= readBytes && l.r > 0:
		l.w = copy(l.buf, l.buf[l.r:l.w])
		l.r = 0
	case l.w-l.r >= maxLine:
		return fmt.Errorf("a line of more than %d bytes", maxLine)
	default:
		grown := make([]byte, max(2*len(l.buf), readBytes))
		l.w = copy(grown, l.buf[l.r:l.w])
		l.r = 0
		l.buf = grown
	}
	n, err := l.from.Read(l.buf[l.w:])
	l.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.EOF
	}
	return err
}

// rest returns what stands behind the last newline that was read.
func (l *lines) rest() []byte { return l.buf[l.r:l.w] }

// back takes back the line that next returned last.
func (l *lines) back(line []byte) {
	n := len(line) + 1
	l.r -= n
	l.at -= int64(n)
	l.count--
	l.scanned = 0
}

func (l *lines) Close() error {
	if l.packed != nil {
		l.packed.close()
	}
	return l.file.Close()
}

// events reads the lines of one segment as events and holds them against each
// other: the chain of checksums and the density of seq.
type events struct {
	*lines
	segment string
	verify  bool
	crc     uint32 // of the last line
	seq     uint64 // of the last event; 0 before the first
}

// next reads one event into e. A *CorruptError leaves the line unread.
func (r *events) next(e *event.Event) error {
	start := r.at
	line, err := r.lines.next()
	if err != nil {
		if err == io.EOF {
			return io.EOF
		}
		return r.failed(start, err)
	}
	crc, carried := uint32(0), true
	if r.verify {
		crc, carried = event.Verify(line, r.crc)
	} else {
		crc, _ = event.CRC(line)
	}
	if carried {
		*e, err = event.Parse(line)
		if err == nil && (e.Seq == r.seq+1 || r.seq == 0 && e.Seq > 0) {
			r.crc, r.seq = crc, e.Seq
			return nil
		}
	}
	problem := r.problem(line)
	r.back(line)
	return r.damage(start, problem)
}

// problem says what is wrong with a line, for a person.
func (r *events) problem(line []byte) string {
	e, err := event.Parse(line)
	if err != nil || !jsonscan.Valid(line) {
		if jsonscan.Valid(line) {
			return err.Error()
		}
		return "it is not JSON"
	}
	if e.Seq == 0 {
		return "its seq is 0, and the first is 1"
	}
	if r.seq != 0 && e.Seq != r.seq+1 {
		return fmt.Sprintf("event %d stands where event %d belongs", e.Seq, r.seq+1)
	}
	if _, ok := event.CRC(line); !ok {
		return "it carries no checksum"
	}
	return "its checksum does not fit: it or the line before it is not what was written"
}

// torn reports whether what stands at the end of the bytes read so far is a
// line that was never finished, and not damage: it has no newline, or it is not
// JSON and the last one, or a part of it never reached the disk. It is to be asked
// about the last segment only, after io.EOF or a *CorruptError.
func (r *events) torn() bool {
	line, err := r.lines.next()
	if err != nil {
		return err == io.EOF && r.packed == nil
	}
	defer r.back(line)
	if r.packed != nil || jsonscan.Valid(line) {
		return false
	}
	if unwritten(line, r.at-int64(len(line)+1)) {
		return true
	}
	// Is there anything behind it? Reading on must not move the line in the
	// buffer, so that it can be taken back.
	if len(r.rest()) > 0 {
		return false
	}
	size, err := r.file.Size()
	return err == nil && size == r.at
}

// diskBlock is the smallest piece that disks write whole or not at all.
const diskBlock = 512

// unwritten reports whether a line, which begins at an offset of its file, lacks a block that was not on the disk when the
// power went, though a later one was: no disk writes the blocks of a file in their order before it is told to
// sync. Such a block reads as zeros, from its beginning or from where a write had ended, which is where a line ends, up to
// its own end; and no line is written with a zero in it. What follows is of the same last moments: had any of it been synced, so
// would this be.
func unwritten(line []byte, offset int64) bool {
	from := bytes.IndexByte(line, 0)
	if from < 0 {
		return false
	}
	to := len(line) - len(bytes.TrimLeft(line[from:], "\x00"))
	return (from == 0 || (offset+int64(from))%diskBlock == 0) && (offset+int64(to))%diskBlock == 0
}

func (r *events) damage(offset int64, problem string) error {
	return &CorruptError{Segment: r.segment, Line: r.lineAt(offset), Offset: offset, Problem: problem}
}

func (r *events) failed(offset int64, err error) error {
	if c, ok := errors.AsType[*unpackError](err); ok {
		return &CorruptError{Segment: r.segment, Line: r.lineAt(offset), Offset: offset, Problem: "it cannot be decompressed: " + c.Error()}
	}
	return fmt.Errorf("read segment %s: %w", r.segment, err)
}

// lineAt counts the lines up to the one at an offset, which is the last that was handed out or the next. Where reading
// began in the middle, those before that have never been counted: it is done now that somebody asks.
func (r *events) lineAt(offset int64) int {
	n := r.count + 1
	if offset < r.at {
		n = r.count
	}
	if r.base == 0 || r.packed != nil {
		return n
	}
	buf := make([]byte, readBytes)
	for at := int64(0); at < r.base; {
		part := buf[:min(int64(len(buf)), r.base-at)]
		got, err := r.file.ReadAt(part, at)
		n += bytes.Count(part[:got], []byte{'\n'})
		at += int64(got)
		if err != nil && got == 0 {
			return 0
		}
	}
	return n
}

func (r *events) position() Position {
	return Position{Segment: r.segment, Offset: r.at, Seq: r.seq, CRC: r.crc}
}
