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
	longest  int // bytes in the longest known value, in any spelling
	// Of the known values that are more than one word, for Stream:
	heads       map[uint32][]int32 // their first four bytes
	headBits    filter             // of the keys of heads
	firsts      [256][]int32       // their first bytes
	longestText int                // bytes in the longest of them
}

// A literal is a text that the scan looks for byte by byte.
type literal struct {
	text   string
	label  string
	phrase *phrase // nil: the literal is a known value
	depth  int     // of the spelling, see there
	// plainOnly: in valid JSON this text is not what the value looks like, or stands across the structure.
	plainOnly bool
	// bare: made only of characters that JSON has outside strings too, so that a match may be a number.
	bare bool
}

type place struct{ literal, offset int32 }

// New returns a Masker for the credentials among env, entries as os.Environ gives them, for the values in extra, which
// have no name and are masked as [masked:secret], and for the token shapes of this package. Values shorter than 8 bytes
// are left alone, extra ones too.
func New(env []string, extra ...string) *Masker {
	m := &Masker{places: map[uint32][]place{}, heads: map[uint32][]int32{}}
	for i := range phrases {
		for _, word := range phrases[i].words {
			m.add(literal{text: word, phrase: &phrases[i]})
		}
	}
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
		if o+gramBytes <= len(l.text) {
			m.sample(gramAt(l.text, o), place{at, int32(o)})
			continue
		}
		for c, may := range afterShort { // a word of one byte less than the samples need
			if may {
				m.sample(gramAt(l.text[o:]+string(rune(c)), 0), place{at, int32(o)})
			}
		}
	}
	if l.phrase != nil {
		return
	}
	m.longest = max(m.longest, len(l.text))
	if span([]byte(l.text), wordBody) < len(l.text) {
		head := gramAt(l.text, 0)
		m.heads[head] = append(m.heads[head], at)
		m.headBits.add(head)
		m.firsts[l.text[0]] = append(m.firsts[l.text[0]], at)
		m.longestText = max(m.longestText, len(l.text))
	}
}

// afterShort are the characters that may follow a phrase's word of six bytes: a database's name begins so.
var afterShort = classOf("az__**")

func (m *Masker) sample(gram uint32, at place) {
	m.filter.add(gram)
	m.second.add(gram>>16 | gram<<16)
	m.places[gram] = append(m.places[gram], at)
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
func (m *Masker) Mask(src []byte) (out []byte, n int) { return m.mask(src, 0, false) }

// Text is Mask for what is text whatever it looks like, and may be a part of a longer text: see Stream.
func (m *Masker) Text(src []byte) (out []byte, n int) { return m.mask(src, 0, true) }

// mask replaces what begins at src[from:]; what stands before was masked already.
func (m *Masker) mask(src []byte, from int, plain bool) (out []byte, n int) {
	out = src
	// What stands beside a replacement may be a secret only now (a boundary has appeared, two ends have met), so masked
	// text is scanned again. Each round uses up text that is no replacement, which ends it; the bound is for the proof's sake.
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

// hits returns what is to be replaced in src[from:], in order and without overlap, and where the last word of a phrase ends, if
// src has one.
func (m *Masker) hits(src []byte, from int, plain bool) (hits []hit, phrase int) {
	hits, phrase = m.scan(src)
	if from > 0 {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.end <= from })
		for i := range hits {
			hits[i].start = max(hits[i].start, from)
		}
	}
	if len(hits) == 0 {
		return nil, phrase
	}
	return m.settle(src, hits, plain), phrase
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
	rankPhrase
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
func (s *scanner) literalHits(p int) {
	src := s.src
	for _, at := range s.m.places[gramAt(src, p)] {
		l := &s.m.literals[at.literal]
		start := p - int(at.offset)
		if start < 0 || len(src)-start < len(l.text) || string(src[start:start+len(l.text)]) != l.text {
			continue
		}
		end := start + len(l.text)
		if l.phrase != nil {
			s.phrase = max(s.phrase, end)
		}
		switch {
		case l.phrase == nil:
			s.hits = append(s.hits, hit{start: start, end: end, label: l.label, rank: rankKnown, literal: at.literal})
		case l.phrase.label == labelKey && start < s.keyEnd: // within a key; reading on from each of its words takes too long
		default:
			from, to := l.phrase.find(src, start, end)
			if to <= from {
				continue
			}
			s.hits = append(s.hits, hit{start: from, end: to, label: l.phrase.label, rank: rankPhrase})
			if l.phrase.label == labelKey {
				s.keyEnd = to
			}
		}
	}
}
