package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	firstBytes = 16 << 10 // the first read: most readers of a journal want little
	// each later read; larger ones are slower, since they leave the second-level cache
	readBytes = 256 << 10
	keepBytes = 1 << 20 // a buffer that grew beyond this for one line is released
	// longer than any line; bounds what a damaged file can make a reader allocate
	maxLine = 1 << 30
)

// lineReader cuts a segment into lines. All lines share one buffer, and the next call overwrites
// it.
type lineReader struct {
	file   file
	from   io.Reader // nil if buf holds all there is
	packed *unpacker // set if from decompresses

	buf     []byte
	r, w    int // buf[r:w] is read and not returned
	scanned int // of those, known to contain no newline

	at    int64 // offset of buf[r] in the segment
	base  int64 // where reading began
	count int   // lines returned since
}

// next returns the next complete line without its newline, or io.EOF. After io.EOF more may come,
// and the beginning of a line is kept.
func (l *lineReader) next() ([]byte, error) {
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

func (l *lineReader) fill() error {
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

// rest returns the bytes after the last newline that was read.
func (l *lineReader) rest() []byte { return l.buf[l.r:l.w] }

// back takes back the line that next returned last.
func (l *lineReader) back(line []byte) {
	n := len(line) + 1
	l.r -= n
	l.at -= int64(n)
	l.count--
	l.scanned = 0
}

func (l *lineReader) Close() error {
	if l.packed != nil {
		l.packed.close()
	}
	return l.file.Close()
}

// eventReader reads the lines of one segment as events, and verifies the chain of checksums and the
// density of seq.
type eventReader struct {
	*lineReader
	segment string
	verify  bool
	json    *jsonscan.Document // if set, each line is parsed; others rely on its checksum
	crc     uint32             // of the last line
	seq     event.Seq          // of the last event; 0 before the first
}

// next reads one event into e. A *CorruptError leaves the line unread.
func (r *eventReader) next(e *event.Event) error {
	start := r.at
	line, err := r.lineReader.next()
	if err != nil {
		if err == io.EOF {
			return io.EOF
		}
		return r.failed(start, err)
	}
	crc, carried := uint32(0), true
	if r.verify {
		crc, carried = frame.Verify(line, r.crc)
	} else {
		crc, _ = frame.CRC(line)
	}
	if carried {
		*e, err = event.Parse(line)
		if err == nil && (e.Seq == r.seq+1 || r.seq == 0 && e.Seq > 0) && r.isJSON(line) {
			r.crc, r.seq = crc, e.Seq
			return nil
		}
	}
	code, problem := r.problem(line)
	r.back(line)
	return r.damage(start, code, problem)
}

// nextOf is next for a reader that does not wait: io.EOF is the end of the segment. A torn line at
// the end is damage unless the segment is the last one.
func (r *eventReader) nextOf(e *event.Event, last bool) error {
	switch err := r.next(e); {
	// After io.EOF torn would read further, and might find that the line was finished meanwhile.
	case err == io.EOF && len(r.rest()) > 0 && !(last && r.packed == nil):
		return r.damage(r.at, SegmentCut, "the segment ends in the middle of a line, and there is a later one")
	case err != nil && err != io.EOF && last && r.torn():
		return io.EOF
	default:
		return err
	}
}

// problem describes what is wrong with a line.
func (r *eventReader) problem(line []byte) (Code, string) {
	e, err := event.Parse(line)
	wrong, _ := errors.AsType[*event.DecodeError](err)
	switch {
	case !jsonscan.Valid(line):
		return NotJSON, "it is not JSON"
	case wrong != nil:
		return Code(wrong.Code), err.Error()
	case e.Seq == 0:
		return SeqIsZero, "its seq is 0, and the first is 1"
	case r.seq != 0 && e.Seq != r.seq+1:
		return WrongSeq, fmt.Sprintf("it is event %d instead of event %d", e.Seq, r.seq+1)
	}
	if _, ok := frame.CRC(line); !ok {
		return NoChecksum, "it has no checksum"
	}
	return WrongChecksum, "its checksum does not match: this line or the line before was changed"
}

// isJSON reports whether a line is JSON, if that is checked. A Document is faster than Valid, and
// refuses lines of millions of values.
func (r *eventReader) isJSON(line []byte) bool {
	if r.json == nil {
		return true
	}
	_, err := r.json.Read(line)
	return err == nil || jsonscan.Valid(line)
}

// torn reports whether the bytes read so far end in a torn line, which is not damage. A torn line
// has no newline, or is the last line and neither JSON nor right by its checksum, or lacks a part
// that never reached the disk.
// Call it for the last segment only, after io.EOF or a *CorruptError.
func (r *eventReader) torn() bool {
	line, err := r.lineReader.next()
	if err != nil {
		return err == io.EOF && r.packed == nil
	}
	defer r.back(line)
	if _, written := frame.Verify(line, r.crc); written || r.packed != nil || jsonscan.Valid(line) {
		return false
	}
	if hasLostBlock(line, r.at-int64(len(line)+1)) {
		return true
	}
	// Does anything follow? Reading further must not move the line in the buffer, so that it can be
	// taken back.
	if len(r.rest()) > 0 {
		return false
	}
	size, err := r.file.Size()
	return err == nil && size == r.at
}

// diskBlock is the smallest piece that a disk writes completely or not at all.
const diskBlock = 512

// hasLostBlock reports whether a line, which begins at an offset of its file, lacks a block because
// the power was lost. Until a sync, a disk writes the blocks of a file in any order, so a later
// block may be there. A lost block reads as zeros, which no line contains. They begin where the
// block begins, or where an earlier write, and so a line, ended in it; they end with the block.
// Nothing after them was synced: that sync would have written this block too.
func hasLostBlock(line []byte, offset int64) bool {
	from := bytes.IndexByte(line, 0)
	if from < 0 {
		return false
	}
	to := len(line) - len(bytes.TrimLeft(line[from:], "\x00"))
	return (from == 0 || (offset+int64(from))%diskBlock == 0) && (offset+int64(to))%diskBlock == 0
}

func (r *eventReader) damage(offset int64, code Code, problem string) error {
	return &CorruptError{Segment: r.segment, Line: r.lineAt(offset), Offset: offset, Code: code, Problem: problem}
}

func (r *eventReader) failed(offset int64, err error) error {
	if c, ok := errors.AsType[*unpackError](err); ok {
		return r.damage(offset, WrongCompression, "it cannot be decompressed: "+c.Error())
	}
	return fmt.Errorf("read segment %s: %w", r.segment, err)
}

// lineAt returns the number of the line at an offset, which is the last line returned or the next.
// Where reading began in the middle, it counts the lines before that now.
func (r *eventReader) lineAt(offset int64) int {
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

func (r *eventReader) position() Position {
	return Position{Segment: r.segment, Offset: r.at, Seq: r.seq, CRC: r.crc}
}
