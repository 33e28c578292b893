package redact

import "bytes"

// The scan reads every byte of every agent, so it skips what ordinary text is made of.
//
// Literals (known values and keywords) have at least 7 bytes. Of their first 7 bytes, one of the 4
// grams of 4 bytes is at a position divisible by 4. The scan looks up the grams at those positions
// in a bit table. With a map alone ingest takes 1.6 to 1.9 times as long, with bytes.Contains for
// each literal more than three times.
//
// Tokens have short prefixes (sk-, eyJ), but each has a run of 20 characters of class token. Such a
// run covers a position divisible by 20.
const (
	stride    = 4
	gramBytes = 4
	minRun    = 20
)

// A filter says whether a gram may belong to a literal; false is certain.
type filter [1 << 16 / 64]uint64

func (f *filter) add(gram uint32) {
	h := gram * 0x9E3779B1
	f[h>>22] |= 1 << (h >> 16 & 63)
}

func (f *filter) has(gram uint32) bool {
	h := gram * 0x9E3779B1
	return f[h>>22]>>(h>>16&63)&1 != 0
}

func gramAt[T string | []byte](text T, at int) uint32 {
	return uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16 | uint32(text[at+3])<<24
}

// A scanner is one scan of one text.
type scanner struct {
	m          *Redactor
	src        []byte
	hits       []hit
	patternEnd int // of the token found last
	keyEnd     int // of the private key found last
	keyword    int // end of the last keyword
}

// scan returns a hit for every secret in src, in no order and possibly overlapping, and the end of
// the last keyword. Without hits it allocates nothing.
func (m *Redactor) scan(src []byte) (hits []hit, keyword int) {
	s := scanner{m: m, src: src}
	s.literals()
	s.runs()
	s.marks("@", urlPassword, labelURL)
	s.marks("~", azureSecret, labelAzure)
	s.marks("-us", mailchimpKey, labelMailchimp)
	return s.hits, s.keyword
}

func (s *scanner) literals() {
	for i := 0; i+gramBytes <= len(s.src); i += stride {
		if s.m.filter.has(gramAt(s.src, i)) {
			s.literalHits(i)
		}
	}
}

// runs looks for the tokens in runs of at least minRun token characters.
func (s *scanner) runs() {
	src, end := s.src, 0
	for i := minRun - 1; i < len(src); i = max(i, end) + minRun {
		if !token[src[i]] {
			continue
		}
		start := i
		for start > end && token[src[start-1]] {
			start--
		}
		end = i + span(src[i:], token)
		if end-start >= minRun {
			s.run(start, end)
		}
	}
}

// run looks for tokens in a run of token characters: at its start, after the end of an escape, and
// after each '-' and '_'.
func (s *scanner) run(start, end int) {
	tail := prefixTail(s.src, start)
	if tail == 0 || s.src[start-1] != '\\' { // after a backslash the first letter belongs to the escape
		s.token(start)
	}
	for at := start + 1; at <= end-minRun; at++ {
		if c := s.src[at-1]; at == start+tail || (c == '-' || c == '_') && at >= s.patternEnd {
			s.token(at)
		}
	}
}

// token looks for a token whose run of token characters begins at src[at].
func (s *scanner) token(at int) {
	for _, b := range [...]byte{s.src[max(0, at-1)], s.src[at]} {
		for _, p := range patternsByByte[b] {
			if from, to := p.match(s.src, at); to > from {
				s.hits = append(s.hits, hit{start: from, end: to, label: p.label, rank: rankPattern})
				s.patternEnd = max(s.patternEnd, to)
				return
			}
		}
	}
}

// marks looks around each mark, which ordinary text rarely has.
func (s *scanner) marks(mark string, find func(src []byte, at int) (from, to int), label string) {
	for at := 0; ; at++ {
		next := bytes.Index(s.src[at:], []byte(mark))
		if next < 0 {
			return
		}
		at += next
		if from, to := find(s.src, at); to > from {
			s.hits = append(s.hits, hit{start: from, end: to, label: label, rank: rankKeyword})
		}
	}
}
