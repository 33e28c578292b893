package redact

import "bytes"

const (
	maxWord  = 16 << 10 // at most withheld of a word, or of known values within each other
	wordTail = 2 << 10  // withheld of a longer word; more than what decides about a token

	boundaryReach = 24      // decides whether a token begins at the end of the context
	keptContext   = 2 << 10 // may be kept beyond need, so that it is rarely moved
)

// A Stream masks a text that comes in pieces. However the text is cut, the results, joined, equal
// Redactor.Text of the complete text:
//
//	s := redactor.Stream()
//	for piece := range pieces {
//		out = append(out, s.Write(piece)...)
//	}
//	out = append(out, s.Flush()...)
//
// It withholds what may be the beginning of a secret: the last word (up to the next blank, quote or
// bracket), the beginning of a known value, and a private key. Of a long key only the label is
// released, and the rest is dropped as it comes. Of a word of more than 16 KiB all but the last
// 2 KiB is released; if a secret reaches its end, the rest of the word is dropped with the secret.
//
// A Stream is for one goroutine.
type Stream struct {
	m        *Redactor
	buf      []byte // context as it came, then what is withheld
	seen     int    // the end of the context
	keyword  int    // the end of the last keyword in the context; 0 for none
	released []byte // if masked: the context as it was released
	masked   bool
	key      keyReader
	inKey    bool // within a private key whose label was released
	inWord   bool // within a word whose label was released
}

// Stream begins a text.
func (m *Redactor) Stream() *Stream { return &Stream{m: m} }

// Held returns how many bytes are withheld.
func (s *Stream) Held() int { return len(s.buf) - s.seen }

// Write takes the next piece and returns the text that is released, valid until the next call.
func (s *Stream) Write(piece []byte) []byte {
	s.tidy()
	s.buf = append(s.buf, piece...)
	if !s.passed() {
		return nil
	}
	cut := s.cut()
	hits := s.hits()
	for _, h := range hits {
		if h.start < cut && cut < h.end {
			cut = h.start
		}
	}
	if len(s.buf)-cut > max(maxWord, 4*s.m.longest) {
		return s.overflow(hits)
	}
	return s.release(cut, len(hits) > 0)
}

// Flush ends the text and returns what is withheld of it.
func (s *Stream) Flush() []byte {
	var out []byte
	if s.passed() {
		out = s.release(len(s.buf), len(s.hits()) > 0)
	}
	*s = Stream{m: s.m, buf: s.buf[:0], released: s.released[:0]}
	return out
}

// hits returns the spans to replace in what is withheld.
func (s *Stream) hits() []hit {
	from := max(0, s.seen-boundaryReach)
	if s.keyword > 0 {
		from = max(0, s.seen-keywordReach)
	}
	hits, keyword := s.m.hits(s.buf[from:], s.seen-from, true)
	if keyword > 0 && s.keyword == 0 { // the first one, which may depend on all of the context
		from = max(0, s.seen-keywordReach)
		hits, keyword = s.m.hits(s.buf[from:], s.seen-from, true)
	}
	if keyword > 0 {
		s.keyword = from + keyword
	}
	for i := range hits {
		hits[i].start += from
		hits[i].end += from
	}
	return hits
}

// release returns what comes before the cut, masked if there are hits.
func (s *Stream) release(cut int, hit bool) []byte {
	from := s.seen
	s.seen = cut
	if !hit && !s.masked {
		return s.buf[from:cut]
	}
	before := max(0, from-keywordReach)
	if !s.masked {
		s.released = append(s.released[:0], s.buf[before:from]...)
	}
	known := len(s.released)
	hits, _ := s.m.hits(s.buf[before:cut], from-before, true)
	s.released = append(s.released, rewrite(s.buf[before:cut], hits)[from-before:]...)
	// as Redactor.mask does
	s.released, _ = s.m.mask(s.released, known, true)
	s.masked = true
	return s.released[known:]
}

// tidy drops what no longer counts as context.
func (s *Stream) tidy() {
	if s.keyword > 0 && s.seen-s.keyword > keywordReach {
		s.keyword = 0
	}
	if s.masked {
		s.released = s.released[:copy(s.released, ending(s.released))]
		s.masked = s.seen < keywordReach || !bytes.Equal(s.released, s.buf[s.seen-keywordReach:s.seen])
	}
	if drop := s.seen - keywordReach; drop > keptContext {
		s.buf = s.buf[:copy(s.buf, s.buf[drop:])]
		s.seen -= drop
		s.keyword = max(0, s.keyword-drop)
	}
}

// ending returns the end of a text, which decides about what follows.
func ending(text []byte) []byte { return text[max(0, len(text)-keywordReach):] }

// passed drops the rest of a secret whose label was released, and reports whether that has ended.
func (s *Stream) passed() bool {
	if s.inKey {
		n, over := s.key.read(s.buf[s.seen:])
		s.drop(n)
		s.inKey = !over
	}
	if s.inWord {
		n := span(s.buf[s.seen:], wordBody)
		s.drop(n)
		s.inWord = s.Held() == 0
	}
	return !s.inKey && !s.inWord
}

func (s *Stream) drop(n int) { s.buf = append(s.buf[:s.seen], s.buf[s.seen+n:]...) }

// cut returns where the withheld part begins.
func (s *Stream) cut() int {
	key, _, _ := unendedKey(s.buf[s.seen:])
	cut := min(s.seen+key, s.m.knownBegin(s.buf, s.seen))
	for cut > s.seen && wordBody[s.buf[cut-1]] {
		cut--
	}
	return cut
}

// overflow releases most of what is withheld, which is too much.
func (s *Stream) overflow(hits []hit) []byte {
	if _, end, reader := unendedKey(s.buf[s.seen:]); reader.lines {
		s.key, s.inKey = reader, true
		return s.release(s.seen+end, true)
	}
	cut := max(s.seen, len(s.buf)-max(wordTail, s.m.longest))
	for _, h := range hits {
		if h.start < cut && cut < h.end {
			cut = h.end
		}
	}
	s.inWord = len(hits) > 0 && hits[len(hits)-1].end == len(s.buf)
	if s.inWord {
		cut = len(s.buf)
	}
	return s.release(cut, len(hits) > 0)
}

// unendedKey returns the beginning of a private key in text that may continue, and the end of the
// part that is certainly key; len(text) if there is none.
func unendedKey(text []byte) (begin, end int, reader keyReader) {
	begin, end = len(text), len(text)
	if bytes.IndexByte(text, '-') < 0 {
		return begin, end, reader
	}
	if at := bytes.LastIndex(text, []byte(keyBegin)); at >= 0 {
		n, sure := keyHeader(text[at:], keyBegin)
		if n == 0 && !sure {
			begin = at
		} else if n > 0 {
			if length, over := reader.read(text[at+n:]); !over {
				return at, at + n + length, reader
			}
		}
	}
	for at := 0; ; at += len(keyLines) {
		next := bytes.Index(text[at:begin], []byte(keyLines))
		if next < 0 {
			break
		}
		at += next
		n := at + len(keyLines)
		n += span(text[n:], digits)
		reader = keyReader{putty: true}
		if length, over := reader.read(text[n:]); !over {
			return at, n + length, reader
		}
	}
	return begin, end, keyReader{}
}

// knownBegin returns the earliest position in text[from:] at which a known value of more than one
// word begins whose rest may follow, len(text) if there is none.
func (m *Redactor) knownBegin(text []byte, from int) int {
	begin := len(text)
	for _, value := range m.phrases {
		at := max(from, len(text)-len(value)+1)
		for ; at < begin && !bytes.HasPrefix(value, text[at:]); at++ {
		}
		begin = min(begin, at)
	}
	return begin
}
