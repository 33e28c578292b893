package redact

import (
	"cmp"
	"slices"
	"strings"
)

// A Redactor replaces known values and tokens. It is immutable: any number of goroutines may use
// one. The zero Redactor is not usable; call New.
type Redactor struct {
	filter   filter
	places   map[uint32][]place // of the sampled grams in the literals
	literals []literal
	longest  int      // bytes in the longest known value, in any encoding
	phrases  [][]byte // the known values of more than one word
}

// A literal is a text that the scan searches for.
type literal struct {
	text    string
	label   string
	keyword *keyword // nil: the literal is a known value
	depth   int      // of the encoding
	// plainOnly: no string of valid JSON holds this text as it is.
	plainOnly bool
	// bare: all characters may occur outside of strings in JSON, so a match may be a number.
	bare bool
}

type place struct{ literal, offset int32 }

// New returns a Redactor for the tokens that this package knows, for the credentials in env
// (entries as os.Environ returns them), and for the values in extra, which are masked as
// [masked:secret]. Values shorter than 8 bytes are left alone.
func New(env []string, extra ...string) *Redactor {
	m := &Redactor{places: map[uint32][]place{}}
	for i := range keywords {
		for _, word := range keywords[i].words {
			m.add(literal{text: word, keyword: &keywords[i]})
		}
	}
	all := environmentValues(env, extra)
	labels := slices.Clone(patternLabels)
	for _, k := range all {
		labels = append(labels, label(k.name))
	}
	seen := map[string]bool{}
	for _, k := range all {
		// A value that is part of a label would be found again in its replacement. It is a
		// placeholder (TOKEN=GITHUB_TOKEN) or text that was masked already.
		inLabel := func(l string) bool { return strings.Contains(l+maskStart, k.value) }
		if strings.Contains(k.value, maskStart) || slices.ContainsFunc(labels, inLabel) {
			continue
		}
		for i, s := range encodings(k.value) {
			text := s.text
			if seen[text] {
				continue
			}
			seen[text] = true
			m.add(literal{
				text: text, label: label(k.name), depth: s.depth,
				plainOnly: i == 0 && strings.ContainsFunc(text, escapedByAll),
				bare:      strings.Trim(text, "0123456789+-.E{}[]:, \t\r\ntruefalsn") == "",
			})
		}
	}
	return m
}

func (m *Redactor) add(l literal) {
	at := int32(len(m.literals))
	m.literals = append(m.literals, l)
	for o := range stride {
		gram := gramAt(l.text, o)
		m.filter.add(gram)
		m.places[gram] = append(m.places[gram], place{at, int32(o)})
	}
	if l.keyword != nil {
		return
	}
	m.longest = max(m.longest, len(l.text))
	if text := []byte(l.text); span(text, wordBody) < len(text) {
		m.phrases = append(m.phrases, text)
	}
}

// escapedByAll reports the characters that every encoder escapes inside a JSON string.
func escapedByAll(r rune) bool { return r == '"' || r == '\\' || r < ' ' }

const maskStart = "[masked:"

// label returns the replacement of a value with that name. It never needs escaping in JSON.
func label(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (token[r] || r == '.') {
			return r
		}
		return '_'
	}, name)
	return maskStart + cmp.Or(clean[:min(len(clean), 64)], "secret") + "]"
}

// Mask returns src with every secret replaced by [masked:NAME] and the number of replacements.
// Without a secret it returns src itself and allocates nothing; otherwise the result is new memory
// and src is unchanged. Valid JSON stays valid JSON (also each line, when src holds several), and
// masking the result again changes nothing.
func (m *Redactor) Mask(src []byte) (out []byte, n int) { return m.mask(src, 0, false) }

// Text is Mask for plain text, even if it looks like JSON.
func (m *Redactor) Text(src []byte) (out []byte, n int) { return m.mask(src, 0, true) }

// mask replaces the secrets in src[from:]; src[:from] is context that was masked before.
func (m *Redactor) mask(src []byte, from int, plain bool) (out []byte, n int) {
	out = src
	// The text beside a replacement may be a secret only now, so the result is scanned again. Each
	// round replaces text that is no label, so it ends; the limit is a safeguard.
	for range 8 {
		hits, _ := m.hits(out, from, plain)
		if len(hits) == 0 {
			return out, n
		}
		out = rewrite(out, hits)
		n += len(hits)
	}
	return out, n
}

// hits returns the spans to replace in src[from:], sorted and without overlap, and the end of the
// last keyword, 0 if src has none.
func (m *Redactor) hits(src []byte, from int, plain bool) (hits []hit, keyword int) {
	hits, keyword = m.scan(src)
	if from > 0 {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.end <= from })
		for i := range hits {
			hits[i].start = max(hits[i].start, from)
		}
	}
	if len(hits) == 0 {
		return nil, keyword
	}
	return m.resolveOverlaps(src, hits, plain), keyword
}

func rewrite(src []byte, hits []hit) []byte {
	size := len(src)
	for _, h := range hits {
		size += len(h.label) + 2
	}
	out, from := make([]byte, 0, size), 0
	for _, h := range hits {
		out = append(out, src[from:h.start]...)
		if h.number {
			out = append(append(append(out, '"'), h.label...), '"')
		} else {
			out = append(out, h.label...)
		}
		from = h.end
	}
	return append(out, src[from:]...)
}

// A hit is a span of the text that is to be replaced by label.
type hit struct {
	start, end int
	label      string
	rank       rank
	literal    int32 // which one, when rank is rankKnown
	number     bool  // the span is a JSON number: the label is written as a string
}

// A rank decides which label remains if spans overlap: the lower one.
type rank uint8

const (
	rankKnown rank = iota
	rankPattern
	rankKeyword
)

// merge joins overlapping spans, sorted by start, in place.
func merge(hits []hit) []hit {
	out := hits[:1]
	for _, h := range hits[1:] {
		last := &out[len(out)-1]
		if h.start >= last.end {
			out = append(out, h)
			continue
		}
		last.end = max(last.end, h.end)
		if h.rank < last.rank {
			last.rank, last.label = h.rank, h.label
		}
	}
	return out
}

// literalHits appends the hits of the literals that have a sampled gram at position p.
func (s *scanner) literalHits(p int) {
	src := s.src
	for _, at := range s.m.places[gramAt(src, p)] {
		l := &s.m.literals[at.literal]
		start := p - int(at.offset)
		if start < 0 || len(src)-start < len(l.text) || string(src[start:start+len(l.text)]) != l.text {
			continue
		}
		end := start + len(l.text)
		if l.keyword != nil {
			s.keyword = max(s.keyword, end)
		}
		switch {
		case l.keyword == nil:
			s.hits = append(s.hits, hit{start: start, end: end, label: l.label, rank: rankKnown, literal: at.literal})
		// within a key that was found: reading it again for each of its keywords takes too long
		case l.keyword.label == labelKey && start < s.keyEnd:
		default:
			from, to := l.keyword.find(src, start, end)
			if to <= from {
				continue
			}
			s.hits = append(s.hits, hit{start: from, end: to, label: l.keyword.label, rank: rankKeyword})
			if l.keyword.label == labelKey {
				s.keyEnd = to
			}
		}
	}
}
