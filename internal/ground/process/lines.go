package process

import "bytes"

// Stream is one of the agent's two outputs.
type Stream uint8

const (
	Stdout Stream = 1 + iota
	Stderr
)

// Chunk is what one read of one stream brought: zero or more complete lines without their newlines.
// The slices point into the read buffer and are valid only during the call. Their capacity is cut,
// so that appending to one does not overwrite the next.
//
// Lines are bytes as the agent wrote them: a carriage return stays, UTF-8 is not checked, an empty
// line is an empty slice. A read that brought more than 8192 lines comes in several chunks.
type Chunk struct {
	Stream Stream
	Lines  [][]byte
	// Continued: the first of Lines continues the Partial piece of this stream's previous chunk.
	Continued bool
	// Partial: the last of Lines is not complete, its rest follows in this stream's next chunk. It
	// happens to lines longer than 64 MiB and, with Spec.Raw, to lines whose newline has not been
	// printed yet.
	Partial bool
	// End: this is the stream's last chunk. If it has Lines, the last one had no newline. An open
	// piece is then complete.
	End bool
}

// maxBatch bounds the memory for slice headers when an agent prints nothing but newlines.
const maxBatch = 8192

// splitter cuts what is read into lines. An unfinished line stays at the front of the buffer, and
// only new bytes are searched, so the work is linear in what is read whatever the length of lines.
type splitter struct {
	stream  Stream
	raw     bool
	maxLine int
	emit    func(Chunk)

	small     []byte
	buf       []byte // small, or larger during a long line
	held      int    // bytes of the unfinished line at the front of buf
	lines     [][]byte
	continued bool
}

func newSplitter(stream Stream, size, maxLine int, raw bool, emit func(Chunk)) *splitter {
	// One byte more than the longest line, so that a line of exactly that length fits with its
	// newline.
	small := make([]byte, min(size, maxLine+1))
	return &splitter{stream: stream, raw: raw, maxLine: maxLine, emit: emit, small: small, buf: small}
}

func (s *splitter) space() []byte {
	if limit := s.maxLine + 1; s.held > len(s.buf)/2 && len(s.buf) < limit {
		grown := make([]byte, min(2*len(s.buf), limit))
		copy(grown, s.buf[:s.held])
		s.buf = grown
	}
	return s.buf[s.held:]
}

func (s *splitter) advance(n int) error {
	filled := s.buf[:s.held+n]
	start, search := 0, s.held
	for {
		i := bytes.IndexByte(filled[search:], '\n')
		if i < 0 {
			break
		}
		end := search + i
		s.lines = append(s.lines, filled[start:end:end])
		start, search = end+1, end+1
		if len(s.lines) == maxBatch {
			s.flush(false, false)
		}
	}
	rest := filled[start:]
	partial := false
	switch {
	case s.raw && len(rest) > 0:
		s.lines = append(s.lines, rest[:len(rest):len(rest)])
		rest, partial = nil, true
	case len(rest) > s.maxLine:
		s.lines = append(s.lines, rest[:s.maxLine:s.maxLine])
		rest, partial = rest[s.maxLine:], true
	}
	s.flush(partial, false)
	// The unfinished line moves to the front, back into the small buffer where that is enough.
	if len(rest) <= len(s.small)/2 {
		s.buf = s.small
	}
	s.held = copy(s.buf, rest)
	return nil
}

// end delivers what has no newline and says that nothing follows.
func (s *splitter) end() {
	if s.held > 0 {
		s.lines = append(s.lines, s.buf[:s.held:s.held])
		s.held = 0
	}
	s.flush(false, true)
}

func (s *splitter) flush(partial, end bool) {
	if len(s.lines) == 0 && !end {
		return
	}
	s.emit(Chunk{Stream: s.stream, Lines: s.lines, Continued: s.continued, Partial: partial, End: end})
	s.lines = s.lines[:0]
	s.continued = partial
}
