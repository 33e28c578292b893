package journal

import (
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/oklog/ulid/v2"
)

// randomAt is where the random letters of an id begin: 16, of five bits each. Those
// before them are the time.
const randomAt = 10

// monotonicIDs makes ULIDs of which each sorts behind the one before, and behind
// every one made up to the time last, also when the clock is set back. The first of a
// millisecond is random; each that follows in it is the one before plus one, counted
// in its letters: spelling one anew takes as long as the checksum of a line.
func monotonicIDs(last time.Time) func(time.Time) [26]byte {
	var floor uint64
	if !last.IsZero() {
		floor = ulid.Timestamp(last) + 1
	}
	var next [26]byte
	of := uint64(math.MaxUint64) // the millisecond of next; none yet
	return func(at time.Time) (text [26]byte) {
		if floor = max(floor, ulid.Timestamp(at)); floor != of {
			id, err := ulid.New(floor, rand.Reader)
			if err == nil {
				err = id.MarshalTextTo(next[:])
			}
			if err != nil {
				// crypto/rand does not fail, and a time past the year 10889 is not one.
				panic(fmt.Sprintf("journal: make an id: %v", err))
			}
			of = floor
		}
		text = next
		// Now and not when it is asked for: whoever copies an id right after one letter of it
		// was stored waits for that store.
		if !countUp(next[randomAt:]) {
			floor++ // 80 bits of ones: the next millisecond has room
		}
		return text
	}
}

// countUp adds one to a number in Crockford's base 32. It reports false where that takes
// another letter.
func countUp(letters []byte) bool {
	for i := len(letters) - 1; i >= 0; i-- {
		if letters[i] != 'Z' {
			letters[i] = nextLetter[letters[i]]
			return true
		}
		letters[i] = '0'
	}
	return false
}

// nextLetter has the letter that follows each of the 32.
var nextLetter = func() (next [256]byte) {
	for i := range len(ulid.Encoding) - 1 {
		next[ulid.Encoding[i]] = ulid.Encoding[i+1]
	}
	return next
}()
