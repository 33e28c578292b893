package secret

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The scan looks at every byte of every agent, so it is built around what ordinary text does not have.
//
// Literals (known values and the words of phrases) have at least 7 bytes, so of any 7 bytes of theirs the text holds, one of the 4
// grams of 4 bytes stands at a position divisible by 4. The scan takes the text's grams at those positions only and asks a
// bit table.
//
// Token shapes have short starts (sk-, eyJ) that no table finds fast, but every one of them has a run of 20 characters out of
// [A-Za-z0-9_-], and such a run covers 13 bytes from a position divisible by 8. Two overlapping words tell that in a few
// operations; prose has no such place, and what has (identifiers, base64) is looked at more closely: only where such a
// run begins.
//
// Measured on one core (GB/s; prose, JSON lines with source code, base64): this scan 4.4, 2.6, 1.1. A Wu-Manber shift table over
// blocks of 2 bytes, for the literals alone 1.4, 1.3, 1.5, for the prefixes of the shapes too 0.5 everywhere: its next load
// waits for the answer to the last, and short prefixes allow no long shifts. bytes.IndexByte for '_' and '-' 33, 3.2, 35, but it says
// nothing of AKIA, AIza and eyJ, and bytes.Index for those four takes it down to 1.0. What made the loop fast: no step that depends
// on the one before, everything rare in calls of one pointer and a position (a slice kept across a call spills to the stack in each
// turn), a branch per gram instead of an or (a bit test is one instruction, a shift by a variable is three).
const (
	stride    = 4
	gramBytes = 4
	minRun    = 20
	runWindow = 13 // minRun - (8 - 1)
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	// The high bits of a word's first 5 bytes: with the word before them they are a runWindow.
	firstFive = highs >> 24
)

// A filter answers "may this gram belong to a literal?": false is certain.
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

// A scanner is one scan of one text. It is apart from the loop so that the loop has few things to keep in registers.
type scanner struct {
	m        *Masker
	src      []byte
	hits     []hit
	shapeEnd int // of the shape found last
	keyEnd   int // of the private key found last
	phrase   int // where the last word of a phrase ends
}

// scan returns a hit for every secret in src, in no order and possibly overlapping, and where the last word of a phrase ends.
// Without hits it allocates nothing.
func (m *Masker) scan(src []byte) (hits []hit, phrase int) {
	s := scanner{m: m, src: src}
	f, i := &m.filter, 0
	before := uint64(highs) // bad of the word before i
	for ; i+16 <= len(src); i += 16 {
		b := src[i : i+16 : i+16]
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		bad0, bad1 := noToken(w0), noToken(w1)
		if f.has(uint32(w0)) || f.has(uint32(w0>>32)) || f.has(uint32(w1)) || f.has(uint32(w1>>32)) {
			s.literals(i, i+16)
		}
		if before|bad0&firstFive == 0 {
			s.run(i - 8)
		}
		if bad0|bad1&firstFive == 0 {
			s.run(i)
		}
		before = bad1
	}
	if i >= 8 {
		s.run(i - 8)
	}
	if i+8 <= len(src) {
		s.run(i)
	}
	s.literals(i, len(src))
	s.marks('@', urlPassword, labelURL)
	s.marks('~', azureSecret, "[masked:azure-client-secret]")
	return s.hits, s.phrase
}

// marks looks around each mark, a character that ordinary text has seldom enough to stop at.
func (s *scanner) marks(mark byte, find func(src []byte, at int) (from, to int), label string) {
	for at := 0; ; at++ {
		next := bytes.IndexByte(s.src[at:], mark)
		if next < 0 {
			return
		}
		at += next
		if from, to := find(s.src, at); to > from {
			s.hits = append(s.hits, hit{start: from, end: to, label: label, rank: rankPhrase})
		}
	}
}

// noToken returns the high bit of bytes of w that are no token characters: 0 when all may be, and never wrong about those below the
// first such byte. With bit 1 flipped '-' stands above '.', '/' and ','; a byte below it borrows, a byte outside ASCII has
// the bit. Some punctuation above '9' passes.
func noToken(w uint64) uint64 {
	const flip, lowest = 2 * ones, ('-' ^ 2) * ones
	x := w ^ flip
	return ((x - lowest) | x) & highs
}

// literals looks at each sampled gram that begins in src[i:end], i a multiple of stride.
func (s *scanner) literals(i, end int) {
	for ; i < end && i+gramBytes <= len(s.src); i += stride {
		// The second filter keeps what the first lets through by chance away from the map.
		if gram := gramAt(s.src, i); s.m.filter.has(gram) && s.m.second.has(gram>>16|gram<<16) {
			s.literalHits(i)
		}
	}
}

// tokenBytes returns the high bit of each byte of w that is in [A-Za-z0-9_-], and of each that is '-' or '_'.
func tokenBytes(w uint64) (in, anchors uint64) {
	x := w &^ highs
	lower := x | 0x20*ones
	letter := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones)
	digit := (x + (0x80-'0')*ones) &^ (x + (0x80-'9'-1)*ones)
	anchors = ^((x ^ '-'*ones) + 0x7F*ones) | ^((x ^ '_'*ones) + 0x7F*ones)
	anchors = anchors & highs &^ w
	return (letter|digit)&highs&^w | anchors, anchors
}

// run looks for shapes whose first aligned window is the runWindow bytes from at: they begin in the 8 bytes up to at, after a
// byte that is no token character, or after '-' or '_'. In the middle of base64 there is neither.
func (s *scanner) run(at int) {
	if at == 0 {
		s.begin(0, startHits)
		return
	}
	in, anchors := tokenBytes(binary.LittleEndian.Uint64(s.src[at-8:]))
	if out := in ^ highs; out != 0 {
		after := 64 - bits.LeadingZeros64(out) // the bits up to the last byte outside
		s.begin(at-8+after/8, startHits)
		anchors = anchors >> after << after
	}
	for ; anchors != 0; anchors &= anchors - 1 {
		if begin := at - 8 + bits.TrailingZeros64(anchors)/8 + 1; begin >= s.shapeEnd { // not within the token found last
			s.begin(begin, shapeHits)
		}
	}
}

func (s *scanner) begin(at int, find func(src []byte, at int, hits []hit) []hit) {
	known := len(s.hits)
	s.hits = find(s.src, at, s.hits)
	for _, h := range s.hits[known:] {
		s.shapeEnd = max(s.shapeEnd, h.end)
	}
}

// sampleOffset chooses which stride+gramBytes-1 bytes of a literal the filter samples: those least like ordinary text.
func sampleOffset(text string) int {
	best, bestScore := 0, -1
	for o := 0; o+stride+gramBytes-1 <= len(text); o++ { // not once in a text of six bytes
		score := 0
		for _, c := range []byte(text[o : o+stride+gramBytes-1]) {
			switch {
			case c >= 'a' && c <= 'z':
				score += 2
			case isUpper(c):
				score += 5
			case c >= '0' && c <= '9':
				score += 4
			case c == '\\' || c == ' ':
			default:
				score += 3
			}
		}
		if score > bestScore {
			best, bestScore = o, score
		}
	}
	return best
}
