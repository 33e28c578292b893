package secret

import (
	"bytes"
)

// What a Stream withholds at most, for one of the reasons it has to.
const (
	maxWord  = 16 << 10 // a word, or known values one within the other
	wordTail = 2 << 10  // what is withheld of a longer one that is no secret so far; more than what decides about a token
)

const (
	boundaryReach = 24      // what decides whether a token begins where the context ends
	keptContext   = 2 << 10 // what is kept of the context beyond need, so that it need not be moved each time
)

// A Stream masks a text that comes in pieces. What it hands out, joined, is what Masker.Text makes of the whole text, however
// the pieces are cut:
//
//	s := masker.Stream()
//	for piece := range pieces {
//		out = append(out, s.Write(piece)...)
//	}
//	out = append(out, s.Flush()...)
//
// It withholds what may be a part of a secret whose rest is still to come: the last word (up to the next blank, quote or bracket), the
// beginning of a known value, and a private key from its header to the end of its first line; the rest of the key is dropped as it
// comes, however long it is. A word of more than 16 KiB is no longer withheld whole: where a secret reaches its end then, the rest of the
// word is dropped with it; else all but its last 2 KiB is handed out.
//
// A Stream is for one goroutine.
type Stream struct {
	m      *Masker
	buf    []byte // context as it came, then what is withheld
	seen   int    // where the context ends
	phrase int    // where the last word of a phrase ends that the context holds; 0 for none
	shown  []byte // where masked: the context as it was handed out
	masked bool
	key    keyReader
	inKey  bool // within a private key whose label was handed out
	inWord bool // within a word whose label was handed out
}

// Stream begins a text.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Held returns how many bytes are withheld.
func (s *Stream) Held() int { return len(s.buf) - s.seen }

// Write takes the next piece and returns what may be known now, valid until the next call.
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

// Flush returns what is withheld: the text has ended.
func (s *Stream) Flush() []byte {
	var out []byte
	if s.passed() {
		out = s.release(len(s.buf), len(s.hits()) > 0)
	}
	*s = Stream{m: s.m, buf: s.buf[:0], shown: s.shown[:0]}
	return out
}

// hits returns what is to be replaced in what is withheld.
func (s *Stream) hits() []hit {
	from := max(0, s.seen-boundaryReach)
	if s.phrase > 0 {
		from = max(0, s.seen-phraseReach)
	}
	hits, phrase := s.m.hits(s.buf[from:], s.seen-from, true)
	if phrase > 0 && s.phrase == 0 { // the first one: what it means may depend on all of the context
		from = max(0, s.seen-phraseReach)
		hits, phrase = s.m.hits(s.buf[from:], s.seen-from, true)
	}
	if phrase > 0 {
		s.phrase = from + phrase
	}
	for i := range hits {
		hits[i].start += from
		hits[i].end += from
	}
	return hits
}

// release hands out what stands before the cut. hit says that something in it, or behind it, is to be replaced.
func (s *Stream) release(cut int, hit bool) []byte {
	from := s.seen
	s.seen = cut
	if !hit && !s.masked {
		return s.buf[from:cut]
	}
	before := max(0, from-phraseReach)
	if !s.masked {
		s.shown = append(s.shown[:0], s.buf[before:from]...)
	}
	known := len(s.shown)
	hits, _ := s.m.hits(s.buf[before:cut], from-before, true)
	s.shown = append(s.shown, rewrite(s.buf[before:cut], hits)[from-before:]...)
	s.shown, _ = s.m.mask(s.shown, known, true) // as Masker.mask goes on: with what the text has become
	s.masked = true
	return s.shown[known:]
}

// tidy forgets what is no context any more.
func (s *Stream) tidy() {
	if s.phrase > 0 && s.seen-s.phrase > phraseReach {
		s.phrase = 0
	}
	if s.masked {
		s.shown = s.shown[:copy(s.shown, ending(s.shown))]
		s.masked = s.seen < phraseReach || !bytes.Equal(s.shown, s.buf[s.seen-phraseReach:s.seen])
	}
	if drop := s.seen - phraseReach; drop > keptContext {
		s.buf = s.buf[:copy(s.buf, s.buf[drop:])]
		s.seen -= drop
		s.phrase = max(0, s.phrase-drop)
	}
}

// ending returns the end of a text that decides about what follows.
func ending(text []byte) []byte { return text[max(0, len(text)-phraseReach):] }

// passed drops what belongs to a secret whose label was handed out, and reports whether that has ended.
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

// cut returns from where on the text is withheld.
func (s *Stream) cut() int {
	key, _, _ := unendedKey(s.buf[s.seen:])
	cut := min(s.seen+key, s.m.knownBegin(s.buf, s.seen))
	for cut > s.seen && wordBody[s.buf[cut-1]] {
		cut--
	}
	return cut
}

// overflow hands out most of what is withheld, which is too much.
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

// unendedKey returns where the private key begins in text that more of it may follow, and where the part ends that is surely of it;
// len(text) where there is none.
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

// knownBegin returns where the earliest known value of more than one word may begin in text[from:] whose rest is still to come,
// len(text) where none does.
func (m *Masker) knownBegin(text []byte, from int) int {
	for i := max(from, len(text)-m.longestText+1); i < len(text); i++ {
		rest := text[i:]
		begins := m.firsts[text[i]]
		if len(rest) >= gramBytes {
			head := gramAt(text, i)
			if !m.headBits.has(head) {
				continue
			}
			begins = m.heads[head]
		}
		for _, at := range begins {
			if value := m.literals[at].text; len(value) > len(rest) && value[:len(rest)] == string(rest) {
				return i
			}
		}
	}
	return len(text)
}
