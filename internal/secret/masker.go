package secret

import (
	"cmp"
	"slices"
	"strings"
)

// A Masker replaces known secret values and token shapes. It is immutable: any number of goroutines may use one.
// The zero Masker is not usable; call New.
type Masker struct {
	filter   filter
	second   filter             // of the same grams, their halves swapped
	places   map[uint32][]place // where a sampled gram stands in which literal
	literals []literal
	heads    map[uint32][]int32 // the first four bytes of the literals that are known values, for HoldBack
	headBits filter             // of the keys of heads
	longest  int                // bytes in the longest of those
}

// A literal is a text that the scan looks for byte by byte.
type literal struct {
	text  string
	label string
	kind  literalKind
	depth int // of the spelling, see there
	// plainOnly: in valid JSON this text is not what the value looks like, or stands across the structure.
	plainOnly bool
	// bare: made only of characters that JSON has outside strings too, so that a match may be a number.
	bare bool
}

type literalKind uint8

const (
	knownValue literalKind = iota
	bearerWord
	pemWords
)

type place struct{ literal, offset int32 }

// New returns a Masker for the credentials among env, entries as os.Environ gives them, for the values in extra, which
// have no name and are masked as [masked:secret], and for the token shapes of this package. Values shorter than 8 bytes
// are left alone, extra ones too.
func New(env []string, extra ...string) *Masker {
	m := &Masker{places: map[uint32][]place{}, heads: map[uint32][]int32{}}
	for _, word := range [...]string{"Bearer ", "bearer ", "BEARER "} {
		m.add(literal{text: word, kind: bearerWord})
	}
	m.add(literal{text: "PRIVATE KEY", kind: pemWords})
	all := knownValues(env, extra)
	labels := slices.Clone(shapeLabels)
	for _, k := range all {
		labels = append(labels, label(k.name))
	}
	seen := map[string]bool{}
	for _, k := range all {
		// A value that is part of a replacement would be found again in what it was replaced by. It is a placeholder
		// (TOKEN=GITHUB_TOKEN) or text that was masked already.
		inLabel := func(l string) bool { return strings.Contains(l+maskStart, k.value) }
		if strings.Contains(k.value, maskStart) || slices.ContainsFunc(labels, inLabel) {
			continue
		}
		for i, s := range spellings(k.value) {
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

func (m *Masker) add(l literal) {
	at := int32(len(m.literals))
	m.literals = append(m.literals, l)
	offset := sampleOffset(l.text)
	for o := offset; o < offset+stride; o++ {
		gram := gramAt(l.text, o)
		m.filter.add(gram)
		m.second.add(gram>>16 | gram<<16)
		m.places[gram] = append(m.places[gram], place{at, int32(o)})
	}
	if l.kind == knownValue {
		head := gramAt(l.text, 0)
		m.heads[head] = append(m.heads[head], at)
		m.headBits.add(head)
		m.longest = max(m.longest, len(l.text))
	}
}

// escapedByAll reports the characters that no encoder leaves as they are inside a JSON string.
func escapedByAll(r rune) bool { return r == '"' || r == '\\' || r < ' ' }

const maskStart = "[masked:"

// label is what a value of that name is replaced by. It never needs escaping in JSON.
func label(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (token[r] || r == '.') {
			return r
		}
		return '_'
	}, name)
	return maskStart + cmp.Or(clean[:min(len(clean), 64)], "secret") + "]"
}

// Mask returns src with every secret replaced by [masked:NAME] and the number of replacements. Without a secret it
// returns src itself and allocates nothing; otherwise the result is new memory and src is unchanged. Valid JSON stays
// valid JSON (also each line, when src holds several), and masking the result again changes nothing.
func (m *Masker) Mask(src []byte) (out []byte, n int) {
	out = src
	// What stands beside a replacement may be a secret only now (a boundary has appeared, two ends have met), so masked
	// text is scanned again. Each round uses up text that is no replacement, which ends it; the bound is for the proof's sake.
	for range 8 {
		hits := m.scan(out)
		if len(hits) == 0 {
			return out, n
		}
		if hits = m.settle(out, hits); len(hits) == 0 {
			return out, n
		}
		out = rewrite(out, hits)
		n += len(hits)
	}
	return out, n
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

// A rank says whose label is kept when spans overlap: lower wins.
type rank uint8

const (
	rankKnown rank = iota
	rankShape
	rankBearer
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

// literalHits appends what stands at position p, where one of the sampled grams has been found.
func (m *Masker) literalHits(src []byte, p int, hits []hit) []hit {
	for _, at := range m.places[gramAt(src, p)] {
		l := &m.literals[at.literal]
		start := p - int(at.offset)
		if start < 0 || len(src)-start < len(l.text) || string(src[start:start+len(l.text)]) != l.text {
			continue
		}
		end := start + len(l.text)
		switch l.kind {
		case knownValue:
			hits = append(hits, hit{start: start, end: end, label: l.label, rank: rankKnown, literal: at.literal})
		case bearerWord:
			if boundary(src, start) {
				if from, to := bearerToken(src, end); to > from {
					hits = append(hits, hit{start: from, end: to, label: labelBearer, rank: rankBearer})
				}
			}
		case pemWords:
			if from, to := pemBlock(src, start, end); to > from {
				hits = append(hits, hit{start: from, end: to, label: labelPEM, rank: rankShape})
			}
		}
	}
	return hits
}
