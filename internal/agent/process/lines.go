package process

import "bytes"

// Stream tells the agent's two outputs apart.
type Stream uint8

const (
	Stdout Stream = 1 + iota
	Stderr
)

// Chunk is what one read of one stream brought: zero or more complete lines without their newlines. The slices point into the
// read buffer and are valid only during the call; their capacity is cut, so that appending to one cannot harm the next.
//
// Lines are bytes as the agent wrote them: a carriage return stays, UTF-8 is not checked, an empty line is an empty slice.
// A read that brought more than 8192 lines comes in several chunks.
type Chunk struct {
	Stream Stream
	Lines  [][]byte
	// Continued: the first of Lines goes on where the Partial piece of this stream's previous chunk stopped.
	Continued bool
	// Partial: the last of Lines is not complete, its rest follows in this stream's next chunk. It happens to lines longer than
	// Spec.MaxLine and, with Spec.Raw, to lines whose newline has not been printed yet.
	Partial bool
	// End: this is the stream's last chunk. If it has Lines, the last one had no newline; an open piece is thereby complete.
	End bool
}

const (
	smallestMaxLine = 4 << 10
	// maxBatch bounds the memory for slice headers when an agent prints nothing but newlines.
	maxBatch = 8192
	// patience is how many reads in a row must have fitted the small buffer before the one grown for a long line is let go.
	patience = 64
)

// splitter cuts what is read into lines. The reader fills space() and calls took; an unfinished line stays at the front of the
// buffer, and only bytes that are new are searched, so the work is linear in what is read whatever the length of lines.
type splitter struct {
	stream  Stream
	raw     bool
	maxLine int
	emit    func(Chunk)

	small     []byte // kept, so that going back from a long line costs nothing
	buf       []byte // small, or larger while lines are long
	held      int    // bytes of the unfinished line at the front of buf
	calm      int    // reads in a row that did not need the large buffer
	lines     [][]byte
	continued bool
}

func newSplitter(stream Stream, size, maxLine int, raw bool, emit func(Chunk)) *splitter {
	// One byte more than the longest line, so that a line of exactly that length fits with its newline.
	small := make([]byte, min(size, maxLine+1))
	return &splitter{stream: stream, raw: raw, maxLine: maxLine, emit: emit, small: small, buf: small}
}

// space returns where the next read may go; it is never empty.
func (s *splitter) space() []byte {
	if limit := s.maxLine + 1; s.held > len(s.buf)/2 && len(s.buf) < limit {
		grown := make([]byte, min(2*len(s.buf), limit))
		copy(grown, s.buf[:s.held])
		s.buf, s.calm = grown, 0
	}
	return s.buf[s.held:]
}

// took says that the first n bytes of space have been read.
func (s *splitter) took(n int) {
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
	s.keep(rest)
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

// keep moves the unfinished line to the front, back into the small buffer when long lines have not been seen for a while.
func (s *splitter) keep(rest []byte) {
	if len(s.buf) > len(s.small) {
		s.calm++
		if len(rest) > len(s.small)/2 {
			s.calm = 0
		}
		if s.calm > patience {
			s.buf = s.small
		}
	}
	s.held = copy(s.buf, rest)
}
