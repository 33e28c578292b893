package secret

import (
	"encoding/binary"
	"math/bits"
)

// The scan looks at every byte of every agent, so it is built around what ordinary text does not have.
//
// Literals (known values, "Bearer ", "PRIVATE KEY") have at least 7 bytes, so of any 7 bytes of theirs the text holds, one of the 4
// grams of 4 bytes stands at a position divisible by 4. The scan takes the text's grams at those positions only and asks a
// bit table. One step does not depend on the one before, unlike a shift table (Horspool, Wu-Manber) whose next load waits
// for the last one's answer.
//
// Token shapes have short starts (sk-, eyJ) that no table finds fast, but every one of them has a run of 20 characters out of
// [A-Za-z0-9_-], and such a run covers 13 bytes from a position divisible by 8. Two overlapping words tell that in a few
// operations; prose has no such place, and what has (paths, identifiers, base64) is looked at more closely.
const (
	stride    = 4
	gramBytes = 4
	minRun    = 20
	runWindow = 13 // minRun - (8 - 1)
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	flip  = 2 * ones
	below = ('-' ^ 2) * ones
)

// A filter answers "may this gram belong to a literal?": false is certain.
type filter [1 << 16 / 64]uint64

func gramHash(gram uint32) uint32 { return gram * 0x9E3779B1 >> 16 }

func (f *filter) add(gram uint32) {
	h := gramHash(gram)
	f[h>>6] |= 1 << (h & 63)
}

// has returns 1 in the lowest bit when the gram may belong to a literal; the other bits mean nothing.
func (f *filter) has(gram uint32) uint64 {
	h := gramHash(gram)
	return f[h>>6&(1<<16/64-1)] >> (h & 63)
}

func gramAt[T string | []byte](text T, at int) uint32 {
	return uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16 | uint32(text[at+3])<<24
}

// scan appends a hit for every secret in src, in no order and possibly overlapping. Without hits it allocates nothing.
func (m *Masker) scan(src []byte, hits []hit) []hit {
	i := 0
	for ; i+8+runWindow <= len(src); i += 16 {
		b := src[i : i+8+runWindow : i+8+runWindow]
		w0, v0 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[5:])
		w1, v1 := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[13:])
		grams := m.filter.has(uint32(w0)) | m.filter.has(uint32(w0>>32)) | m.filter.has(uint32(w1)) | m.filter.has(uint32(w1>>32))
		// With bit 1 flipped '-' stands above '.', '/' and ','. A byte below it leaves a borrow in its high bit, a byte outside
		// ASCII has it: 0 is a place with neither, only digits, letters, '-' and some punctuation.
		x0, y0, x1, y1 := w0^flip, v0^flip, w1^flip, v1^flip
		run0 := ((x0 - below) | x0 | (y0 - below) | y0) & highs
		run1 := ((x1 - below) | x1 | (y1 - below) | y1) & highs
		if grams&1 != 0 {
			hits = m.gramHits(src, i, i+16, hits)
		}
		if run0 == 0 {
			hits = runHits(src, i, hits)
		}
		if run1 == 0 {
			hits = runHits(src, i+8, hits)
		}
	}
	if i+runWindow <= len(src) {
		hits = runHits(src, i, hits)
	}
	return m.gramHits(src, i, len(src), hits)
}

// gramHits looks at each sampled gram that begins in src[i:end], i a multiple of stride.
func (m *Masker) gramHits(src []byte, i, end int, hits []hit) []hit {
	for ; i < end && i+gramBytes <= len(src); i += stride {
		// The second filter keeps what the first lets through by chance away from the map.
		if gram := gramAt(src, i); m.filter.has(gram)&m.second.has(gram>>16|gram<<16)&1 != 0 {
			hits = m.literalHits(src, i, hits)
		}
	}
	return hits
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

// runHits looks for shapes whose first aligned window is src[at:at+runWindow]: they begin in the 8 bytes up to at, after a byte
// that is no token character, or after '-' or '_'. In the middle of base64 there is neither.
func runHits(src []byte, at int, hits []hit) []hit {
	if at == 0 {
		return shapeHits(src, 0, hits)
	}
	in, anchors := tokenBytes(binary.LittleEndian.Uint64(src[at-8:]))
	if out := in ^ highs; out != 0 {
		after := 64 - bits.LeadingZeros64(out) // the bits up to the last byte outside
		hits = startHits(src, at-8+after/8, hits)
		anchors = anchors >> after << after
	}
	for ; anchors != 0; anchors &= anchors - 1 {
		hits = shapeHits(src, at-8+bits.TrailingZeros64(anchors)/8+1, hits)
	}
	return hits
}

// sampleOffset chooses which stride+gramBytes-1 bytes of a literal the filter samples: those least like ordinary text.
func sampleOffset(text string) int {
	best, bestScore := 0, -1
	for o := 0; o+stride+gramBytes-1 <= len(text); o++ {
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
