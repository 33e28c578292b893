package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes are looked at as one uint64, a lane for each byte ("SIMD within a register"): Go without cgo or assembly has no vector
// instructions, and a byte at a time ends near 0.3 GB/s. Words are loaded in little-endian order on every machine, so the lowest
// lane is the first byte and the number of trailing zeros of a match is its position. A lane that matches has its bit 7 set.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads the word at b[i:i+8], which must exist. encoding/binary is one instruction here, on big-endian machines two;
// unsafe would save the bounds check, which measures as nothing: it is never mispredicted.
func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8 : len(b)]) }

// firstLane turns a match word into the index of its first match, 0 to 7; 8 where nothing matched.
func firstLane(match uint64) int { return bits.TrailingZeros64(match) >> 3 }

// unplain marks the bytes a JSON string cannot simply contain: quote, backslash, below 0x20, and from 0x80 up, where UTF-8 must be checked.
//
// Only the first marked lane is to be relied upon. A subtraction borrows from the next lane if its own lane matched, so what
// lies above a match may be marked falsely; exact lanes would cost three more operations on every word.
//
// One comparison covers quote and control bytes: with bit 1 flipped, 0x00–0x1f stay below 0x20, the quote (0x22) becomes
// 0x20, and 0x20 and 0x21 leave for 0x22 and 0x23. So "below 0x21" is the question.
func unplain(w uint64) uint64 {
	return (((w ^ 0x02*ones) - 0x21*ones) | ((w ^ '\\'*ones) - ones) | w) & highs
}

// quoteOrBackslash marks what ends a run inside a string that is known to be valid. First lane only, as in unplain.
func quoteOrBackslash(w uint64) uint64 {
	return (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)) &^ w & highs
}

// backslash marks the escapes of a string. First lane only, as in unplain.
func backslash(w uint64) uint64 {
	return ((w ^ '\\'*ones) - ones) &^ w & highs
}

// equal has bit 7 of a lane set where the lane is c, and the other bits undefined. All lanes of low and c itself are below 0x80: then nothing borrows and
// all lanes are exact.
func equal(low uint64, c byte) uint64 { return highs - (low ^ uint64(c)*ones) }

// lanesSet counts the lanes of a match word. bits.OnesCount64 asks at run time, each time, whether the processor has an instruction for it.
func lanesSet(match uint64) int { return int(match >> 7 * ones >> 56) }
